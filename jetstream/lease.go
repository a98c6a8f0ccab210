// Leases: whether what the leader of a stream answers is the present.

package jetstream

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
)

// A server that was stopped, or cut off, takes itself for the leader until it hears
// of another, and answers with what was the last message once. What it says of itself
// proves nothing: answers that waited for it make it think that it heard from the
// others just now. Only a message that most servers stored does.
const (
	// leaseLength is how long after it was sent a message that the stream took keeps
	// another server from leading. Servers elect another when they have heard nothing
	// for at least 4 s.
	leaseLength = time.Second

	// mostSilence is how long a server may not have been heard, for it to be sure that
	// it knows the leader.
	mostSilence = 2 * time.Second
)

// lease is what this process knows of the leader of a stream.
type lease struct {
	sent  time.Time // the last message that the stream took from this process
	seq   uint64    // its sequence
	asked time.Time // when the leader was asked last whom it hears
	alone bool      // no other server takes itself for the leader: it hears all
}

// stored notes that a stream took a message.
func (c *Cluster) stored(stream string, sent time.Time, seq uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.leases[stream]; l.seq < seq {
		l.sent, l.seq = sent, seq
		c.leases[stream] = l
	}
}

// leased reports whether only the leader of a stream answers as the leader.
func (c *Cluster) leased(ctx context.Context, stream string) (bool, error) {
	c.mu.Lock()
	l := c.leases[stream]
	c.mu.Unlock()
	now := time.Now()
	switch {
	case now.Sub(l.sent) >= leaseLength:
		return false, nil
	case now.Sub(l.asked) < leaseLength:
		return l.alone, nil
	}
	r, err := c.streamInfo(ctx, stream)
	if err != nil {
		return false, err
	}
	alone := r.Cluster != nil && r.State.Last >= l.seq
	if alone {
		for _, o := range r.Cluster.Replicas {
			alone = alone && !o.Offline && o.Active <= mostSilence
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	l = c.leases[stream]
	l.asked, l.alone = now, alone
	c.leases[stream] = l
	return alone && time.Since(l.sent) < leaseLength, nil
}

// confirm brings a reader of a brain to where it holds all that was acknowledged, to
// any process, before the call. Follow reads what it lacks up to the head that a
// leader names, and at returns the sequence of the last message that it has read.
//
// Without a lease, a message of no meaning is stored if the reader is at the head.
func (c *Cluster) confirm(ctx context.Context, b brainInfo, at func() uint64, follow func() error) error {
	if c.replicas == 1 {
		return follow()
	}
	switch ok, err := c.leased(ctx, b.stream()); {
	case err != nil:
		return err
	case ok:
		return follow()
	}
	if at() == 0 {
		if err := follow(); err != nil {
			return err
		}
	}
	floor := uint64(0) // of a message that was stored since the call
	for tries := 0; ; tries++ {
		_, err := c.mark(ctx, b, true, at())
		switch {
		case err == nil:
			return nil
		case errors.Is(err, errMoved), errors.Is(err, errInTurn):
			if tries > 0 && floor == 0 { // others write without a pause
				floor, err = c.mark(ctx, b, false, 0)
				if err != nil {
					break
				}
			}
			err = follow()
			if err != nil {
				return err
			}
			if floor > 0 && at() > floor {
				return nil
			}
			err = errInTurn
			wait(ctx, busyPause)
		case errors.Is(err, errAway), errors.Is(err, errNoReply):
			wait(ctx, awayPause)
		default:
			return err
		}
		if ctx.Err() != nil {
			return unavailable(ctx, err)
		}
	}
}

// mark stores a message of no meaning in the stream of a brain, in the place of the
// one before. With last it does so only if the last message of the brain is the one at
// head.
func (c *Cluster) mark(ctx context.Context, b brainInfo, last bool, head uint64) (uint64, error) {
	m := nats.NewMsg(fmt.Sprintf("b.%02d.mark", b.Partition)) // names of brains have another dot
	m.Header.Set(headerRollup, "sub")
	if last {
		m.Header.Set(headerExpect, strconv.FormatUint(head, 10))
		m.Header.Set(headerExpectOf, b.subject())
	}
	sent := time.Now()
	seq, err := c.link.store(ctx, m)
	if err == nil {
		c.stored(b.stream(), sent, seq)
	}
	return seq, err
}

// Ready returns why brains cannot be read now: whether most servers keep what they are
// sent, as [Store.Get] must see. It asks for one stream, and costs no more than a read.
func (c *Cluster) Ready(ctx context.Context) error {
	b := brainInfo{}
	if c.replicas == 1 {
		_, err := c.dir.get(ctx, "cluster")
		return err
	}
	if ok, err := c.leased(ctx, b.stream()); ok || err != nil {
		return err
	}
	for {
		_, err := c.mark(ctx, b, false, 0)
		if err == nil {
			return nil
		}
		if !wait(ctx, awayPause) {
			return unavailable(ctx, err)
		}
	}
}
