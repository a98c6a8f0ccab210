// Package ctxmutex provides a mutex that a goroutine can wait for until a context is done.
package ctxmutex

import "context"

// A Mutex is a mutex. It must be created by [New].
type Mutex chan struct{}

// New returns a mutex that is not locked.
func New() Mutex { return make(Mutex, 1) }

// Lock locks the mutex.
func (m Mutex) Lock() { m <- struct{}{} }

// Unlock unlocks the mutex, which must be locked.
func (m Mutex) Unlock() { <-m }

// TryLock locks the mutex if it is unlocked, and reports whether it succeeded.
func (m Mutex) TryLock() bool {
	select {
	case m <- struct{}{}:
		return true
	default:
		return false
	}
}

// LockContext locks the mutex. It returns the error of ctx if ctx is done first. If the mutex is
// unlocked, LockContext locks it even if ctx is done.
func (m Mutex) LockContext(ctx context.Context) error {
	if m.TryLock() {
		return nil
	}
	select {
	case m <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
