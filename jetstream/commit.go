// This file commits changes to a brain, a memory in the cluster. Changes that are waiting are validated on the local
// copy of the brain and published together in one message, the envelope. The servers accept the envelope only if the
// last message of the brain is the last message that this process has read. Then the envelope is applied to the local
// copy.

package jetstream

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/store"
)

// These constants limit the size of a message with changes (an envelope), and the time for collecting changes and
// sending a message (a round).
const (
	maxChangesPerEnvelope = 256 // maximum number of changes in an envelope
	// if the entry texts in a message have this total size in bytes, the message gets no further changes
	maxTextBytesPerEnvelope = 512 << 10
	maxMessageBytes         = 8<<20 - 64<<10 // maximum number of bytes in a message
	writeInProgressPause    = 300 * time.Microsecond
	noServerRetryPause      = 20 * time.Millisecond
	// if less time remains until the caller's deadline, sending a message is not tried again
	minSendAttemptTime = 50 * time.Millisecond

	// Before a message with changes is built, the committer waits for further changes. It waits for 1/gatherTimeDivisor
	// of the time that the last message took. This wait is useful because callers whose changes were in the same
	// message return one by one, and then make their next changes one by one. Without the wait, the first caller's next
	// change would get a message of its own, and each message would contain half as many changes.
	gatherTimeDivisor   = 4
	maxChangeGatherTime = 5 * time.Millisecond
)

// commitRequest is a change that waits to be committed.
type commitRequest struct {
	change       requestedChange
	ops          []oxbow.Op
	changedNames []string // names of the entries that this request changes
	// The change must be the only change in its message. There are two such kinds of changes. The effect of a revert is
	// known only after the revert was applied. A change with UniqueAliases may fail, or take aliases from other
	// entries, depending on the changes before it.
	needsOwnEnvelope bool
	textBytes        int

	done       chan struct{}
	isFinished bool // the result of the request, which is madeChange or err, is set
	madeChange oxbow.Change
	err        error
}

// setOutcome sets the outcome of the request, unless it is already set.
func (q *commitRequest) setOutcome(madeChange oxbow.Change, err error) {
	if !q.isFinished {
		q.madeChange = madeChange
		q.err = err
		q.isFinished = true
		close(q.done)
	}
}

// commitQueue contains the changes of a brain that wait to be committed.
type commitQueue struct {
	mu              sync.Mutex // guards the following fields
	waitingRequests []*commitRequest
	isRunning       bool
	// closed when enoughRequestCount requests are waiting (nil if the committer does not wait for more requests)
	enoughRequestsWaiting chan struct{}
	enoughRequestCount    int
}

// addRequest appends a request to the queue. A committer is a goroutine that commits the requests in the queue. If no
// committer is running, mustStartCommitter is true, and the caller must start a committer. If a running committer is
// waiting for more requests, and enough requests are in the queue now, addRequest wakes the committer.
func (c *commitQueue) addRequest(q *commitRequest) (mustStartCommitter bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waitingRequests = append(c.waitingRequests, q)
	if c.enoughRequestsWaiting != nil && len(c.waitingRequests) >= c.enoughRequestCount {
		close(c.enoughRequestsWaiting)
		c.enoughRequestsWaiting = nil
	}
	mustStartCommitter = !c.isRunning
	c.isRunning = true
	return mustStartCommitter
}

// waitForMoreRequests waits until targetCount more requests are in the queue, but not longer than maxWait. It returns
// immediately if targetCount is 0, or if the queue would then contain only one request, because a single request cannot
// be combined with another request.
func (c *commitQueue) waitForMoreRequests(ctx context.Context, targetCount int, maxWait time.Duration) {
	c.mu.Lock()
	if targetCount == 0 || len(c.waitingRequests)+targetCount < 2 {
		c.mu.Unlock()
		return
	}
	enough := make(chan struct{})
	c.enoughRequestsWaiting, c.enoughRequestCount = enough, len(c.waitingRequests)+targetCount
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	select {
	case <-enough:
	case <-ctx.Done():
		c.mu.Lock()
		c.enoughRequestsWaiting = nil
		c.mu.Unlock()
	}
}

// takeNext removes at most maxChangesPerEnvelope requests from the front of the queue, and returns them. If the queue
// is empty, the result is empty, and the committer counts as stopped. It must then end.
func (c *commitQueue) takeNext() []*commitRequest {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(len(c.waitingRequests), maxChangesPerEnvelope)
	qs := slices.Clone(c.waitingRequests[:n])
	c.waitingRequests = slices.Delete(c.waitingRequests, 0, n)
	c.isRunning = n > 0
	return qs
}

// requeue puts requests that were not committed back at the front of the queue.
func (c *commitQueue) requeue(requests []*commitRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waitingRequests = append(requests, c.waitingRequests...)
}

// removeRequest removes a request from the queue. It returns false if the committer has already taken the request.
func (c *commitQueue) removeRequest(q *commitRequest) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.waitingRequests, q)
	if i >= 0 {
		c.waitingRequests = slices.Delete(c.waitingRequests, i, i+1)
	}
	return i >= 0
}

// commit sends the change q to the servers, waits until the change is durable, and returns it. For a revert or a
// restore, only the number of the change is set. If ctx ends after the change may have been sent, the error matches
// [oxbow.ErrUnknownOutcome].
func (r *brainReplica) commit(ctx context.Context, q *commitRequest) (oxbow.Change, error) {
	if err := q.change.setOriginOfChange(ctx, r.cluster.options.Source); err != nil {
		return oxbow.Change{}, err
	}
	q.done = make(chan struct{})
	if r.commitQueue.addRequest(q) {
		go r.commitQueuedRequests()
	}
	select {
	case <-q.done:
		return q.madeChange, q.err
	case <-ctx.Done():
	}
	if r.commitQueue.removeRequest(q) {
		return oxbow.Change{}, ctx.Err()
	}
	select {
	case <-q.done:
		return q.madeChange, q.err
	default:
		return oxbow.Change{}, fmt.Errorf("%w: %w", oxbow.ErrUnknownOutcome, ctx.Err())
	}
}

// commitQueuedRequests commits requests until the queue is empty. It is the committer, which runs in its own goroutine.
func (r *brainReplica) commitQueuedRequests() {
	last, took := 0, time.Duration(0)
	for {
		r.commitQueue.waitForMoreRequests(r.cluster.ctx, last, min(took/gatherTimeDivisor, maxChangeGatherTime))
		qs := r.commitQueue.takeNext()
		if len(qs) == 0 {
			return
		}
		began := time.Now()
		last = 0
		if err := r.commitBatch(qs); err != nil {
			for _, q := range qs {
				q.setOutcome(oxbow.Change{}, err)
			}
			continue
		}
		last, took = len(qs), time.Since(began)
		r.compactBrainIfDue()
	}
}

// commitBatch commits the requests that can be committed together. It sets the outcome of these requests and of refused
// requests, and puts all other requests back at the front of the queue. If commitBatch returns an error, the error is
// the outcome of all requests that have no outcome yet.
func (r *brainReplica) commitBatch(requests []*commitRequest) error {
	ctx, cancel := context.WithTimeout(r.cluster.ctx, r.cluster.options.WriteWait)
	defer cancel()
	for checked := false; ; {
		c, err := r.chooseRequests(requests)
		if err != nil {
			return err
		}
		if len(c.refused) > 0 && !checked {
			// The requests may be refused only because the local copy lacks changes, so read the newest messages and
			// try again.
			if err := r.compareWithStreamHead(ctx); err != nil {
				return err
			}
			checked = true
			continue
		}
		for q, err := range c.refused {
			q.setOutcome(oxbow.Change{}, err)
		}
		if len(c.selected) > 0 {
			err = r.sendRequests(ctx, c.selected)
			if errors.Is(err, errNewerMessageStored) {
				requests, checked = append(c.selected, c.deferred...), true
				continue
			}
			for _, q := range c.selected {
				q.setOutcome(oxbow.Change{}, err)
			}
		}
		r.commitQueue.requeue(c.deferred)
		return nil
	}
}

// chosenRequests contains the requests that were selected for the next envelope (a message with changes that is
// published in the stream). It also contains the requests that were deferred or refused.
type chosenRequests struct {
	selected []*commitRequest
	// requests that must wait for the next message, because they depend on a change in this message
	deferred []*commitRequest
	// requests that are not valid for the present entries of the brain, each with the error
	refused map[*commitRequest]error

	selectedRequestOps []oxbow.Op // operations of all requests in selected
	changedNames       map[string]bool
	selectedOpIDs      map[string]bool // op IDs of all requests in selected
	textBytes          int
}

// chooseRequests divides the requests qs for the next envelope, which is a message with changes. It skips finished
// requests. If the operation ID of a request was used before, the request gets the earlier result. All other requests
// are chosen, deferred to a later envelope, or refused:
//   - A request is deferred if it does not fit into the envelope.
//   - A request is also deferred if it would fail and changes the same names as a chosen request. Such a request cannot
//     be refused yet, because the chosen request is not durable and may still fail.
//   - A request is refused if it would fail for any other reason (see the field refused).
//   - All remaining requests are chosen.
func (r *brainReplica) chooseRequests(qs []*commitRequest) (*chosenRequests, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isClosed {
		return nil, oxbow.ErrClosed
	}
	if r.store == nil {
		return nil, r.damageError("the local copy could not be opened")
	}
	r.currentEnvelopeUnixNano.Store(r.nextEnvelopeUnixNano())
	c := &chosenRequests{
		refused:       map[*commitRequest]error{},
		changedNames:  map[string]bool{},
		selectedOpIDs: map[string]bool{},
	}
	for _, q := range qs {
		if q.isFinished {
			continue
		}
		if seenNames, made, err := r.changeByOpID(q.change.OpID); seenNames {
			q.setOutcome(made, err)
			continue
		}
		if len(c.selected) > 0 && !c.fitsRequest(q) {
			c.deferred = append(c.deferred, q)
			continue
		}
		if slices.ContainsFunc(q.changedNames, func(n string) bool { return c.changedNames[n] }) {
			if r.store.DryRun(r.cluster.ctx, append(slices.Clip(c.selectedRequestOps), q.ops...)...) != nil {
				c.deferred = append(c.deferred, q)
				continue
			}
		} else if err := r.store.DryRun(r.cluster.ctx, q.ops...); err != nil {
			c.refused[q] = err
			continue
		}
		c.selectRequest(q)
	}
	return c, nil
}

// fitsRequest reports whether a request can be sent in the same message (envelope) as the requests that were selected
// before. At least one request was selected.
func (c *chosenRequests) fitsRequest(q *commitRequest) bool {
	if q.needsOwnEnvelope || c.selected[0].needsOwnEnvelope {
		return false
	}
	return c.textBytes+q.textBytes <= maxTextBytesPerEnvelope && !c.selectedOpIDs[store.OpIDKey(q.change.OpID)]
}

func (c *chosenRequests) selectRequest(q *commitRequest) {
	c.selected = append(c.selected, q)
	c.selectedRequestOps = append(c.selectedRequestOps, q.ops...)
	c.textBytes = c.textBytes + q.textBytes
	for _, n := range q.changedNames {
		c.changedNames[n] = true
	}
	if q.change.OpID != "" {
		c.selectedOpIDs[store.OpIDKey(q.change.OpID)] = true
	}
}

// nextEnvelopeUnixNano returns the time for the next envelope. It is never before the time of the last envelope.
func (r *brainReplica) nextEnvelopeUnixNano() int64 {
	return max(r.cluster.options.Clock().UnixNano(), r.position.EnvelopeTime)
}

// sendRequests publishes the requests in one message, the envelope. It then applies the envelope to the local copy of
// the brain (the memory) and sets the outcomes of the requests. The error errNewerMessageStored means that nothing was
// published, because another process had stored a newer message. In this case, the local copy has read that message.
func (r *brainReplica) sendRequests(ctx context.Context, qs []*commitRequest) error {
	m, expect, err := r.buildEnvelope(qs)
	if err != nil {
		return err
	}
	sent := false // at least one attempt may have reached a server
	for {
		began := time.Now()
		seq, err := r.cluster.requestSender.publishMessage(ctx, r.directoryEntry.subjectName(), m.data, expect, false)
		switch {
		case err == nil:
			r.cluster.recordStoredMessage(r.directoryEntry.streamName(), began, seq)
			r.applyStoredEnvelope(qs, m, seq)
			return nil
		case errors.Is(err, errWriteInProgress):
			sleepUnlessCanceled(ctx, writeInProgressPause)
		case errors.Is(err, errNoServer):
			sleepUnlessCanceled(ctx, noServerRetryPause)
		case errors.Is(err, errNoReply):
			// Send the same message again. The servers store the message only once, because they check the sequence
			// number of the message before it.
			sent = true
			sleepUnlessCanceled(ctx, noServerRetryPause)
		case errors.Is(err, errNewerMessageStored):
			done, err := r.catchUpAfterRefusedEnvelope(ctx, qs, expect, sent)
			if done || errors.Is(err, errNewerMessageStored) {
				return err
			}
			if err != nil {
				return r.endFailedPublish(sent, err)
			}
			// The leader of the stream has not yet received the last message that this process has read. Wait and send
			// again.
			sleepUnlessCanceled(ctx, noServerRetryPause)
		default:
			return r.endFailedPublish(sent, err)
		}
		if !hasTimeForSendAttempt(ctx) {
			return r.endFailedPublish(sent, err)
		}
	}
}

// hasTimeForSendAttempt reports whether ctx leaves enough time for another attempt.
func hasTimeForSendAttempt(ctx context.Context) bool {
	if ctx.Err() != nil {
		return false
	}
	end, hasEnd := ctx.Deadline()
	return !hasEnd || time.Until(end) >= minSendAttemptTime
}

// endFailedPublish returns the error for a change whose message was not confirmed by the servers. If mayStillBeStored
// is true, the message was sent, and the servers may still store the message. In this case, the error matches
// oxbow.ErrUnknownOutcome. endFailedPublish also clears r.envelopeInFlight, because no message is being sent any more.
func (r *brainReplica) endFailedPublish(mayStillBeStored bool, err error) error {
	r.mu.Lock()
	r.envelopeInFlight = nil
	r.mu.Unlock()
	switch {
	case mayStillBeStored:
		return fmt.Errorf("%w: %w; give the change an op id, and send it again", oxbow.ErrUnknownOutcome, err)
	case errors.Is(err, errNoServer), errors.Is(err, errWriteInProgress):
		return fmt.Errorf(
			"%w: nothing was written: %w; see whether two of three servers run and reach each other",
			oxbow.ErrBusy,
			err,
		)
	}
	return err
}

// encodedEnvelope is an envelope (message with changes) in encoded form, with its hash.
type encodedEnvelope struct {
	envelope *envelope
	data     []byte
	hash     chainHash
}

// buildEnvelope builds one message that contains the changes of all requests. It also returns the sequence number of
// the last message of the brain (a memory in the cluster). The servers must store the new message only if no other
// message of the brain was stored after this number. buildEnvelope sets r.envelopeInFlight, which describes the message
// that is being sent. If the message would be longer than maxMessageBytes, the error is an [oxbow.InvalidError].
func (r *brainReplica) buildEnvelope(requests []*commitRequest) (encodedEnvelope, uint64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id, err := r.cluster.randomID()
	if err != nil {
		return encodedEnvelope{}, 0, err
	}
	e := &envelope{
		Version:          envelopeVersion,
		BrainName:        r.directoryEntry.Name,
		EnvelopeNumber:   r.position.EnvelopeNumber + 1,
		PrevChainHash:    r.position.ChainHash,
		BrainEpoch:       r.directoryEntry.BrainEpoch,
		SenderNode:       r.cluster.options.Node,
		EnvelopeID:       id,
		ChangeTime:       r.nextEnvelopeUnixNano(),
		LastChangeBefore: r.lastChangeNumber,
	}
	if r.lastChangeNumber > 0 {
		e.FileChainHash = r.fileChainHash
	}
	for _, q := range requests {
		e.Changes = append(e.Changes, q.change)
	}
	data, hash, err := e.encodeMessage()
	if err == nil && len(data) > maxMessageBytes {
		err = &oxbow.InvalidError{
			Field: "change",
			Value: text.FormatBytes(int64(len(data))),
			Reason: "is more than the " +
				text.FormatBytes(maxMessageBytes) + " that a message of the cluster may hold; split it",
		}
	}
	r.envelopeInFlight = &inFlightEnvelope{envelopeID: id, envelopeNumber: e.EnvelopeNumber, changeCount: len(requests)}
	return encodedEnvelope{e, data, hash}, r.position.LastReadSeq, err
}

// applyStoredEnvelope applies the message m to the local copy of the brain (a memory), and sets the outcomes of the
// requests. The servers have already stored m with the sequence number seq. A concurrent reader may have applied m
// before, and then m is not applied again. If the local copy cannot apply m, the copy is built again from the stream.
// An error is not possible, because the changes are already durable.
func (r *brainReplica) applyStoredEnvelope(requests []*commitRequest, m encodedEnvelope, seq uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.envelopeInFlight
	mustApply := !f.isApplied && !r.isClosed
	if mustApply && r.applyAndRecordEnvelope(r.cluster.ctx, m.envelope, m.hash, seq, len(m.data)) != nil {
		ctx, cancel := context.WithTimeout(r.cluster.ctx, r.cluster.options.ReadWait)
		defer cancel()
		if r.restartWithEmptyFile() == nil {
			_ = r.readMissingMessages(ctx)
		}
	}
	r.finishCommitRequests(requests, f)
}

// finishCommitRequests sets the outcomes of the requests, which f, a stored envelope, contains. It also sets
// r.envelopeInFlight to nil. The caller must have locked mu.
func (r *brainReplica) finishCommitRequests(requests []*commitRequest, f *inFlightEnvelope) {
	r.envelopeInFlight = nil
	for i, q := range requests {
		switch {
		case f.isApplied && f.changeErrs != nil:
			q.setOutcome(f.appliedChanges[i], f.changeErrs[i])
		case q.needsOwnEnvelope && q.ops == nil:
			q.setOutcome(
				oxbow.Change{},
				fmt.Errorf(
					"%w: the change was stored, and the local copy failed before it could say how it ended",
					oxbow.ErrUnknownOutcome,
				),
			)
		default:
			q.setOutcome(oxbow.Change{}, nil)
		}
	}
}

// catchUpAfterRefusedEnvelope is called after the stream refused the envelope (message with changes) in
// r.envelopeInFlight. The stream accepts an envelope only if the brain's last message has the sequence number
// expectedSeq. wasSentBefore is true if the envelope was sent before without a reply.
//
// catchUpAfterRefusedEnvelope reads the messages that this process lacks. There are four results:
//   - If an earlier attempt has stored the envelope, and only the reply was lost, the outcomes of the requests are set,
//     and isFinished is true.
//   - If it is unknown whether the envelope was stored, the error is errNoReply.
//   - If the last message still has the sequence number expectedSeq, isFinished is false and err is nil. The caller may
//     send the envelope again.
//   - If another process has stored a message, the error is errNewerMessageStored.
func (r *brainReplica) catchUpAfterRefusedEnvelope(
	ctx context.Context,
	requests []*commitRequest,
	expectedSeq uint64,
	wasSentBefore bool,
) (isFinished bool, err error) {
	if err := r.compareWithStreamHead(ctx); err != nil {
		return false, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.envelopeInFlight
	switch {
	case f.isApplied:
		r.finishCommitRequests(requests, f)
		return true, nil
	case f.isOutcomeUnknown && wasSentBefore:
		// The outcome is unknown because another process has replaced old messages by a snapshot. The snapshot may or
		// may not contain the changes of this envelope.
		return false, errNoReply
	case r.position.LastReadSeq == expectedSeq:
		return false, nil
	}
	r.envelopeInFlight = nil
	return false, errNewerMessageStored
}

func (c *Cluster) randomID() (string, error) {
	var b [12]byte
	c.randMu.Lock()
	defer c.randMu.Unlock()
	src := c.options.Rand
	if src == nil {
		src = rand.Reader
	}
	_, err := io.ReadFull(src, b[:])
	return base64.RawURLEncoding.EncodeToString(b[:]), err
}
