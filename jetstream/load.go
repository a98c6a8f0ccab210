// This file brings a replica (the local copy of a brain, a memory in the cluster) up to date. It compares the replica
// with the last message of the brain in the stream. It reads the missing messages from any server that has all missing
// messages.

package jetstream

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"

	"github.com/oxbow-memory/oxbow"
)

// messagesPerBatch is the number of messages in one request.
const messagesPerBatch = 256

// minLargeMessageBytes is the minimum size, in bytes, from which a brain's last message counts as large. To check
// whether a large message is still the last, the process asks for the next message, which is cheaper than to request
// the large message again.
const minLargeMessageBytes = 64 << 10

// sharedHeadComparisons lets several callers share a comparison of the local copy with the brain's last message in the
// stream. Each caller waits for a comparison that began after its call.
type sharedHeadComparisons struct {
	mu             sync.Mutex            // guards the fields below
	nextComparison *streamHeadComparison // The comparison that will begin next. Callers that arrive now share it.
	isRunning      bool
}

type streamHeadComparison struct {
	done chan struct{}
	err  error
}

// runSharedComparison runs the function compare and returns its error. Callers that wait at the same time share one
// run, which begins after all their calls. The function of one of these callers is run, so all callers must pass
// equivalent functions.
func (rs *sharedHeadComparisons) runSharedComparison(ctx context.Context, compare func() error) error {
	rs.mu.Lock()
	if rs.nextComparison == nil {
		rs.nextComparison = &streamHeadComparison{done: make(chan struct{})}
	}
	rd := rs.nextComparison
	if !rs.isRunning {
		rs.isRunning = true
		go rs.runPendingComparisons(compare)
	}
	rs.mu.Unlock()
	select {
	case <-rd.done:
		return rd.err
	case <-ctx.Done():
		return unavailableError(ctx, ctx.Err())
	}
}

func (rs *sharedHeadComparisons) runPendingComparisons(compare func() error) {
	for {
		rs.mu.Lock()
		rd := rs.nextComparison
		rs.nextComparison = nil
		rs.isRunning = rd != nil
		if rd == nil {
			rs.mu.Unlock()
			return
		}
		rs.mu.Unlock()
		rd.err = compare()
		close(rd.done)
	}
}

// catchUpForRead updates the local copy before a read. By default, it reads all changes that were acknowledged to any
// process before the call.
//
// If Options.Announced is set, catchUpForRead sends no request to the servers if both conditions are true: the local
// copy contains all changes that other processes have announced, and it was compared with the stream less than MaxAge
// ago.
func (r *brainReplica) catchUpForRead(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	o := &r.cluster.options
	isListening := o.Announced && r.cluster.receivesInvalidations.Load()
	if isListening && r.announcedMessageSeq.Load() <= r.lastReadSeq.Load() {
		if at := r.streamHeadComparedAt.Load(); at != 0 && o.Clock().UnixNano()-at < int64(o.MaxAge) {
			return nil
		}
	}
	return r.compareWithStreamHead(ctx)
}

// compareWithStreamHead updates the local copy to the brain's newest message in the stream. Callers that wait at the
// same time share one update, which begins after their calls.
func (r *brainReplica) compareWithStreamHead(ctx context.Context) error {
	return r.headComparisons.runSharedComparison(ctx, func() error {
		ctx, cancel := context.WithTimeout(r.cluster.ctx, r.cluster.options.ReadWait)
		defer cancel()
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.readMissingMessages(ctx)
	})
}

// readMissingMessages reads the brain's messages that the local copy lacks, and applies them to the copy. Afterwards
// the copy contains all changes that were acknowledged before the call. If the messages of one server are damaged, the
// other servers of the stream are tried. The caller must have locked mu.
func (r *brainReplica) readMissingMessages(ctx context.Context) error {
	if r.isClosed {
		return oxbow.ErrClosed
	}
	began := r.cluster.options.Clock().UnixNano()
	if err := r.cluster.replaceFencedLeader(ctx, r.directoryEntry.streamName()); err != nil {
		return err
	}
	err := r.cluster.ensureCopyIsCurrent(
		ctx,
		r.directoryEntry,
		func() uint64 { return r.position.LastReadSeq },
		func() error {
			err := r.readMessagesOrRebuildFile(ctx, true)
			if errors.Is(err, oxbow.ErrCorrupt) {
				err = r.readMessagesFromLeaders(ctx, err)
			}
			return err
		},
	)
	if err == nil {
		r.streamHeadComparedAt.Store(began)
	}
	return err
}

// readMessagesOrRebuildFile reads the missing messages like readToLastMessage. If the local file of the brain
// contradicts the messages in the stream, the file is deleted and built again, because the stream is authoritative.
func (r *brainReplica) readMessagesOrRebuildFile(ctx context.Context, fromAnyServer bool) error {
	follow := func() error {
		if r.store == nil {
			return errCopyDiverged
		}
		err := r.readToLastMessage(ctx, fromAnyServer)
		if err == nil && r.lastChangeNumber != r.position.LastChange {
			err = fmt.Errorf(
				"%w: brain %s has %d changes, its stream %d",
				errCopyDiverged,
				r.directoryEntry.Name,
				r.lastChangeNumber,
				r.position.LastChange,
			)
		}
		return err
	}
	err := follow()
	if !errors.Is(err, errCopyDiverged) {
		return err
	}
	err = r.restartWithEmptyFile()
	if err == nil {
		err = follow()
	}
	if errors.Is(err, errCopyDiverged) {
		err = r.damageError("its envelopes do not add up to what they name: %v", err)
	}
	return err
}

// readToLastMessage reads the brain's messages that the local copy lacks, up to the last message that the stream's
// leader reports. If fromAnyServer is set, messages before the last one may come from any server. If a message that was
// read before is missing or different now, the error matches [oxbow.ErrCorrupt].
func (r *brainReplica) readToLastMessage(ctx context.Context, fromAnyServer bool) error {
	l := r.cluster.requestSender
	stream := r.directoryEntry.streamName()
	subject := r.directoryEntry.subjectName()
	if r.lastMessageSize > minLargeMessageBytes {
		if _, ok, err := l.nextMessage(ctx, stream, subject, r.position.LastReadSeq+1); err != nil || !ok {
			return err
		}
	}
	head, ok, err := l.lastMessage(ctx, stream, subject)
	if err != nil {
		return err
	}
	switch {
	case !ok && r.position.LastReadSeq == 0:
		return nil
	case !ok:
		return r.damageError("message %d and all before it are gone", r.position.LastReadSeq)
	case head.Seq < r.position.LastReadSeq:
		return r.damageError(
			"message %d, which was read before, is gone; the last is %d",
			r.position.LastReadSeq,
			head.Seq,
		)
	case head.Seq == r.position.LastReadSeq:
		if r.lastMessageSize > 0 && !r.isLastReadMessage(head) {
			return r.damageError("message %d is not the one that was read before", head.Seq)
		}
		return nil
	}
	err = r.readMessagesTo(ctx, head, fromAnyServer)
	if !errors.Is(err, errSegmentNotFound) {
		return err
	}
	// The last message refers to a snapshot of the brain, which replaces earlier messages, and the snapshot's parts
	// (segments) are missing. A process that wrote a newer snapshot may have deleted them, so check whether there is a
	// newer snapshot.
	now, ok, headErr := l.lastMessage(ctx, stream, subject)
	if headErr != nil || !ok {
		return err
	}
	if now.Seq != head.Seq {
		return r.readToLastMessage(ctx, fromAnyServer)
	}
	return err
}

// isLastReadMessage reports whether the message is the last one that the replica read.
func (r *brainReplica) isLastReadMessage(m streamMessage) bool {
	return len(m.Data) == r.lastMessageSize && chainHash(sha256.Sum256(m.Data[messageHeadSize:])) == r.lastMessageHash
}

// readMessagesTo applies the brain's messages that the local copy lacks, up to and including headMessage. If
// headMessage is the next envelope or a snapshot, no other message is needed. If fromAnyServer is true, readMessagesTo
// first reads messages from any server. This server may lack the last messages, so readMessagesTo reads the remaining
// messages from the stream's leader.
func (r *brainReplica) readMessagesTo(ctx context.Context, headMessage streamMessage, fromAnyServer bool) error {
	e, _, err := decodeEnvelope(headMessage.Data)
	isNext := err == nil && (e.EnvelopeNumber == r.position.EnvelopeNumber+1 || e.Snapshot != nil)
	if isNext {
		// headMessage is the next envelope or a snapshot of the brain, so other messages need not be requested.
		return r.applyMessage(ctx, headMessage)
	}
	for fromAnyServer && r.position.LastReadSeq < headMessage.Seq {
		before := r.position.LastReadSeq
		err := eachMessageInBatch(
			ctx,
			r.cluster.natsConn,
			r.directoryEntry.streamName(),
			r.directoryEntry.subjectName(),
			before+1,
			messagesPerBatch,
			func(m streamMessage) error {
				return r.applyMessage(ctx, m)
			},
		)
		if errors.Is(err, errCopyDiverged) {
			return err
		}
		fromAnyServer = err == nil && r.position.LastReadSeq > before
	}
	for r.position.LastReadSeq < headMessage.Seq {
		m, ok, err := r.cluster.requestSender.nextMessage(
			ctx,
			r.directoryEntry.streamName(),
			r.directoryEntry.subjectName(),
			r.position.LastReadSeq+1,
		)
		if err != nil {
			return err
		}
		if !ok {
			return r.damageError("there is no message between %d and %d", r.position.LastReadSeq, headMessage.Seq)
		}
		if err := r.applyMessage(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// readMessagesFromLeaders lets each server of the stream in turn become the leader, and reads the missing messages from
// each leader, beginning with the current leader. It returns nil after the first successful read. If no read succeeds,
// or if the leader cannot be found or changed, it returns an error that wraps firstError.
func (r *brainReplica) readMessagesFromLeaders(ctx context.Context, firstError error) error {
	stream := r.directoryEntry.streamName()
	tried := map[string]bool{}
	for len(tried) < r.cluster.replicas {
		leader, _, err := r.cluster.findLeader(ctx, stream)
		if err != nil {
			break
		}
		if !tried[leader] {
			tried[leader] = true
			if r.readMessagesOrRebuildFile(ctx, false) == nil {
				return nil
			}
		}
		if len(tried) == r.cluster.replicas {
			break
		}
		if r.cluster.moveLeadAway(ctx, stream, leader) != nil && !sleepUnlessCanceled(ctx, 10*noServerRetryPause) {
			break
		}
	}
	names := ""
	for n := range tried {
		names += " " + n
	}
	return fmt.Errorf(
		"%w; nothing of it is served. Tried as leaders:%s. Compare the servers with Audit, and restore the brain "+
			"from the cache directory of a node",
		firstError,
		names,
	)
}
