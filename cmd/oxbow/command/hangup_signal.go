//go:build !js

// This file ends a run in an orderly way when its terminal is closed.

package command

import (
	"context"
	"os/signal"
	"syscall"
)

// untilHangup returns a context that also ends when the terminal of the process is closed. A
// process that ignores this, as under nohup, goes on ignoring it.
func untilHangup(ctx context.Context) (context.Context, func()) {
	if signal.Ignored(syscall.SIGHUP) {
		return ctx, func() {}
	}
	return signal.NotifyContext(ctx, syscall.SIGHUP)
}
