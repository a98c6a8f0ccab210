// This file makes writers take turns at an entry after two of them changed the entry at the same time.

package oxbow

import (
	"context"
	"sync"

	"github.com/oxbow-memory/oxbow/internal/base/ctxmutex"
)

// editLocks has a lock for each entry name that is being edited again after a conflict. Without these locks, n
// goroutines that edit the same entry would conflict again and again, about n²/2 times.
type editLocks struct {
	mu    sync.Mutex
	locks map[string]*editLock
}

type editLock struct {
	mutex          ctxmutex.Mutex
	goroutineCount int // goroutines that have the lock or wait for it
}

// lock waits for the lock of a name and acquires it. It returns a function that releases the lock.
// If ctx is done first, lock returns the context's error.
func (l *editLocks) lock(ctx context.Context, name string) (unlock func(), err error) {
	l.mu.Lock()
	e := l.locks[name]
	if e == nil {
		e = &editLock{mutex: ctxmutex.New()}
		if l.locks == nil {
			l.locks = map[string]*editLock{}
		}
		l.locks[name] = e
	}
	e.goroutineCount++
	l.mu.Unlock()
	if err := e.mutex.LockContext(ctx); err != nil {
		l.dropIfUnused(name, e)
		return nil, err
	}
	return func() {
		e.mutex.Unlock()
		l.dropIfUnused(name, e)
	}, nil
}

// dropIfUnused records that the calling goroutine does not use the lock e any more. If no other goroutine uses e, it
// removes e from the locks.
func (l *editLocks) dropIfUnused(name string, e *editLock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.goroutineCount--
	if e.goroutineCount == 0 {
		delete(l.locks, name)
	}
}
