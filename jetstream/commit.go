// Commits: changes that wait are validated on the replica, published together as one
// envelope if the head is still the one that the replica stands at, and applied.

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

// Limits of what one envelope holds.
const (
	mostTogether = 256
	bytesOfMany  = 512 << 10      // of texts, from which on no further change is added
	mostMessage  = 8<<20 - 64<<10 // bytes
	busyPause    = 300 * time.Microsecond
	awayPause    = 20 * time.Millisecond
	leastTry     = 50 * time.Millisecond // without which no answer of another try can be waited for

	// Writers whose changes were stored together come back one after the other. Without
	// a wait the first of them would have an envelope of its own, and all others the
	// next: half as many changes a round. They have this part of the last round's time.
	gatherShare = 4
	gatherMost  = 5 * time.Millisecond
)

// request is a change that waits.
type request struct {
	change change
	ops    []oxbow.Op
	names  []string // that the ops touch
	alone  bool     // decided by the replicas, or about aliases of other entries
	size   int

	done     chan struct{}
	finished bool // made and err are set
	made     oxbow.Change
	err      error
}

// finish sets the outcome, unless there is one.
func (q *request) finish(made oxbow.Change, err error) {
	if !q.finished {
		q.made = made
		q.err = err
		q.finished = true
		close(q.done)
	}
}

// commitQueue is the changes of a brain that wait.
type commitQueue struct {
	mu      sync.Mutex // guards all below
	waiting []*request
	running bool
	enough  chan struct{} // is closed when target changes wait; nil when none waits for that
	target  int
}

// add makes a request the last. lead is true where nothing runs that takes it.
func (c *commitQueue) add(q *request) (lead bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = append(c.waiting, q)
	if c.enough != nil && len(c.waiting) >= c.target {
		close(c.enough)
		c.enough = nil
	}
	lead = !c.running
	c.running = true
	return lead
}

// gather waits until n more changes wait, at most for d. It does not where that could
// not bring several together.
func (c *commitQueue) gather(ctx context.Context, n int, d time.Duration) {
	c.mu.Lock()
	if n == 0 || len(c.waiting)+n < 2 {
		c.mu.Unlock()
		return
	}
	enough := make(chan struct{})
	c.enough, c.target = enough, len(c.waiting)+n
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	select {
	case <-enough:
	case <-ctx.Done():
		c.mu.Lock()
		c.enough = nil
		c.mu.Unlock()
	}
}

// take takes what waits; running ends with it being none.
func (c *commitQueue) take() []*request {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(len(c.waiting), mostTogether)
	qs := slices.Clone(c.waiting[:n])
	c.waiting = slices.Delete(c.waiting, 0, n)
	c.running = n > 0
	return qs
}

// putBack makes requests the next.
func (c *commitQueue) putBack(qs []*request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = append(qs, c.waiting...)
}

// withdraw takes a request out that was not begun.
func (c *commitQueue) withdraw(q *request) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.waiting, q)
	if i >= 0 {
		c.waiting = slices.Delete(c.waiting, i, i+1)
	}
	return i >= 0
}

// commit makes a change durable and returns it. The change of a revert or a restore has
// its number only.
func (r *replica) commit(ctx context.Context, q *request) (oxbow.Change, error) {
	if err := q.change.stamp(ctx, r.cluster.opts.Source); err != nil {
		return oxbow.Change{}, err
	}
	q.done = make(chan struct{})
	if r.queue.add(q) {
		go r.commitAll()
	}
	select {
	case <-q.done:
		return q.made, q.err
	case <-ctx.Done():
	}
	if r.queue.withdraw(q) {
		return oxbow.Change{}, ctx.Err()
	}
	select {
	case <-q.done:
		return q.made, q.err
	default:
		return oxbow.Change{}, fmt.Errorf("%w: %w", oxbow.ErrUnknownOutcome, ctx.Err())
	}
}

// commitAll commits what waits, until nothing does.
func (r *replica) commitAll() {
	last, took := 0, time.Duration(0)
	for {
		r.queue.gather(r.cluster.ctx, last, min(took/gatherShare, gatherMost))
		qs := r.queue.take()
		if len(qs) == 0 {
			return
		}
		began := time.Now()
		last = 0
		if err := r.commitSome(qs); err != nil {
			for _, q := range qs {
				q.finish(oxbow.Change{}, err)
			}
			continue
		}
		last, took = len(qs), time.Since(began)
		r.compactIfDue()
	}
}

// commitSome commits some of the requests, finishes those that cannot be applied and
// puts the others back. An error is that of all that are not finished.
func (r *replica) commitSome(qs []*request) error {
	ctx, cancel := context.WithTimeout(r.cluster.ctx, r.cluster.opts.WriteWait)
	defer cancel()
	for checked := false; ; {
		c, err := r.choose(qs)
		if err != nil {
			return err
		}
		if len(c.refused) > 0 && !checked {
			// What refuses a change may be a state that is not the last.
			if err := r.check(ctx); err != nil {
				return err
			}
			checked = true
			continue
		}
		for q, err := range c.refused {
			q.finish(oxbow.Change{}, err)
		}
		if len(c.chosen) > 0 {
			err = r.send(ctx, c.chosen)
			if errors.Is(err, errMoved) {
				qs, checked = append(c.chosen, c.later...), true
				continue
			}
			for _, q := range c.chosen {
				q.finish(oxbow.Change{}, err)
			}
		}
		r.queue.putBack(c.later)
		return nil
	}
}

// choice is what goes into one envelope.
type choice struct {
	chosen  []*request
	later   []*request         // they wait for the next
	refused map[*request]error // by the replica as it is

	ops     []oxbow.Op // of those chosen
	touched map[string]bool
	ids     map[string]bool // the keys of op ids
	size    int
}

// choose chooses among the requests. An error that only follows from a chosen change,
// which is not durable yet, is left to the next envelope.
func (r *replica) choose(qs []*request) (*choice, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, oxbow.ErrClosed
	}
	if r.store == nil {
		return nil, r.damage("the local copy could not be opened")
	}
	r.clock.Store(r.now())
	c := &choice{refused: map[*request]error{}, touched: map[string]bool{}, ids: map[string]bool{}}
	for _, q := range qs {
		if q.finished {
			continue
		}
		if seen, made, err := r.seen(q.change.OpID); seen {
			q.finish(made, err)
			continue
		}
		if len(c.chosen) > 0 && (q.alone || c.chosen[0].alone || c.size+q.size > bytesOfMany || c.ids[store.OpIDKey(q.change.OpID)]) {
			c.later = append(c.later, q)
			continue
		}
		if slices.ContainsFunc(q.names, func(n string) bool { return c.touched[n] }) {
			if r.store.DryRun(r.cluster.ctx, append(slices.Clip(c.ops), q.ops...)...) != nil {
				c.later = append(c.later, q)
				continue
			}
		} else if err := r.store.DryRun(r.cluster.ctx, q.ops...); err != nil {
			c.refused[q] = err
			continue
		}
		c.add(q)
	}
	return c, nil
}

func (c *choice) add(q *request) {
	c.chosen = append(c.chosen, q)
	c.ops = append(c.ops, q.ops...)
	c.size = c.size + q.size
	for _, n := range q.names {
		c.touched[n] = true
	}
	if q.change.OpID != "" {
		c.ids[store.OpIDKey(q.change.OpID)] = true
	}
}

// now returns the time of the next envelope, which is not before that of the last.
func (r *replica) now() int64 { return max(r.cluster.opts.Clock().UnixNano(), r.at.Time) }

// send publishes the requests as one envelope, applies it and finishes them. With
// errMoved nothing was published, and the replica is at another head.
func (r *replica) send(ctx context.Context, qs []*request) error {
	m, expect, err := r.prepare(qs)
	if err != nil {
		return err
	}
	sent := false // a try may have reached a server
	for {
		began := time.Now()
		seq, err := r.cluster.link.publish(ctx, r.brain.subject(), m.data, expect, false)
		switch {
		case err == nil:
			r.cluster.stored(r.brain.stream(), began, seq)
			r.arrived(qs, m, seq)
			return nil
		case errors.Is(err, errInTurn):
			wait(ctx, busyPause)
		case errors.Is(err, errAway):
			wait(ctx, awayPause)
		case errors.Is(err, errNoReply):
			sent = true // the same expectation admits it once, however often it is sent
			wait(ctx, awayPause)
		case errors.Is(err, errMoved):
			done, err := r.moved(ctx, qs, expect, sent)
			if done || errors.Is(err, errMoved) {
				return err
			}
			if err != nil {
				return r.gaveUp(sent, err)
			}
			wait(ctx, awayPause) // the leader is not yet where the replica is
		default:
			return r.gaveUp(sent, err)
		}
		if end, ok := ctx.Deadline(); ctx.Err() != nil || (ok && time.Until(end) < leastTry) {
			return r.gaveUp(sent, err)
		}
	}
}

// gaveUp is the error of an envelope that no try brought into the stream. Sent is
// true where one may have, or still may.
func (r *replica) gaveUp(sent bool, err error) error {
	r.mu.Lock()
	r.flight = nil
	r.mu.Unlock()
	switch {
	case sent:
		return fmt.Errorf("%w: %w; give the change an op id, and send it again", oxbow.ErrUnknownOutcome, err)
	case errors.Is(err, errAway), errors.Is(err, errInTurn):
		return fmt.Errorf("%w: nothing was written: %w; see whether two of three servers run and reach each other", oxbow.ErrBusy, err)
	}
	return err
}

// outgoing is an envelope that is ready to be sent.
type outgoing struct {
	envelope *envelope
	data     []byte
	hash     chainHash
}

// prepare makes the envelope of the requests, and returns the message that it must
// follow.
func (r *replica) prepare(qs []*request) (outgoing, uint64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id, err := r.cluster.randomID()
	if err != nil {
		return outgoing{}, 0, err
	}
	e := &envelope{V: version, Brain: r.brain.Name, N: r.at.N + 1, Prev: r.at.Hash, Epoch: r.brain.Epoch, Node: r.cluster.opts.Node,
		ID: id, Time: r.now(), Base: r.last}
	if r.last > 0 {
		e.State = r.head
	}
	for _, q := range qs {
		e.Changes = append(e.Changes, q.change)
	}
	data, hash, err := e.encode()
	if err == nil && len(data) > mostMessage {
		err = &oxbow.InvalidError{Field: "change", Value: text.Bytes(int64(len(data))), Reason: "is more than the " + text.Bytes(mostMessage) + " that a message of the cluster may hold; split it"}
	}
	r.flight = &flight{id: id, n: e.N, changes: len(qs)}
	return outgoing{e, data, hash}, r.at.Seq, err
}

// arrived applies an envelope that the stream took, unless a reader did so before,
// and finishes its requests. An error of the replica is no error of the change, which
// is durable: the next reader begins again.
func (r *replica) arrived(qs []*request, m outgoing, seq uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.flight
	if !f.applied && !r.closed && r.take(r.cluster.ctx, m.envelope, m.hash, seq, len(m.data)) != nil {
		ctx, cancel := context.WithTimeout(r.cluster.ctx, r.cluster.opts.ReadWait)
		defer cancel()
		if r.rebuild() == nil {
			_ = r.catchUp(ctx)
		}
	}
	r.settle(qs, f)
}

// settle finishes the requests of an envelope that was stored. mu is held.
func (r *replica) settle(qs []*request, f *flight) {
	r.flight = nil
	for i, q := range qs {
		switch {
		case f.applied && f.errs != nil:
			q.finish(f.made[i], f.errs[i])
		case q.alone && q.ops == nil:
			q.finish(oxbow.Change{}, fmt.Errorf("%w: the change was stored, and the local copy failed before it could say how it ended", oxbow.ErrUnknownOutcome))
		default:
			q.finish(oxbow.Change{}, nil)
		}
	}
}

// moved brings the replica to the head after a refusal. The envelope may be the one
// that is there: then its ack was lost, and the requests are done. Else the error is
// errMoved, or nil where the head is the one expected.
func (r *replica) moved(ctx context.Context, qs []*request, expect uint64, sent bool) (done bool, err error) {
	if err := r.check(ctx); err != nil {
		return false, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.flight
	switch {
	case f.applied:
		r.settle(qs, f)
		return true, nil
	case f.lost && sent:
		return false, errNoReply // it is in a snapshot, or not
	case r.at.Seq == expect:
		return false, nil
	}
	r.flight = nil
	return false, errMoved
}

// randomID returns the id of an envelope.
func (c *Cluster) randomID() (string, error) {
	var b [12]byte
	c.randMu.Lock()
	defer c.randMu.Unlock()
	src := c.opts.Rand
	if src == nil {
		src = rand.Reader
	}
	_, err := io.ReadFull(src, b[:])
	return base64.RawURLEncoding.EncodeToString(b[:]), err
}
