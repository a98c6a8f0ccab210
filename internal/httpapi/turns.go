// Some calls read much of the memory. This file limits how many of these calls run at the same time.

package httpapi

import (
	"context"
	"runtime"
)

// heavyCallLimit is a semaphore for calls that read many entries of the memory, such as listing all entries. The limit
// leaves processors free for recalls. Without this limit, a one-millisecond recall that runs together with fifty
// listings would take a quarter of a second, because Go's scheduler runs each ready goroutine for up to 10 ms. A call
// releases the semaphore before its response is sent, so that a slow client does not block others.
type heavyCallLimit chan struct{}

// newHeavyCallLimit returns a limit that lets half as many calls run at once as the machine has processors.
func newHeavyCallLimit() heavyCallLimit { return make(heavyCallLimit, max(1, runtime.GOMAXPROCS(0)/2)) }

// acquireTurn waits for a turn. It returns a function that the caller must call at the end of the turn.
func (t heavyCallLimit) acquireTurn(ctx context.Context) (endTurn func(), err error) {
	select {
	case t <- struct{}{}:
		return func() { <-t }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
