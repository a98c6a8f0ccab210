// This file waits for a server that asks for a pause.

package sharing

import (
	"context"
	"errors"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

// maxTotalWait is the maximum total time that a run waits for a server.
const maxTotalWait = 5 * time.Minute

var errWaitTooLong = errors.New("the wait is too long")

// serverWaiter waits as long as the server asks, up to maxTotalWait in total.
type serverWaiter struct {
	sleep       func(context.Context, time.Duration) error
	showWait    func(time.Duration) // called with the length of a wait, and with 0 at its end
	totalWaited time.Duration
}

func newWaiter(sleep func(context.Context, time.Duration) error, show func(time.Duration)) *serverWaiter {
	w := &serverWaiter{sleep: sleep, showWait: show}
	if w.sleep == nil {
		w.sleep = vfs.Sleep
	}
	if w.showWait == nil {
		w.showWait = func(time.Duration) {}
	}
	return w
}

// waitFor implements the wait function of [remote.Options].
func (w *serverWaiter) waitFor(ctx context.Context, d time.Duration) error {
	if w.totalWaited+d > maxTotalWait {
		return errWaitTooLong
	}
	w.totalWaited += d
	w.showWait(d)
	defer w.showWait(0)
	return w.sleep(ctx, d)
}
