// This file implements the queue of group commit. The caller of one waiting request is the leader, which commits all
// waiting requests.

package logstore

import (
	"context"
	"runtime"
	"slices"
	"sync"
)

// commitRequest is a call's request to commit a change.
type commitRequest struct {
	ctx         context.Context
	stageChange func(g *commitBatch) (*recordBody, error)

	// wake receives a value when the request is finished, or when its caller must commit all waiting requests. The
	// channel is buffered, so that the sender never waits.
	wake   chan struct{}
	isDone bool // The request is finished, and seq and err are set.
	seq    uint64
	err    error

	// The fields below describe the change that the request has made. They are set before isDone is set. They are not
	// set if the request failed or repeated an earlier change.
	writtenBody *recordBody // written change, whose entries the store now also uses, so they must not be modified
	chainHash   [32]byte    // hash of the chain after the change
}

func newCommitRequest(ctx context.Context, stageChange func(g *commitBatch) (*recordBody, error)) *commitRequest {
	return &commitRequest{ctx: ctx, stageChange: stageChange, wake: make(chan struct{}, 1)}
}

// finishRequest sets the result of the request and wakes its caller.
func (r *commitRequest) finishRequest(seq uint64, err error) {
	r.seq = seq
	r.err = err
	r.isDone = true
	r.wake <- struct{}{}
}

func (r *commitRequest) isFinished() bool { return r.isDone }

// commitQueue contains the waiting requests. If the queue is empty and lacks a leader, the caller of the next request
// becomes the leader. The leader commits all waiting requests. Then it makes the caller of the next request the
// leader.
type commitQueue struct {
	mu            sync.Mutex // guards all fields below
	requests      []*commitRequest
	hasLeader     bool // One caller is the leader now.
	lastBatchSize int  // number of requests in the last batch
}

// enqueue adds a change request. It returns true if no other caller is writing. The caller must then commit all
// waiting requests.
func (q *commitQueue) enqueue(r *commitRequest) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.requests = append(q.requests, r)
	lead := !q.hasLeader
	q.hasLeader = true
	return lead
}

// takeAllRequests removes all change requests from the queue and returns them.
func (q *commitQueue) takeAllRequests() []*commitRequest {
	q.mu.Lock()
	last := q.lastBatchSize
	q.mu.Unlock()
	if last > 1 {
		// The callers of the last batch return at about the same time and often make their next change at once. Let
		// them run first. Otherwise every second batch would have only one change.
		runtime.Gosched()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	batch := q.requests
	q.requests, q.lastBatchSize = nil, len(batch)
	return batch
}

// passLeadership puts the batch's unfinished requests back into the queue, and makes the caller of the first waiting
// request the leader.
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
