// This file implements the Web Locks that keep the bytes of open files, and the locks of package vfs.

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

// Modes of a Web Lock.
const (
	shared    = "shared"
	exclusive = "exclusive"
)

// openLock returns the name of an open file's Web Lock. All that have the file open hold the lock in mode
// shared. To delete the bytes, a page takes it in mode exclusive. The lock ends with the page, so that a page
// that has ended does not keep a file.
func (f *FS) openLock(ino float64) string { return fmt.Sprintf("oxbow/%s/open/%.0f", f.name, ino) }

// writeLock returns the name of the Web Lock that implements a file's lock.
func (f *FS) writeLock(ino float64) string { return fmt.Sprintf("oxbow/%s/lock/%.0f", f.name, ino) }

// hold is a held Web Lock. The browser releases it when the promise that was returned to the browser is
// fulfilled.
type hold struct {
	f       *FS
	freed   sync.Once
	fulfil  js.Value
	gone    chan struct{} // closed when the browser has released the lock
	dropped sync.Once
	handler []js.Func
}

// take requests a Web Lock. With wait, take waits until it holds the lock. Without wait, take
// returns at once, and got reports whether the lock was free.
func (f *FS) take(name, mode string, wait bool) (h *hold, got bool, err error) {
	if f.closed.Load() {
		return nil, false, errClosed
	}
	h = &hold{f: f, gone: make(chan struct{})}
	granted := make(chan answer, 2) // capacity for the lock and for a failure of the request
	fn := func(fn func(args []js.Value) any) js.Func {
		handler := js.FuncOf(func(_ js.Value, args []js.Value) any { return fn(args) })
		h.handler = append(h.handler, handler)
		return handler
	}
	executor := fn(func(args []js.Value) any {
		h.fulfil = args[0]
		return nil
	})
	callback := fn(func(args []js.Value) any {
		var keep any
		if !args[0].IsNull() {
			keep = js.Global().Get("Promise").New(executor)
		}
		granted <- answer{value: args[0]}
		return keep
	})
	request, err := call(f.locks, "request", name, map[string]any{"mode": mode, "ifAvailable": !wait}, callback)
	if err != nil {
		h.drop()
		return nil, false, fmt.Errorf("asking for a Web Lock: %w", err)
	}
	request.Call("then", fn(func([]js.Value) any {
		close(h.gone)
		return nil
	}), fn(func(args []js.Value) any {
		granted <- answer{err: failure(args[0])}
		close(h.gone)
		return nil
	}))
	a := <-granted
	if a.err != nil || a.value.IsNull() {
		<-h.gone
		h.drop()
		if a.err != nil {
			return nil, false, fmt.Errorf("asking for a Web Lock: %w", a.err)
		}
		return nil, false, nil
	}
	f.mu.Lock()
	f.held[h] = true
	f.mu.Unlock()
	if f.closed.Load() { // Close may have missed this lock
		h.release()
		return nil, false, errClosed
	}
	return h, true, nil
}

// free releases the lock without waiting for the browser.
func (h *hold) free() { h.freed.Do(func() { h.fulfil.Invoke() }) }

// release releases the lock and waits until others can take it.
func (h *hold) release() {
	h.f.mu.Lock()
	delete(h.f.held, h)
	h.f.mu.Unlock()
	h.free()
	<-h.gone
	h.drop()
}

// drop releases the handlers. The browser must not need them any more.
func (h *hold) drop() {
	h.dropped.Do(func() {
		for _, fn := range h.handler {
			fn.Release()
		}
	})
}

// lockTries is the maximum number of times that a lock file is looked up if another tab keeps replacing
// it.
const lockTries = 100

// lock implements vfs.Lock.
type lock struct {
	f    *FS
	name string

	mu     sync.Mutex // guards the fields below
	held   *hold
	closed bool
}

var _ vfs.Lock = (*lock)(nil)

// OpenLock opens the lock file. A lock file that does not exist is created with permission 0600. Its content may be
// used for a text about the holder.
func (f *FS) OpenLock(name string) (vfs.Lock, error) {
	l := &lock{f: f, name: name}
	if err := vfs.CheckName("lock", name); err != nil {
		return nil, err
	}
	if _, err := l.carrier(); err != nil {
		return nil, pathError("lock", name, err)
	}
	return l, nil
}

// carrier returns the number of the file that currently has the lock's name. It creates the file if
// necessary.
func (l *lock) carrier() (float64, error) {
	if l.name == "." {
		return 0, errNotRegular
	}
	n, err := l.f.find(l.name, 0, 0)
	if errors.Is(err, fs.ErrNotExist) {
		n, err = l.f.find(l.name, os.O_RDWR|os.O_CREATE, 0o600)
	}
	if err == nil && n.isDir() {
		err = errNotRegular
	}
	return n.ino, err
}

// TryLock takes the lock if nobody holds it, and reports whether it took the lock. If this Lock
// already holds the lock, TryLock returns false.
func (l *lock) TryLock() (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.f.closed.Load() {
		return false, pathError("lock", l.name, fs.ErrClosed)
	}
	if l.held != nil {
		return false, nil
	}
	ino, err := l.carrier()
	for range lockTries {
		if err != nil {
			return false, pathError("lock", l.name, err)
		}
		h, got, err := l.f.take(l.f.writeLock(ino), exclusive, false)
		if err != nil {
			return false, pathError("lock", l.name, err)
		}
		// Another file may have the name by now. A lock on the old file excludes no other tab, and a
		// refused lock on it means nothing.
		now, err := l.carrier()
		if err == nil && now == ino {
			if got {
				l.held = h
			}
			return got, nil
		}
		if got {
			h.release()
		}
		if err != nil {
			return false, pathError("lock", l.name, err)
		}
		ino = now
	}
	return false, pathError("lock", l.name, fmt.Errorf("the file was replaced %d times meanwhile", lockTries))
}

// Unlock releases the lock. It returns an error if the lock is not held.
func (l *lock) Unlock() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		return pathError("unlock", l.name, fs.ErrInvalid)
	}
	l.held.release()
	l.held = nil
	return nil
}

// Close releases the lock if it is held. A second Close does nothing.
func (l *lock) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held != nil {
		l.held.release()
		l.held = nil
	}
	l.closed = true
	return nil
}
