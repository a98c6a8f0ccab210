// This file waits for a server that asks for a pause.

package sharing

import (
	"context"
	"errors"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

// longestWait is the maximum total time that a run waits for a server.
const longestWait = 5 * time.Minute

var errLongWait = errors.New("the wait is too long")

// waiter waits as long as the server asks, up to longestWait in total.
type waiter struct {
	sleep  func(context.Context, time.Duration) error
	show   func(time.Duration) // called with the length of a wait, and with 0 at its end
	waited time.Duration
}

func newWaiter(sleep func(context.Context, time.Duration) error, show func(time.Duration)) *waiter {
	w := &waiter{sleep: sleep, show: show}
	if w.sleep == nil {
		w.sleep = vfs.Sleep
	}
	if w.show == nil {
		w.show = func(time.Duration) {}
	}
	return w
}

// wait implements the wait function of [remote.Options].
func (w *waiter) wait(ctx context.Context, d time.Duration) error {
	if w.waited+d > longestWait {
		return errLongWait
	}
	w.waited += d
	w.show(d)
	defer w.show(0)
	return w.sleep(ctx, d)
}
