// This file implements the queue of group commit. The caller of one waiting request is the leader.
// The leader commits all waiting requests.

package logstore

import (
	"context"
	"runtime"
	"slices"
	"sync"
)

// commitRequest is a change that waits to be committed.
type commitRequest struct {
	ctx   context.Context
	build func(g *batch) (*body, error)

	// wake receives a value when the request is finished, or when its caller becomes the
	// leader. It is buffered, so that sending never blocks.
	wake chan struct{}
	done bool // seq and err are set
	seq  uint64
	err  error

	// If this request made the change, these are set before done.
	written *body    // the body that was written (the state shares its entries)
	hash    [32]byte // hash of the chain up to the change
}

func newCommitRequest(ctx context.Context, build func(g *batch) (*body, error)) *commitRequest {
	return &commitRequest{ctx: ctx, build: build, wake: make(chan struct{}, 1)}
}

// finish sets the outcome and wakes the caller.
func (r *commitRequest) finish(seq uint64, err error) {
	r.seq = seq
	r.err = err
	r.done = true
	r.wake <- struct{}{}
}

func (r *commitRequest) isFinished() bool { return r.done }

// commitQueue has the requests that wait. The caller of the first request in an empty queue becomes
// the leader. The leader commits all queued requests, and then makes the caller of the next request
// the leader.
type commitQueue struct {
	mu        sync.Mutex // guards all fields below
	waiting   []*commitRequest
	hasLeader bool // a caller is the leader
	last      int  // size of the last batch
}

// enqueue appends the request and reports whether its caller is the leader.
func (q *commitQueue) enqueue(r *commitRequest) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, r)
	lead := !q.hasLeader
	q.hasLeader = true
	return lead
}

// take empties the queue.
func (q *commitQueue) take() []*commitRequest {
	q.mu.Lock()
	last := q.last
	q.mu.Unlock()
	if last > 1 {
		// The callers of the last batch return at about the same time, often with their next
		// change. Yield to these callers. Otherwise every second batch would have a single change.
		runtime.Gosched()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	batch := q.waiting
	q.waiting, q.last = nil, len(batch)
	return batch
}

// handOff returns a batch's unfinished requests to the queue, and makes the first queued
// request's caller the leader.
func (q *commitQueue) handOff(batch []*commitRequest) {
	q.mu.Lock()
	defer q.mu.Unlock()
	batch = slices.DeleteFunc(batch, (*commitRequest).isFinished)
	if len(batch) > 0 {
		q.waiting = append(batch, q.waiting...)
	}
	q.hasLeader = len(q.waiting) > 0
	if q.hasLeader {
		q.waiting[0].wake <- struct{}{}
	}
}
