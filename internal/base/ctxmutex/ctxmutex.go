// Package ctxmutex is a mutex whose waiting can end with a context.
package ctxmutex

import "context"

// Mutex is a mutex made by [New].
type Mutex chan struct{}

// New returns a mutex that is not locked.
func New() Mutex { return make(Mutex, 1) }

// Lock locks the mutex.
func (m Mutex) Lock() { m <- struct{}{} }

// Unlock unlocks the mutex, which must be locked.
func (m Mutex) Unlock() { <-m }

// TryLock locks the mutex if it is not locked, and reports whether it did.
func (m Mutex) TryLock() bool {
	select {
	case m <- struct{}{}:
		return true
	default:
		return false
	}
}

// LockContext locks the mutex, unless ctx is done before: then it returns the error of
// ctx. A mutex that is not locked it locks in any case.
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
