// This file implements locks by the browser's Web Locks: the locks of package vfs, and locks that keep the bytes of
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
	shared    = "shared"
	exclusive = "exclusive"
)

// openLock returns the name of the Web Lock that tells whether a file is open. Everyone who has the file open holds
// the lock in mode shared. Before a page deletes the bytes of the file, it takes the lock in mode exclusive. The
// browser releases the lock when the page ends, so a page that has ended keeps no file.
func (f *FS) openLock(ino float64) string { return fmt.Sprintf("oxbow/%s/open/%.0f", f.name, ino) }

// writeLock returns the name of the Web Lock behind the vfs.Lock of a file.
func (f *FS) writeLock(ino float64) string { return fmt.Sprintf("oxbow/%s/lock/%.0f", f.name, ino) }

// hold is a Web Lock that this page holds. The browser keeps the lock until its promise is fulfilled.
type hold struct {
	f       *FS
	freed   sync.Once
	fulfil  js.Value
	gone    chan struct{} // closed as soon as the browser has released the lock
	dropped sync.Once
	handler []js.Func
}

// take requests a Web Lock. If wait is true, take returns when it has the lock. If wait is false, take returns without
// the lock if others hold it. got reports whether it has the lock.
func (f *FS) take(name, mode string, wait bool) (h *hold, got bool, err error) {
	if f.closed.Load() {
		return nil, false, errClosed
	}
	h = &hold{f: f, gone: make(chan struct{})}
	// The lock may be granted and the request fail later, so there is room for two answers.
	granted := make(chan answer, 2)
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
	if f.closed.Load() { // The lock may have come too late for Close to release it.
		h.release()
		return nil, false, errClosed
	}
	return h, true, nil
}

// free tells the browser to release the lock, and returns at once.
func (h *hold) free() { h.freed.Do(func() { h.fulfil.Invoke() }) }

// release tells the browser to release the lock, and waits until others can take it.
func (h *hold) release() {
	h.f.mu.Lock()
	delete(h.f.held, h)
	h.f.mu.Unlock()
	h.free()
	<-h.gone
	h.drop()
}

// drop releases the JavaScript handlers of the lock. It must be called only when the browser does not need them any
// more.
func (h *hold) drop() {
	h.dropped.Do(func() {
		for _, fn := range h.handler {
			fn.Release()
		}
	})
}

// lockTries limits how often TryLock looks up its lock file while other tabs keep replacing the file.
const lockTries = 100

// lock implements vfs.Lock by a Web Lock.
type lock struct {
	f    *FS
	name string

	mu     sync.Mutex // mu guards the fields below.
	held   *hold
	closed bool
}

var _ vfs.Lock = (*lock)(nil)

// OpenLock opens the lock file with this name. If the file does not exist, OpenLock creates it with permission 0600.
// Callers may write into the file who holds the lock.
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

// carrier returns the number of the file that has the lock's name at present. It creates the file if there is none.
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

// TryLock takes the lock if nobody holds it. The result reports whether it took the lock. It is also false if this
// Lock holds the lock already.
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
		// Another file may have got the name meanwhile. Then it does not matter whether the lock on the old file was
		// granted, because it excludes nobody. The loop tries again with the new file.
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

// Unlock releases the lock. It returns an error if this Lock does not hold it.
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
