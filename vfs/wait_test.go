// Bounded waits.

package vfs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
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

// WithLock makes the directory, holds the lock while its function runs, and gives up
// when another holder has it.
func TestWithLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "made")
	failed := errors.New("failed")
	ok, err := WithLock(t.Context(), path, "l", 0, func(dir *OS) error {
		if again, err := WithLock(t.Context(), path, "l", time.Millisecond, func(*OS) error { return failed }); again || err != nil {
			t.Errorf("WithLock = %v, %v while the lock is held, want false", again, err)
		}
		return WriteFile(dir, "f", []byte("x"), 0o600)
	})
	if !ok || err != nil {
		t.Fatalf("WithLock = %v, %v, want true", ok, err)
	}
	if ok, err := WithLock(t.Context(), path, "l", 0, func(*OS) error { return failed }); !ok || err != failed {
		t.Errorf("WithLock = %v, %v after it was released, want true and the error of the function", ok, err)
	}
	if b, err := os.ReadFile(filepath.Join(path, "f")); string(b) != "x" || err != nil {
		t.Errorf("the directory holds %q, %v", b, err)
	}
}
