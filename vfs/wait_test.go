// Bounded waits.

package vfs

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestAcquireLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMem()
		open := func() Lock {
			l, err := m.OpenLock("x.lock")
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
		one, two := open(), open()
		if ok, waited, err := AcquireLock(t.Context(), one, time.Second); !ok || waited != 0 || err != nil {
			t.Errorf("a free lock: %v after %v, %v", ok, waited, err)
		}
		if ok, waited, err := AcquireLock(t.Context(), two, time.Second); ok || waited < time.Second || waited > time.Second+lastPause || err != nil {
			t.Errorf("a held lock: %v after %v, %v", ok, waited, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if ok, _, err := AcquireLock(ctx, two, time.Second); ok || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a held lock, with a deadline: %v, %v", ok, err)
		}
		time.AfterFunc(300*time.Millisecond, func() { _ = one.Unlock() })
		if ok, waited, err := AcquireLock(t.Context(), two, time.Second); !ok || waited < 300*time.Millisecond || err != nil {
			t.Errorf("a lock released later: %v after %v, %v", ok, waited, err)
		}
	})
}
