// Bounded waits: for a lock, and for anything else another process does.

package vfs

import (
	"context"
	"os"
	"time"
)

// DefaultLockWait is how long the stores of this module wait for the lock of another
// process, where their options do not say.
const DefaultLockWait = 5 * time.Second

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
		if err := Sleep(ctx, pause); err != nil {
			return false, err
		}
	}
}

// Sleep returns after the time, or with the error of ctx at its end.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// AcquireLock takes a lock, waiting at most limit for another holder. If that
// was not long enough, it returns false and the time it waited.
func AcquireLock(ctx context.Context, l Lock, limit time.Duration) (ok bool, waited time.Duration, err error) {
	start := time.Now()
	w, wakes := l.(waiter)
	switch ok, err = l.TryLock(); {
	case ok || err != nil || limit <= 0:
	case wakes:
		until, end := context.WithTimeout(ctx, limit)
		defer end()
		ok, err = w.wait(until)
		if err != nil && ctx.Err() == nil && until.Err() != nil {
			err = nil
		}
	default:
		ok, err = Poll(ctx, limit, l.TryLock)
	}
	return ok, time.Since(start), err
}

// waiter is a Lock that the system can wake a waiter of. To poll instead is to be passed
// by a holder that takes it again at once, for as long as that goes on.
type waiter interface {
	// wait takes the lock once it is free, or returns the error of ctx when that is done
	// before.
	wait(ctx context.Context) (bool, error)
}

// WithLock makes a directory of the system, and calls do while it holds the lock of
// that name there. If limit was not long enough to get the lock, it returns false.
func WithLock(ctx context.Context, path, name string, limit time.Duration, do func(dir *OS) error) (ok bool, err error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return false, err
	}
	dir, err := Dir(path)
	if err != nil {
		return false, err
	}
	defer dir.Close()
	l, err := dir.OpenLock(name)
	if err != nil {
		return false, err
	}
	defer l.Close()
	ok, _, err = AcquireLock(ctx, l, limit)
	if err != nil || !ok {
		return false, err
	}
	return true, do(dir)
}
