// This file tests a mutex for which a goroutine waits no longer than its context allows.

package ctxmutex_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/oxbow-memory/oxbow/internal/base/ctxmutex"
)

// TestMutex checks that only one goroutine has the mutex at a time, and that another goroutine waits for the mutex or
// for its own context.
func TestMutex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := ctxmutex.New()
		m.Lock()
		if m.TryLock() {
			t.Fatal("TryLock took a mutex that was locked")
		}
		ctx, end := context.WithCancel(t.Context())
		done := make(chan error)
		for _, c := range []context.Context{ctx, t.Context()} {
			go func() { done <- m.LockContext(c) }()
		}
		synctest.Wait()
		end()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("LockContext = %v, want canceled", err)
		}
		m.Unlock()
		if err := <-done; err != nil {
			t.Errorf("LockContext = %v when the mutex was unlocked", err)
		}
		if m.TryLock() {
			t.Error("TryLock took a mutex that LockContext has")
		}
		m.Unlock()
		if err := m.LockContext(ctx); err != nil {
			t.Errorf("LockContext = %v of a mutex that nobody has", err)
		}
	})
}
