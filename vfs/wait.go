// This file waits with a time limit for locks and for other actions of other processes.

package vfs

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// DefaultLockWait is the default time that this module's stores wait for another
// process's lock.
const DefaultLockWait = 5 * time.Second

// The first and the longest pause between two calls of done in Poll.
const (
	minPause = 50 * time.Microsecond
	maxPause = 4 * time.Millisecond
)

// Poll calls done with growing pauses until it returns true or an error. It returns false
// after limit, and the error of ctx once ctx is done.
func Poll(ctx context.Context, limit time.Duration, done func() (bool, error)) (bool, error) {
	start := time.Now()
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		if ok, err := done(); ok || err != nil {
			return ok, err
		}
		if time.Since(start) >= limit {
			return false, nil
		}
		if err := Sleep(ctx, pause); err != nil {
			return false, err
		}
	}
}

// Sleep sleeps for the duration d. If ctx is done earlier, it returns the error of ctx.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// AcquireLock acquires a lock, and waits at most limit for another holder. If the lock is
// still not free then, it returns false. It also returns the time spent waiting.
func AcquireLock(ctx context.Context, l Lock, limit time.Duration) (ok bool, waited time.Duration, err error) {
	start := time.Now()
	w, wakes := l.(waiter)
	switch ok, err = l.TryLock(); {
	case ok || err != nil || limit <= 0:
	case wakes:
		until, end := context.WithTimeout(ctx, limit)
		defer end()
		ok, err = w.waitForLock(until)
		if ctx.Err() == nil && until.Err() != nil {
			err = nil // only the limit is over
		}
	default:
		ok, err = Poll(ctx, limit, l.TryLock)
	}
	return ok, time.Since(start), err
}

// A waiter is a Lock that can wait for the lock without polling. A poller may wait forever
// if a holder releases the lock and acquires it again at once.
type waiter interface {
	// waitForLock acquires the lock once it is free. If ctx is done first, it returns the error of
	// ctx.
	waitForLock(ctx context.Context) (bool, error)
}

// WithLock creates the directory at path and calls do while it holds the lock file of that
// name in the directory. It returns false if another process kept the lock for longer than
// limit.
//
// Calls for the same file within a process queue up. A goroutine acquires the lock once for
// all waiting calls, and runs their functions one after another. Without the queue, each of
// thousands of calls would occupy a thread that waits for the lock file. The function must not
// call WithLock for the same file.
func WithLock(
	ctx context.Context,
	path, name string,
	limit time.Duration,
	do func(dir *OS) error,
) (ok bool, err error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return false, err
	}
	call := &lockedCall{limit: limit, do: do, done: make(chan struct{})}
	queue := pathLockQueue(filepath.Join(full, name))
	if isFirst := queue.add(call); isFirst {
		go queue.serve(full, name)
	}
	select {
	case <-call.done:
	case <-ctx.Done():
		if queue.remove(call) {
			return false, ctx.Err()
		}
		<-call.done // it is running
	}
	return call.ok, call.err
}

// lockedCall is a call of WithLock. The fields ok and err are set before done is closed.
type lockedCall struct {
	startTime time.Time
	limit     time.Duration
	do        func(dir *OS) error
	done      chan struct{}
	ok        bool
	err       error
}

// lockQueue contains the calls of this process that wait for the same lock file.
type lockQueue struct {
	mu        sync.Mutex
	calls     []*lockedCall
	isRunning bool // a goroutine serves the queue
}

// lockQueues maps the absolute path of each lock file that this process has used to its
// *lockQueue.
var lockQueues sync.Map

func pathLockQueue(path string) *lockQueue {
	q, ok := lockQueues.Load(path)
	if !ok {
		q, _ = lockQueues.LoadOrStore(path, &lockQueue{})
	}
	return q.(*lockQueue)
}

// add appends a call and reports whether its caller must start a goroutine that serves the
// queue.
func (q *lockQueue) add(call *lockedCall) (isFirst bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	call.startTime = time.Now()
	q.calls = append(q.calls, call)
	isFirst = !q.isRunning
	q.isRunning = true
	return isFirst
}

// remove removes a call that has not begun, and reports whether it did.
func (q *lockQueue) remove(call *lockedCall) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.calls, call)
	if i >= 0 {
		q.calls = slices.Delete(q.calls, i, i+1)
	}
	return i >= 0
}

// takeBefore removes and returns the waiting calls that began before a time.
func (q *lockQueue) takeBefore(before time.Time) []*lockedCall {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 0
	for n < len(q.calls) && !q.calls[n].startTime.After(before) {
		n++
	}
	calls := q.calls[:n:n]
	q.calls = q.calls[n:]
	return calls
}

// stopIfEmpty reports whether no call waits. If so, the next call starts a new goroutine.
func (q *lockQueue) stopIfEmpty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.isRunning = len(q.calls) > 0
	return !q.isRunning
}

// firstLimit returns how long the first waiting call waits for another process.
func (q *lockQueue) firstLimit() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.calls) == 0 {
		return 0
	}
	return q.calls[0].limit
}

// serve serves the queue until it is empty. The lock is released before a batch's callers
// continue.
func (q *lockQueue) serve(path, name string) {
	for {
		var calls []*lockedCall
		start := time.Now()
		ok, err := withLock(path, name, q.firstLimit(), func(dir *OS) {
			calls = q.takeBefore(time.Now())
			for _, c := range calls {
				c.ok, c.err = true, c.do(dir)
			}
		})
		if !ok { // the calls that came later have not waited for their limit yet
			calls = q.takeBefore(start)
			for _, c := range calls {
				c.err = err
			}
		}
		for _, c := range calls {
			close(c.done)
		}
		if q.stopIfEmpty() {
			return
		}
	}
}

// withLock creates the directory at path and calls do while it holds the lock file. It
// returns false if the lock was not free within limit.
func withLock(path, name string, limit time.Duration, do func(dir *OS)) (ok bool, err error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return false, err
	}
	dir, err := Dir(path)
	if err != nil {
		return false, err
	}
	defer dir.Close()
	l, err := dir.OpenLock(name)
	if err != nil {
		return false, err
	}
	defer l.Close()
	ok, _, err = AcquireLock(context.Background(), l, limit)
	if err != nil || !ok {
		return false, err
	}
	do(dir)
	return true, nil
}
