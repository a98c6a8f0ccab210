// Bounded waits: for a lock, and for anything else another process does.

package vfs

import (
	"context"
	"time"
)

// Pauses between two tries of Poll.
const (
	firstPause = 50 * time.Microsecond
	lastPause  = 4 * time.Millisecond
)

// Poll calls done, with growing pauses, until it reports true or fails. After
// limit it returns false; after the end of ctx, its error.
func Poll(ctx context.Context, limit time.Duration, done func() (bool, error)) (bool, error) {
	start := time.Now()
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		if ok, err := done(); ok || err != nil {
			return ok, err
		}
		if time.Since(start) >= limit {
			return false, nil
		}
		t := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			t.Stop()
			return false, ctx.Err()
		case <-t.C:
		}
	}
}

// AcquireLock takes a lock, waiting at most limit for another holder. If that
// was not long enough, it returns false and the time it waited.
func AcquireLock(ctx context.Context, l Lock, limit time.Duration) (ok bool, waited time.Duration, err error) {
	start := time.Now()
	ok, err = Poll(ctx, limit, l.TryLock)
	return ok, time.Since(start), err
}
