// Some calls read much of the memory. This file limits how many of these calls run at the same time.

package httpapi

import (
	"context"
	"runtime"
)

// heavyCallSemaphore is a semaphore for calls that read many entries of the memory, such as listing all entries. The
// limit leaves processors free for recalls. Without this limit, a one-millisecond recall that runs together with fifty
// listings would take a quarter of a second, because Go's scheduler runs each ready goroutine for up to 10 ms. A call
// releases the semaphore before its response is sent, so that a slow client does not block others.
type heavyCallSemaphore chan struct{}

// newHeavyCallLimit returns a limit that lets half as many calls run at once as the machine has processors.
func newHeavyCallLimit() heavyCallSemaphore {
	return make(heavyCallSemaphore, max(1, runtime.GOMAXPROCS(0)/2))
}

// acquireSlot waits until another call may run. The caller must call releaseSlot at the end of the call. If ctx is done
// during the wait, acquireSlot returns the error of ctx, and releaseSlot is nil.
func (t heavyCallSemaphore) acquireSlot(ctx context.Context) (releaseSlot func(), err error) {
	select {
	case t <- struct{}{}:
		return func() { <-t }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
