// This file limits how many expensive calls run at the same time.

package httpapi

import (
	"context"
	"runtime"
)

// heavyCallLimit is a semaphore for calls that read much of the memory. It keeps processors free for
// recalls: Go's scheduler gives every ready goroutine 10 ms, so that among fifty lists a
// recall of one millisecond would take a quarter of a second. A turn ends before the
// response is sent, so that a slow client does not occupy it.
type heavyCallLimit chan struct{}

// newHeavyCallLimit returns a semaphore with half as many turns as there are processors.
func newHeavyCallLimit() heavyCallLimit { return make(heavyCallLimit, max(1, runtime.GOMAXPROCS(0)/2)) }

// acquire waits for a turn, and returns a function that ends it.
func (t heavyCallLimit) acquire(ctx context.Context) (end func(), err error) {
	select {
	case t <- struct{}{}:
		return func() { <-t }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
