// This file holds the line of those who wait to have a change committed, and
// whose turn it is.

package oxbow

import (
	"context"
	"runtime"
	"slices"
	"sync"
)

// request is a change that waits to be committed.
type request struct {
	ctx   context.Context
	build func(g *stage) (*body, error)

	// wake tells its caller that it is finished, or else that it is the
	// caller's turn to commit. It holds one word, so that nobody waits to send.
	wake chan struct{}
	done bool // seq and err are set
	seq  uint64
	err  error
}

func newRequest(ctx context.Context, build func(g *stage) (*body, error)) *request {
	return &request{ctx: ctx, build: build, wake: make(chan struct{}, 1)}
}

// finish tells the caller how it went.
func (r *request) finish(seq uint64, err error) {
	r.seq, r.err, r.done = seq, err, true
	r.wake <- struct{}{}
}

func (r *request) finished() bool { return r.done }

// line is where requests wait. The first to come to an empty line commits all
// that is waiting, and then names who does so next.
type line struct {
	mu      sync.Mutex // guards all below
	waiting []*request
	led     bool // somebody commits, or was told to
	last    int  // how many were committed together last
}

// join puts the request in the line and reports whether it is its caller's turn
// to commit.
func (q *line) join(r *request) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, r)
	lead := !q.led
	q.led = true
	return lead
}

// take empties the line.
func (q *line) take() []*request {
	q.mu.Lock()
	last := q.last
	q.mu.Unlock()
	if last > 1 {
		// Those who were told together are just now coming back with their next
		// change: let them, or this batch is one change and the next all others.
		runtime.Gosched()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	batch := q.waiting
	q.waiting, q.last = nil, len(batch)
	return batch
}

// pass puts back those of a batch that are not finished, and lets the first in
// the line go on.
func (q *line) pass(batch []*request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if batch = slices.DeleteFunc(batch, (*request).finished); len(batch) > 0 {
		q.waiting = append(batch, q.waiting...)
	}
	if q.led = len(q.waiting) > 0; q.led {
		q.waiting[0].wake <- struct{}{}
	}
}

// baton is a lock that can be waited for beside other things.
type baton chan struct{}

func newBaton() baton { return make(baton, 1) }

func (b baton) Lock()   { b <- struct{}{} }
func (b baton) Unlock() { <-b }
func (b baton) TryLock() bool {
	select {
	case b <- struct{}{}:
		return true
	default:
		return false
	}
}
