// Tests of the queue of calls that wait for the same lock file.

package vfs_test

import (
	"context"
	"errors"
	"path/filepath"
	"runtime/pprof"
	"sync"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

// TestWithLockQueue tests that many calls of a process run one after another, and that only one of them waits for the
// lock file.
func TestWithLockQueue(t *testing.T) {
	dir := t.TempDir()
	holder, err := vfs.Dir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	l, err := holder.OpenLock("lock")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if ok, err := l.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	const calls = 500
	threads := pprof.Lookup("threadcreate")
	before := threads.Count()
	ran, inside := 0, 0
	var wg sync.WaitGroup
	for range calls {
		wg.Go(func() {
			ok, err := vfs.WithLock(t.Context(), dir, "lock", time.Minute, func(*vfs.OS) error {
				inside++
				if inside != 1 {
					t.Error("two calls run at once")
				}
				ran++
				inside--
				return nil
			})
			if !ok || err != nil {
				t.Error(ok, err)
			}
		})
	}
	if err := l.Unlock(); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	if ran != calls {
		t.Errorf("%d of %d calls ran", ran, calls)
	}
	if made := threads.Count() - before; made > calls/4 {
		t.Errorf("%d calls made %d threads", calls, made)
	}
}

// TestWithLockEnds tests that WithLock returns without calling the given function if the lock is already held. If the
// context is canceled, WithLock must return false and the error context.Canceled. If the lock cannot be acquired within
// the time limit, WithLock must return false without an error. If the directory cannot be created, WithLock must return
// an error.
func TestWithLockEnds(t *testing.T) {
	dir := t.TempDir()
	holder, err := vfs.Dir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	l, err := holder.OpenLock("lock")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if ok, err := l.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	never := func(*vfs.OS) error { t.Error("the call ran"); return nil }
	if ok, err := vfs.WithLock(ctx, dir, "lock", time.Minute, never); ok || !errors.Is(err, context.Canceled) {
		t.Errorf("a call with a context that has ended returns %v, %v", ok, err)
	}
	if err := l.Unlock(); err != nil {
		t.Fatal(err)
	}
	if ok, err := vfs.WithLock(t.Context(), dir, "lock", time.Minute, func(*vfs.OS) error {
		return nil
	}); !ok || err != nil {
		t.Errorf("the next call returns %v, %v", ok, err)
	}
	if ok, err := l.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if ok, err := vfs.WithLock(t.Context(), dir, "lock", time.Millisecond, never); ok || err != nil {
		t.Errorf("a call that did not get the lock returns %v, %v", ok, err)
	}
	if ok, err := vfs.WithLock(t.Context(), filepath.Join(dir, "lock"), "x", time.Millisecond, never); ok ||
		err == nil {
		t.Errorf("a call in a directory that cannot be made returns %v, %v", ok, err)
	}
}
