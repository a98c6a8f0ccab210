// Bounded waits.

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
			waited > time.Second+maxPause || err != nil {
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

// What waits for the lock of another open file is woken when that is released, gives up
// with its context and then keeps nothing, and takes the lock of the file that the name
// leads to by then.
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
		t.Cleanup(func() { l.Close() }) // an open file cannot be removed on Windows
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
	// wait begins to wait, and calls meanwhile.
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

	// What was left waiting gets the lock for a moment.
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

// isWaitedFor reports whether the system has somebody wait for the lock of a file; where
// it does not tell, it may be so.
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
		return true // Wine has /proc/locks, but no inodes
	}
	for line := range strings.Lines(string(locks)) {
		if strings.Contains(line, "-> FLOCK") && strings.Contains(line, fmt.Sprintf(":%d ", inode.Uint())) {
			return true
		}
	}
	return false
}

// WithLock makes the directory, holds the lock while its function runs, and gives up
// when another holder has it.
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
