// This file waits for a server that asks the client to try again later.

package sharing

import (
	"context"
	"errors"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

// maxTotalWait is the maximum time for which one call waits for a server in total.
const maxTotalWait = 5 * time.Minute

var errWaitTooLong = errors.New("the wait is too long")

// serverRetryWaiter waits for the times that a server asks for, but for no more than maxTotalWait in total.
type serverRetryWaiter struct {
	sleep func(context.Context, time.Duration) error
	// shows the person how long the program waits for the server; called with 0 when the wait ends
	showWait    func(time.Duration)
	totalWaited time.Duration
}

func newServerRetryWaiter(
	sleep func(context.Context, time.Duration) error,
	showWait func(time.Duration),
) *serverRetryWaiter {
	w := &serverRetryWaiter{sleep: sleep, showWait: showWait}
	if w.sleep == nil {
		w.sleep = vfs.Sleep
	}
	if w.showWait == nil {
		w.showWait = func(time.Duration) {}
	}
	return w
}

// waitFor shows the wait to the person and waits for the time d, after which the client asks the server again. If all
// waits together would take longer than maxTotalWait, it returns errWaitTooLong immediately. waitFor is used as
// [remote.Options.WaitForServer].
func (w *serverRetryWaiter) waitFor(ctx context.Context, d time.Duration) error {
	if w.totalWaited+d > maxTotalWait {
		return errWaitTooLong
	}
	w.totalWaited += d
	w.showWait(d)
	defer w.showWait(0)
	return w.sleep(ctx, d)
}
