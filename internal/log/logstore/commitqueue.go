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
	ctx         context.Context
	stageChange func(g *batch) (*recordBody, error)

	// wake receives a value when the request is finished, or when its caller becomes the
	// leader. It is buffered, so that sending never blocks.
	wake   chan struct{}
	isDone bool // seq and err are set
	seq    uint64
	err    error

	// If this request made the change, these are set before done.
	writtenBody *recordBody // the body that was written (the state shares its entries)
	hash        [32]byte    // hash of the chain up to the change
}

func newCommitRequest(ctx context.Context, build func(g *batch) (*recordBody, error)) *commitRequest {
	return &commitRequest{ctx: ctx, stageChange: build, wake: make(chan struct{}, 1)}
}

// finishRequest sets the outcome and wakes the caller.
func (r *commitRequest) finishRequest(seq uint64, err error) {
	r.seq = seq
	r.err = err
	r.isDone = true
	r.wake <- struct{}{}
}

func (r *commitRequest) isFinished() bool { return r.isDone }

// commitQueue has the requests that wait. The caller of the first request in an empty queue becomes
// the leader. The leader commits all queued requests, and then makes the caller of the next request
// the leader.
type commitQueue struct {
	mu            sync.Mutex // guards all fields below
	requests      []*commitRequest
	hasLeader     bool // a caller is the leader
	lastBatchSize int  // size of the last batch
}

// enqueue appends the request and reports whether its caller is the leader.
func (q *commitQueue) enqueue(r *commitRequest) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.requests = append(q.requests, r)
	lead := !q.hasLeader
	q.hasLeader = true
	return lead
}

// takeAll removes all requests from the queue and returns them.
func (q *commitQueue) takeAll() []*commitRequest {
	q.mu.Lock()
	last := q.lastBatchSize
	q.mu.Unlock()
	if last > 1 {
		// The callers of the last batch return at about the same time, often with their next
		// change. Yield to these callers. Otherwise every second batch would have a single change.
		runtime.Gosched()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	batch := q.requests
	q.requests, q.lastBatchSize = nil, len(batch)
	return batch
}

// passLeadership returns a batch's unfinished requests to the queue, and makes the first queued
// request's caller the leader.
func (q *commitQueue) passLeadership(batch []*commitRequest) {
	q.mu.Lock()
	defer q.mu.Unlock()
	batch = slices.DeleteFunc(batch, (*commitRequest).isFinished)
	if len(batch) > 0 {
		q.requests = append(batch, q.requests...)
	}
	q.hasLeader = len(q.requests) > 0
	if q.hasLeader {
		q.requests[0].wake <- struct{}{}
	}
}
