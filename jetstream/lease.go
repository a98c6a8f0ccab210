// This file determines whether the leader of a stream returns current data. A server that was disconnected may still
// consider itself the leader and return outdated data.

package jetstream

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
)

// A server that was paused or disconnected considers itself the leader until it hears from another leader. In the
// meantime, it returns outdated messages. The server's own statement proves nothing: a server that resumes after a
// pause reads queued messages, and concludes that it has just heard from all other servers. The only proof is a
// message that a majority of the servers has stored.
const (
	// leaderLeaseLength is the time for which a stored message proves that the leader is still the leader. It begins
	// when this process sent the message that the stream stored. In this time, no other server can become leader,
	// because servers hold an election only after they have heard nothing from the leader for at least 4 s.
	leaderLeaseLength = time.Second

	// maxServerSilence is the maximum time since the leader last heard from another server. A server that was heard
	// within this time certainly knows who leads the stream now. A server that was silent for longer might consider
	// itself the leader.
	maxServerSilence = 2 * time.Second
)

// leaderLease is what this process knows about the leader of a stream.
type leaderLease struct {
	sentAt           time.Time // time when this process sent the newest message that the stream has stored
	storedMessageSeq uint64    // sequence number of the message that was sent at sentAt
	leaderAskedAt    time.Time // time when the leader was last asked from which servers it hears
	// the leader hears from all servers, so that no other server can consider itself the leader
	hearsAllServers bool
}

// recordStoredMessage records in the lease of a stream that the stream has stored the message with the sequence number
// seq. The argument sentAt is the time when this process sent the message. If the lease already contains this message
// or a later message, nothing is recorded.
func (c *Cluster) recordStoredMessage(stream string, sentAt time.Time, seq uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.leaseByStream[stream]; l.storedMessageSeq < seq {
		l.sentAt, l.storedMessageSeq = sentAt, seq
		c.leaseByStream[stream] = l
	}
}

// hasLeaderLease reports whether this process can trust the answers of a stream's leader, because no other server can
// consider itself the leader now. Two conditions must hold:
//   - The stream has stored a message that this process sent less than leaderLeaseLength ago.
//   - The leader has heard from all other servers of the stream within maxServerSilence.
//
// hasLeaderLease asks the leader about the second condition at most once in leaderLeaseLength.
func (c *Cluster) hasLeaderLease(ctx context.Context, stream string) (bool, error) {
	c.mu.Lock()
	l := c.leaseByStream[stream]
	c.mu.Unlock()
	current := time.Now()
	switch {
	case current.Sub(l.sentAt) >= leaderLeaseLength:
		return false, nil
	case current.Sub(l.leaderAskedAt) < leaderLeaseLength:
		return l.hearsAllServers, nil
	}
	r, err := c.streamInfo(ctx, stream)
	if err != nil {
		return false, err
	}
	isSingle := r.Cluster != nil && r.State.Last >= l.storedMessageSeq
	if isSingle {
		for _, o := range r.Cluster.Replicas {
			isSingle = isSingle && !o.Offline && o.SinceLastHeard <= maxServerSilence
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	l = c.leaseByStream[stream]
	l.leaderAskedAt, l.hearsAllServers = current, isSingle
	c.leaseByStream[stream] = l
	return isSingle && time.Since(l.sentAt) < leaderLeaseLength, nil
}

// ensureCopyIsCurrent makes sure that the local copy of a brain (a memory) contains all changes that were acknowledged
// to any process before the call. The function readToHead must read the messages that the copy lacks, up to the last
// message that the leader of the brain's stream reports. The function lastRead must return the sequence number of the
// last message that was read.
//
// The answer of the leader is sufficient if the stream has a single replica, or if no other server can be the leader
// now (see hasLeaderLease). In all other cases, ensureCopyIsCurrent tries to store an empty message in the stream. The
// stream accepts this message only if the local copy contains the brain's last message. Therefore an accepted message
// proves that the copy is current. If the message is refused, ensureCopyIsCurrent reads the missing messages and tries
// again. It returns an error if readToHead fails, if the message cannot be stored for another reason, or if ctx ends
// first.
func (c *Cluster) ensureCopyIsCurrent(
	ctx context.Context,
	b brainDirectoryEntry,
	lastRead func() uint64,
	readToHead func() error,
) error {
	if c.replicas == 1 {
		return readToHead()
	}
	switch ok, err := c.hasLeaderLease(ctx, b.streamName()); {
	case err != nil:
		return err
	case ok:
		return readToHead()
	}
	if lastRead() == 0 {
		if err := readToHead(); err != nil {
			return err
		}
	}
	// The sequence number of an empty message that was stored after the call began, or 0 if no such message was stored.
	// The copy is current when lastRead has passed this number.
	floor := uint64(0)
	for tries := 0; ; tries++ {
		_, err := c.storeEmptyMessage(ctx, b, true, lastRead())
		switch {
		case err == nil:
			return nil
		case errors.Is(err, errNewerMessageStored), errors.Is(err, errWriteInProgress):
			// Other processes store messages so often that the stream may refuse the empty message each time. Therefore
			// store an empty message that the stream accepts in any case. It is sufficient to read all messages up to
			// this message.
			if tries > 0 && floor == 0 {
				floor, err = c.storeEmptyMessage(ctx, b, false, 0)
				if err != nil {
					break
				}
			}
			err = readToHead()
			if err != nil {
				return err
			}
			if floor > 0 && lastRead() > floor {
				return nil
			}
			err = errWriteInProgress
			sleepUnlessCanceled(ctx, writeInProgressPause)
		case errors.Is(err, errNoServer), errors.Is(err, errNoReply):
			sleepUnlessCanceled(ctx, noServerRetryPause)
		default:
			return err
		}
		if ctx.Err() != nil {
			return unavailableError(ctx, err)
		}
	}
}

// storeEmptyMessage stores an empty message, called the mark, in the stream of the brain b. The rollup header makes the
// server remove the previous mark. If mustBeLast is set, the server stores the mark only if the brain's last message
// has the sequence number headSeq. storeEmptyMessage returns the sequence number of the mark.
func (c *Cluster) storeEmptyMessage(
	ctx context.Context,
	b brainDirectoryEntry,
	mustBeLast bool,
	headSeq uint64,
) (uint64, error) {
	// No brain has this subject, because a brain's subject ends with TENANT.BRAIN and "mark" contains no dot.
	m := nats.NewMsg(fmt.Sprintf("b.%02d.mark", b.Partition))
	m.Header.Set(headerRollup, "sub")
	if mustBeLast {
		m.Header.Set(headerExpectSeq, strconv.FormatUint(headSeq, 10))
		m.Header.Set(headerExpectSubject, b.subjectName())
	}
	sent := time.Now()
	seq, err := c.requestSender.storeMessage(ctx, m)
	if err == nil {
		c.recordStoredMessage(b.streamName(), sent, seq)
	}
	return seq, err
}

// Ready returns nil if the brains (the memories in this cluster) can be read now. Otherwise it returns the reason. A
// read requires that most servers can store messages (see [Store.Get]). Therefore Ready stores an empty message in one
// stream, unless it can trust the leader of this stream without that. If the cluster has only one replica, Ready only
// reads a value from the directory.
func (c *Cluster) Ready(ctx context.Context) error {
	b := brainDirectoryEntry{}
	if c.replicas == 1 {
		_, err := c.directory.getValue(ctx, "cluster")
		return err
	}
	if ok, err := c.hasLeaderLease(ctx, b.streamName()); ok || err != nil {
		return err
	}
	for {
		_, err := c.storeEmptyMessage(ctx, b, false, 0)
		if err == nil {
			return nil
		}
		if !sleepUnlessCanceled(ctx, noServerRetryPause) {
			return unavailableError(ctx, err)
		}
	}
}
