// Turns: how many calls whose work grows with the memory are made at once.

package httpapi

import (
	"context"
	"runtime"
)

// turns bounds the calls that read much, so that a burst of lists leaves processors to
// recalls: Go gives all that is ready to run its 10 ms in turn, and with fifty lists at
// once a recall of a millisecond takes a quarter of a second. A turn ends before the
// answer is sent, so that a slow reader holds none.
type turns chan struct{}

// newTurns returns turns for half of the processors.
func newTurns() turns { return make(turns, max(1, runtime.GOMAXPROCS(0)/2)) }

// take waits for a turn, and returns the function that ends it.
func (t turns) take(ctx context.Context) (end func(), err error) {
	select {
	case t <- struct{}{}:
		return func() { <-t }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
