// Waiting for a server that has too much to do.

package sharing

import (
	"context"
	"errors"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

// longestWait is how long one run waits for a server, all waits together.
const longestWait = 5 * time.Minute

var errLongWait = errors.New("the wait is too long")

// waiter waits as long as the server asks for, within a bound.
type waiter struct {
	sleep  func(context.Context, time.Duration) error
	show   func(time.Duration) // that it waits, and 0 that it goes on
	waited time.Duration
}

func newWaiter(by func(context.Context, time.Duration) error, show func(time.Duration)) *waiter {
	w := &waiter{sleep: by, show: show}
	if w.sleep == nil {
		w.sleep = vfs.Sleep
	}
	if w.show == nil {
		w.show = func(time.Duration) {}
	}
	return w
}

// wait is of [remote.Options].
func (w *waiter) wait(ctx context.Context, d time.Duration) error {
	if w.waited+d > longestWait {
		return errLongWait
	}
	w.waited += d
	w.show(d)
	defer w.show(0)
	return w.sleep(ctx, d)
}
