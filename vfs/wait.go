// This file waits, with a time limit, for locks and for other actions of other processes.

package vfs

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// DefaultLockWait is the default maximum time for which the stores of this module wait for another process to release
// a lock.
const DefaultLockWait = 5 * time.Second

// Poll waits at least minLockRetryPause and at most maxLockRetryPause between two calls of the function that it
// repeats.
const (
	minLockRetryPause = 50 * time.Microsecond
	maxLockRetryPause = 4 * time.Millisecond
)

// Poll calls done repeatedly, with increasing pauses, until done returns true or an error. After the time limit, Poll
// returns false. If ctx ends, Poll returns the error of ctx.
func Poll(ctx context.Context, limit time.Duration, done func() (bool, error)) (bool, error) {
	start := time.Now()
	for pause := minLockRetryPause; ; pause = min(2*pause, maxLockRetryPause) {
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

// Sleep waits for the duration d. If ctx ends before this, Sleep returns the error of ctx.
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

// AcquireLock acquires the lock l. If the lock is held elsewhere, AcquireLock waits for the lock, but not longer than
// the parameter limit. If the lock is still held after this time, AcquireLock returns false without an error. The
// second result is the time that AcquireLock has waited.
func AcquireLock(ctx context.Context, l Lock, limit time.Duration) (ok bool, waited time.Duration, err error) {
	start := time.Now()
	w, wakes := l.(blockingLock)
	switch ok, err = l.TryLock(); {
	case ok || err != nil || limit <= 0:
	case wakes:
		until, end := context.WithTimeout(ctx, limit)
		defer end()
		ok, err = w.waitForLock(until)
		if ctx.Err() == nil && until.Err() != nil {
			// The caller's context is not done. Only the time limit has passed, for which the result is false without
			// an error.
			err = nil
		}
	default:
		ok, err = Poll(ctx, limit, l.TryLock)
	}
	return ok, time.Since(start), err
}

// A blockingLock is a Lock that can wait for the lock without polling. If a holder releases a lock and acquires it
// again immediately, a poller may have to wait forever.
type blockingLock interface {
	// waitForLock acquires the lock when it becomes free. If ctx ends before this, waitForLock returns the error of
	// ctx.
	waitForLock(ctx context.Context) (bool, error)
}

// WithLock runs the function that is passed as the argument do, while it holds the lock file lockName in the directory
// dirPath. It first creates the directory if necessary, and then acquires the lock. The argument maxWait is the maximum
// time to wait for the lock. If another process holds the lock for longer, WithLock returns false and does not run the
// function.
//
// Calls for the same file in the same process wait in a queue. One goroutine acquires the lock once for all waiting
// calls, and runs their functions one after another. Without the queue, thousands of calls would each occupy a thread
// that waits for the lock file. If the context of the first call cannot be canceled, this is the goroutine of the
// caller. The passed function must not call WithLock for the same file.
func WithLock(
	ctx context.Context,
	dirPath, lockName string,
	maxWait time.Duration,
	do func(dir *OS) error,
) (ok bool, err error) {
	full, err := filepath.Abs(dirPath)
	if err != nil {
		return false, err
	}
	call := &lockedCall{limit: maxWait, do: do, done: make(chan struct{})}
	queue := pathLockQueue(filepath.Join(full, lockName))
	isFirst := queue.add(call)
	switch {
	case isFirst && ctx.Done() == nil: // The caller waits in any case, so a new goroutine would only cost time.
		queue.runFirstCall(full, lockName)
	case isFirst:
		go queue.runWaitingCalls(full, lockName)
	}
	select {
	case <-call.done:
	case <-ctx.Done():
		if queue.remove(call) {
			return false, ctx.Err()
		}
		<-call.done // The function that was passed to WithLock is running, so wait until it returns.
	}
	return call.wasLockAcquired, call.err
}

// lockedCall is a call of WithLock. The fields wasLockAcquired and err are set before the channel done is closed.
type lockedCall struct {
	startTime       time.Time
	limit           time.Duration
	do              func(dir *OS) error
	done            chan struct{}
	wasLockAcquired bool
	err             error
}

// lockQueue contains the calls of this process that wait for the same lock file.
type lockQueue struct {
	mu        sync.Mutex
	calls     []*lockedCall
	isRunning bool // a goroutine is serving the queue
}

// lockQueues maps the absolute path of each lock file that this process has used to the file's *lockQueue.
var lockQueues sync.Map

func pathLockQueue(path string) *lockQueue {
	q, ok := lockQueues.Load(path)
	if !ok {
		q, _ = lockQueues.LoadOrStore(path, &lockQueue{})
	}
	return q.(*lockQueue)
}

// add appends a call to the queue. It reports whether the caller of add must start a goroutine that serves the queue.
func (q *lockQueue) add(call *lockedCall) (isFirst bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	call.startTime = time.Now()
	q.calls = append(q.calls, call)
	isFirst = !q.isRunning
	q.isRunning = true
	return isFirst
}

// remove removes a call from the queue if its function has not been called yet. It reports whether the call was
// removed.
func (q *lockQueue) remove(call *lockedCall) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.calls, call)
	if i >= 0 {
		q.calls = slices.Delete(q.calls, i, i+1)
	}
	return i >= 0
}

// takeCallsBefore removes the waiting calls that began at or before the time in the argument before, and returns these
// calls.
func (q *lockQueue) takeCallsBefore(before time.Time) []*lockedCall {
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

// stopIfEmpty sets isRunning to false if no call is waiting, and reports whether it did. If the result is true, the
// goroutine ends, so that the next call must start a new goroutine.
func (q *lockQueue) stopIfEmpty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.isRunning = len(q.calls) > 0
	return !q.isRunning
}

// firstCallMaxWait returns how long the first call in the queue waits for a process that has the lock.
func (q *lockQueue) firstCallMaxWait() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.calls) == 0 {
		return 0
	}
	return q.calls[0].limit
}

// runFirstCall acquires the lock once, and runs the waiting calls, including the first. If other calls are waiting
// afterwards, a new goroutine runs them.
func (q *lockQueue) runFirstCall(path, name string) {
	defer func() {
		if !q.stopIfEmpty() {
			go q.runWaitingCalls(path, name)
		}
	}()
	q.runCalls(path, name)
}

// runWaitingCalls runs the calls in the queue until the queue is empty.
func (q *lockQueue) runWaitingCalls(path, name string) {
	for {
		q.runCalls(path, name)
		if q.stopIfEmpty() {
			return
		}
	}
}

// runCalls acquires the lock for the calls in the queue, and runs their functions. All waiting calls are run together.
// runCalls releases the lock before these calls return to their callers. They also return if one of the functions
// panics.
func (q *lockQueue) runCalls(path, name string) {
	var calls []*lockedCall
	defer func() {
		for _, c := range calls {
			close(c.done)
		}
	}()
	start := time.Now()
	ok, err := withLock(path, name, q.firstCallMaxWait(), func(dir *OS) {
		calls = q.takeCallsBefore(time.Now())
		for _, c := range calls {
			c.wasLockAcquired, c.err = true, c.do(dir)
		}
	})
	// The lock was not acquired within the first call's limit. Only calls that were waiting at the start fail, because
	// later calls have not waited for their own limit yet.
	if !ok {
		calls = q.takeCallsBefore(start)
		for _, c := range calls {
			c.err = err
		}
	}
}

// withLock creates the directory at dirPath, and acquires the lock file lockName in this directory. While it holds the
// lock, it calls the function do. If the lock does not become free within the time limit, withLock returns false and
// does not call the function.
func withLock(dirPath, lockName string, maxWait time.Duration, do func(dir *OS)) (ok bool, err error) {
	d := takeOpenLockDir(dirPath, lockName)
	if d == nil {
		d, err = openLockDirAt(dirPath, lockName)
		if err != nil {
			return false, err
		}
	}
	isReusable := false
	defer func() {
		if isReusable {
			d.keepOpen()
		} else {
			d.close()
		}
	}()
	ok, _, err = AcquireLock(context.Background(), d.lock, maxWait)
	if err != nil || !ok {
		return false, err
	}
	do(d.dir)
	isReusable = d.lock.Unlock() == nil
	return true, nil
}
