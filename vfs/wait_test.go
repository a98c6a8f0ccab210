// Tests of waiting with a time limit.

package vfs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
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
		if ok, waited, err := AcquireLock(t.Context(), two, time.Second); ok || waited < time.Second ||
			waited > time.Second+maxLockRetryPause || err != nil {
			t.Errorf("a held lock: %v after %v, %v", ok, waited, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if ok, _, err := AcquireLock(ctx, two, time.Second); ok || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a held lock, with a deadline: %v, %v", ok, err)
		}
		time.AfterFunc(300*time.Millisecond, func() { _ = one.Unlock() })
		if ok, waited, err := AcquireLock(t.Context(), two, time.Second); !ok || waited < 300*time.Millisecond ||
			err != nil {
			t.Errorf("a lock released later: %v after %v, %v", ok, waited, err)
		}
	})
}

// TestWaitForLock tests a Lock that waits for the lock that another open file holds. It must acquire the lock when the
// other file releases it. If its context ends, it must stop waiting and not hold the lock afterwards. If the lock file
// was replaced, it must acquire the lock of the new file.
func TestWaitForLock(t *testing.T) {
	dir, err := Dir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	open := func() Lock {
		l, err := dir.OpenLock("x.lock")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() }) // On Windows, an open file cannot be removed.
		return l
	}
	holder, other := open(), open()
	hold := func() {
		t.Helper()
		if ok, err := holder.TryLock(); !ok || err != nil {
			t.Fatalf("TryLock = %v, %v of a free lock", ok, err)
		}
	}
	release := func(l Lock) {
		t.Helper()
		if err := l.Unlock(); err != nil {
			t.Error(err)
		}
	}
	// wait starts to wait for the lock, and calls the function meanwhile during this time.
	wait := func(ctx context.Context, meanwhile func()) (bool, error) {
		type result struct {
			ok  bool
			err error
		}
		done := make(chan result)
		go func() {
			ok, _, err := AcquireLock(ctx, other, time.Minute)
			done <- result{ok, err}
		}()
		for !isWaitedFor(t, dir, "x.lock") {
			runtime.Gosched()
		}
		meanwhile()
		r := <-done
		return r.ok, r.err
	}
	hold()
	if ok, err := wait(t.Context(), func() { release(holder) }); !ok || err != nil {
		t.Errorf("a lock that is released: %v, %v", ok, err)
	}
	if ok, err := holder.TryLock(); ok || err != nil {
		t.Errorf("TryLock = %v, %v of a lock that was waited for", ok, err)
	}
	release(other)

	hold()
	ctx, end := context.WithCancel(t.Context())
	if ok, err := wait(ctx, end); ok || !errors.Is(err, context.Canceled) {
		t.Errorf("a lock that is held to the end of the context: %v, %v", ok, err)
	}
	release(holder)
	if ok, _, err := AcquireLock(t.Context(), other, time.Minute); !ok || err != nil {
		t.Errorf("a lock that is free after that: %v, %v", ok, err)
	}
	release(other)

	// Test a lock whose file is replaced. holder must wait here, because the wait that was canceled above acquires the
	// lock for a moment before it stops.
	if ok, _, err := AcquireLock(t.Context(), holder, time.Minute); !ok || err != nil {
		t.Fatalf("a lock that is free again: %v, %v", ok, err)
	}
	ok, err := wait(t.Context(), func() {
		if err := dir.Remove("x.lock"); err != nil {
			t.Error(err)
		}
		release(holder)
	})
	if !ok || err != nil {
		t.Errorf("a lock whose file was replaced: %v, %v", ok, err)
	}
	if ok, err := open().TryLock(); ok || err != nil {
		t.Errorf("TryLock = %v, %v: the lock is not of the file that the name leads to", ok, err)
	}
}

// isWaitedFor reports whether a process is waiting for the lock of a file. If the operating system does not report
// this, isWaitedFor returns true.
func isWaitedFor(t *testing.T, dir *OS, name string) bool {
	t.Helper()
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		return true
	}
	info, err := dir.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	inode := reflect.ValueOf(info.Sys()).Elem().FieldByName("Ino")
	if !inode.IsValid() {
		return true // Wine has /proc/locks, but its lines contain no inodes.
	}
	for line := range strings.Lines(string(locks)) {
		if strings.Contains(line, "-> FLOCK") && strings.Contains(line, fmt.Sprintf(":%d ", inode.Uint())) {
			return true
		}
	}
	return false
}

// TestWithLock tests that WithLock creates the directory and holds the lock while the given function runs. WithLock
// must return the error of this function. It must release the lock, so that the next call succeeds.
func TestWithLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "made")
	failed := errors.New("failed")
	ok, err := WithLock(t.Context(), path, "l", 0, func(dir *OS) error {
		l, err := dir.OpenLock("l")
		if err != nil {
			return err
		}
		defer l.Close()
		if again, err := l.TryLock(); again || err != nil {
			t.Errorf("TryLock = %v, %v while the lock is held, want false", again, err)
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
