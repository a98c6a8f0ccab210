// Package ctxmutex provides a mutex. A goroutine that waits for the mutex can stop waiting when a context is done.
package ctxmutex

import "context"

// A Mutex is a mutual exclusion lock. Unlike a [sync.Mutex], it has a method [Mutex.LockContext], which stops waiting
// when a context is done. A Mutex must be created by [New].
type Mutex chan struct{}

// New returns a mutex that is not locked.
func New() Mutex { return make(Mutex, 1) }

func (m Mutex) Lock() { m <- struct{}{} }

// Unlock unlocks the mutex. If the mutex is not locked, Unlock waits until another goroutine locks it, and then unlocks
// it.
func (m Mutex) Unlock() { <-m }

// TryLock locks an unlocked mutex, and reports whether it succeeded.
func (m Mutex) TryLock() bool {
	select {
	case m <- struct{}{}:
		return true
	default:
		return false
	}
}

// LockContext locks the mutex, and waits if necessary. If ctx is done while LockContext waits, it returns the error of
// ctx. An unlocked mutex is locked even if ctx is already done.
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
