// Web Locks: those that keep the bytes of an open file, and
// those that are the locks of package vfs.

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

// The modes of a Web Lock.
const (
	shared    = "shared"
	exclusive = "exclusive"
)

// openLock names the Web Lock that all hold who have the file open, in mode
// shared; who deletes the bytes has it exclusive. It outlives no page, so that
// a file is not kept by those who are gone.
func (f *FS) openLock(ino float64) string { return fmt.Sprintf("oxbow/%s/open/%.0f", f.name, ino) }

// writeLock names the Web Lock that is the lock of that file.
func (f *FS) writeLock(ino float64) string { return fmt.Sprintf("oxbow/%s/lock/%.0f", f.name, ino) }

// hold is a Web Lock that is held. It ends when the promise that the browser
// was given for it is fulfilled.
type hold struct {
	f       *FS
	freed   sync.Once
	fulfil  js.Value
	gone    chan struct{} // closed when the browser has released it
	dropped sync.Once
	handler []js.Func
}

// take requests a Web Lock. With wait it comes back when it has got it;
// without, got says whether the lock was free.
func (f *FS) take(name, mode string, wait bool) (h *hold, got bool, err error) {
	if f.closed.Load() {
		return nil, false, errClosed
	}
	h = &hold{f: f, gone: make(chan struct{})}
	granted := make(chan answer, 2) // and whether the request failed
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
	if f.closed.Load() { // Close may not have seen it
		h.release()
		return nil, false, errClosed
	}
	return h, true, nil
}

// free gives the lock back without waiting until the browser has it.
func (h *hold) free() { h.freed.Do(func() { h.fulfil.Invoke() }) }

// release gives the lock back: others can have it when release returns.
func (h *hold) release() {
	h.f.mu.Lock()
	delete(h.f.held, h)
	h.f.mu.Unlock()
	h.free()
	<-h.gone
	h.drop()
}

// drop forgets the handlers. The browser must be done with them.
func (h *hold) drop() {
	h.dropped.Do(func() {
		for _, fn := range h.handler {
			fn.Release()
		}
	})
}

// lockTries bounds how often a lock file is looked up again when another tab keeps
// replacing it.
const lockTries = 100

// lock is a lock of package vfs.
type lock struct {
	f    *FS
	name string

	mu     sync.Mutex // guards all below
	held   *hold
	closed bool
}

var _ vfs.Lock = (*lock)(nil)

// OpenLock opens the lock file, making it with permission 0600 where it is
// missing. Its bytes are free for a text about the holder.
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

// carrier finds the file that carries the lock now, or makes it.
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

// TryLock takes the lock if it is free. A lock that this Lock holds already is
// not free.
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
		// The name may lead to another file by now. A lock on the old one
		// excludes no other tab, and one that is refused says nothing.
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

// Unlock releases the lock. To release one that is not held is an error.
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

// Close releases the lock, if held. A second Close does nothing.
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
