// This file implements locks by the browser's Web Locks: the locks for package vfs, and locks that keep the bytes of
// removed files while they are open.

package browser

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"syscall/js"

	"github.com/oxbow-memory/oxbow/vfs"
)

// These are the modes of a Web Lock, as the browser names them.
const (
	lockModeShared    = "shared"
	lockModeExclusive = "exclusive"
)

// openFileLockName returns the name of the Web Lock that tells whether a file is open. Each page that has the file open
// holds this lock in mode shared. A page that deletes the bytes of the file first takes the lock in mode exclusive, so
// that no page has the file open. When a page ends, the browser releases its locks, so a page that ended does not
// prevent the deletion.
func (f *FS) openFileLockName(ino float64) string {
	return fmt.Sprintf("oxbow/%s/open/%.0f", f.name, ino)
}

// vfsLockName returns the name of the Web Lock (a lock of the browser) that implements the vfs.Lock of a file. ino is
// the file's inode number.
func (f *FS) vfsLockName(ino float64) string { return fmt.Sprintf("oxbow/%s/lock/%.0f", f.name, ino) }

// acquiredLock is a Web Lock that this page has acquired. The browser keeps the lock until the promise of the lock
// request is fulfilled (see fulfilPromise).
type acquiredLock struct {
	fileSystem          *FS
	freeOnce            sync.Once
	fulfilPromise       js.Value
	releasedChan        chan struct{} // closed as soon as the browser has released the lock
	releaseHandlersOnce sync.Once
	handlers            []js.Func
}

// acquireWebLock requests a Web Lock. If wait is true, acquireWebLock waits until the browser grants the lock. If wait
// is false and another holder has the lock, acquireWebLock returns at once, without the lock. The result isHeld reports
// whether the lock was granted.
func (f *FS) acquireWebLock(name, mode string, wait bool) (h *acquiredLock, isHeld bool, err error) {
	if f.isClosed.Load() {
		return nil, false, errClosed
	}
	h = &acquiredLock{fileSystem: f, releasedChan: make(chan struct{})}
	// Make room for two answers, because the browser may first grant the lock and later report that the request
	// failed. Nobody would read the second answer.
	granted := make(chan asyncAnswer, 2)
	fn := func(fn func(args []js.Value) any) js.Func {
		handler := js.FuncOf(func(_ js.Value, args []js.Value) any { return fn(args) })
		h.handlers = append(h.handlers, handler)
		return handler
	}
	executor := fn(func(args []js.Value) any {
		h.fulfilPromise = args[0]
		return nil
	})
	callback := fn(func(args []js.Value) any {
		var keep any
		if !args[0].IsNull() {
			keep = js.Global().Get("Promise").New(executor)
		}
		granted <- asyncAnswer{value: args[0]}
		return keep
	})
	options := map[string]any{"mode": mode, "ifAvailable": !wait}
	request, err := callMethod(f.lockManager, "request", name, options, callback)
	if err != nil {
		h.releaseHandlers()
		return nil, false, fmt.Errorf("asking for a Web Lock: %w", err)
	}
	request.Call("then", fn(func([]js.Value) any {
		close(h.releasedChan)
		return nil
	}), fn(func(args []js.Value) any {
		granted <- asyncAnswer{err: browserError(args[0])}
		close(h.releasedChan)
		return nil
	}))
	a := <-granted
	if a.err != nil || a.value.IsNull() {
		<-h.releasedChan
		h.releaseHandlers()
		if a.err != nil {
			return nil, false, fmt.Errorf("asking for a Web Lock: %w", a.err)
		}
		return nil, false, nil
	}
	f.mu.Lock()
	f.heldLocks[h] = true
	f.mu.Unlock()
	// Close may have run while the lock was requested. It has not released this lock, so release the lock here.
	if f.isClosed.Load() {
		h.releaseAndWait()
		return nil, false, errClosed
	}
	return h, true, nil
}

// startRelease tells the browser to release the lock, and returns at once.
func (h *acquiredLock) startRelease() { h.freeOnce.Do(func() { h.fulfilPromise.Invoke() }) }

// releaseAndWait tells the browser to release the lock, and waits until others can take it.
func (h *acquiredLock) releaseAndWait() {
	h.fileSystem.mu.Lock()
	delete(h.fileSystem.heldLocks, h)
	h.fileSystem.mu.Unlock()
	h.startRelease()
	<-h.releasedChan
	h.releaseHandlers()
}

// releaseHandlers releases the JavaScript handlers of the lock. It must be called only when the browser does not need
// the handlers any more.
func (h *acquiredLock) releaseHandlers() {
	h.releaseHandlersOnce.Do(func() {
		for _, fn := range h.handlers {
			fn.Release()
		}
	})
}

// maxLockTries limits how often TryLock looks up its lock file while other tabs keep replacing the file.
const maxLockTries = 100

// lock implements vfs.Lock by a Web Lock.
type lock struct {
	fileSystem *FS
	name       string

	mu       sync.Mutex // mu guards the fields below.
	heldLock *acquiredLock
	isClosed bool
}

var _ vfs.Lock = (*lock)(nil)

// OpenLock opens the lock file with this name. If the file does not exist, OpenLock creates it with permission 0600.
// The holder of the lock may write its name into the file.
func (f *FS) OpenLock(name string) (vfs.Lock, error) {
	l := &lock{fileSystem: f, name: name}
	if err := vfs.CheckName("lock", name); err != nil {
		return nil, err
	}
	if _, err := l.lockedNodeNumber(); err != nil {
		return nil, pathError("lock", name, err)
	}
	return l, nil
}

// lockedNodeNumber returns the node number of the lock file. If the file does not exist, it is created.
func (l *lock) lockedNodeNumber() (float64, error) {
	if l.name == "." {
		return 0, errNotRegular
	}
	n, err := l.fileSystem.findOrCreate(l.name, 0, 0)
	if errors.Is(err, fs.ErrNotExist) {
		n, err = l.fileSystem.findOrCreate(l.name, os.O_RDWR|os.O_CREATE, 0o600)
	}
	if err == nil && n.isDir() {
		err = errNotRegular
	}
	return n.number, err
}

// TryLock takes the lock if nobody holds it. The result reports whether it took the lock. It is also false if this
// Lock holds the lock already.
func (l *lock) TryLock() (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isClosed || l.fileSystem.isClosed.Load() {
		return false, pathError("lock", l.name, fs.ErrClosed)
	}
	if l.heldLock != nil {
		return false, nil
	}
	ino, err := l.lockedNodeNumber()
	for range maxLockTries {
		if err != nil {
			return false, pathError("lock", l.name, err)
		}
		h, got, err := l.fileSystem.acquireWebLock(l.fileSystem.vfsLockName(ino), lockModeExclusive, false)
		if err != nil {
			return false, pathError("lock", l.name, err)
		}
		// Another file may have replaced the file meanwhile. A lock on the old file excludes nobody, so release it and
		// try again with the new file.
		now, err := l.lockedNodeNumber()
		if err == nil && now == ino {
			if got {
				l.heldLock = h
			}
			return got, nil
		}
		if got {
			h.releaseAndWait()
		}
		if err != nil {
			return false, pathError("lock", l.name, err)
		}
		ino = now
	}
	return false, pathError("lock", l.name, fmt.Errorf("the file was replaced %d times meanwhile", maxLockTries))
}

// Unlock releases the lock. It returns an error if this Lock is not held.
func (l *lock) Unlock() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.heldLock == nil {
		return pathError("unlock", l.name, fs.ErrInvalid)
	}
	l.heldLock.releaseAndWait()
	l.heldLock = nil
	return nil
}

// Close releases the lock if it is held. A second Close does nothing.
func (l *lock) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.heldLock != nil {
		l.heldLock.releaseAndWait()
		l.heldLock = nil
	}
	l.isClosed = true
	return nil
}
