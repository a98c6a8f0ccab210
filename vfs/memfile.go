// This file implements the files, file descriptions and locks of Mem.

package vfs

import (
	"io"
	"io/fs"
	"os"
	"slices"
	"sync/atomic"
	"time"
)

// maxMemFile is the maximum size of a file in a [Mem], in bytes. It prevents that a wrong
// length uses up all memory.
const maxMemFile = 1 << 30

// memInfo describes a node at the time of the call.
type memInfo struct {
	name string
	size int64
	mode fs.FileMode
	mod  time.Time
	n    *node // identifies the file
	ino  uint64
}

// info describes a node. The caller must hold mu of the Mem.
func (n *node) info(name string) memInfo {
	return memInfo{name: name, size: int64(len(n.data)), mode: n.mode, mod: n.mod, n: n, ino: n.ino}
}

func (i memInfo) Name() string       { return i.name }
func (i memInfo) Size() int64        { return i.size }
func (i memInfo) Mode() fs.FileMode  { return i.mode }
func (i memInfo) ModTime() time.Time { return i.mod }
func (i memInfo) IsDir() bool        { return i.mode.IsDir() }

// Sys returns the inode number as a uint64. The number is unique in its Mem, never reused,
// and the same in a copy made by [Mem.Clone].
func (i memInfo) Sys() any { return i.ino }

// SameFile implements [identity].
func (i memInfo) SameFile(other fs.FileInfo) bool {
	o, ok := other.(memInfo)
	return ok && i.n == o.n
}

// memFile is an open file.
type memFile struct {
	m      *Mem
	n      *node
	name   string
	flag   int
	closed atomic.Bool
}

func (f *memFile) fail(op string, err error) error {
	return &fs.PathError{Op: op, Path: f.name, Err: err}
}

// check returns an error if the file is closed, if it was opened with the access mode
// refused, or if off is negative.
func (f *memFile) check(op string, off int64, refused int) error {
	switch {
	case f.closed.Load():
		return f.fail(op, fs.ErrClosed)
	case f.flag&accessMode == refused:
		return f.fail(op, errMode)
	case off < 0:
		return f.fail(op, errNegative)
	}
	return nil
}

func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.check("read", off, os.O_WRONLY); err != nil {
		return 0, err
	}
	f.m.mu.RLock()
	defer f.m.mu.RUnlock()
	if len(p) == 0 {
		return 0, nil
	}
	if off >= int64(len(f.n.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.n.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.check("write", off, os.O_RDONLY); err != nil {
		return 0, err
	}
	if off > maxMemFile-int64(len(p)) {
		return 0, f.fail("write", ErrTooLarge)
	}
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if len(p) == 0 {
		return 0, nil // an empty write does not extend the file
	}
	end := off + int64(len(p))
	f.n.makeOwn()
	if end > int64(len(f.n.data)) {
		f.n.grow(end)
	}
	copy(f.n.data[off:], p)
	f.n.mod = f.m.now()
	return len(p), nil
}

func (f *memFile) Truncate(size int64) error {
	if err := f.check("truncate", size, os.O_RDONLY); err != nil {
		return err
	}
	if size > maxMemFile {
		return f.fail("truncate", ErrTooLarge)
	}
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	f.m.truncate(f.n, size)
	return nil
}

func (f *memFile) Sync() error {
	if f.closed.Load() {
		return f.fail("sync", fs.ErrClosed)
	}
	return nil
}

func (f *memFile) Stat() (fs.FileInfo, error) {
	if f.closed.Load() {
		return nil, f.fail("stat", fs.ErrClosed)
	}
	f.m.mu.RLock()
	defer f.m.mu.RUnlock()
	return f.n.info(baseName(f.name)), nil
}

func (f *memFile) Close() error {
	if f.closed.Swap(true) {
		return f.fail("close", fs.ErrClosed)
	}
	return nil
}

// truncate sets the size of a file. The caller must hold mu.
func (m *Mem) truncate(n *node, size int64) {
	n.makeOwn()
	if size > int64(len(n.data)) {
		n.grow(size)
	} else {
		n.data = n.data[:size]
	}
	n.mod = m.now()
}

// makeOwn replaces data by a copy if it is shared.
func (n *node) makeOwn() {
	if n.isShared {
		n.data = slices.Clone(n.data)
		n.isShared = false
	}
}

// grow extends a file with zeros. It clears the bytes that an earlier truncation left in
// the buffer.
func (n *node) grow(size int64) {
	old := len(n.data)
	n.data = slices.Grow(n.data, int(size)-old)[:size]
	clear(n.data[old:])
}

// memLock is a lock in a [Mem]. Its fields are guarded by mu of the Mem.
type memLock struct {
	m      *Mem
	name   string
	held   *node // the locked file, or nil
	closed bool
}

// OpenLock opens the lock file. If the file is missing, OpenLock creates it.
func (m *Mem) OpenLock(name string) (Lock, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := &memLock{m: m, name: name}
	if _, err := l.node(); err != nil {
		return nil, err
	}
	return l, nil
}

// node returns the file that currently has the lock's name. If the file is missing, node
// creates it.
func (l *memLock) node() (*node, error) {
	if err := checkName("lock", l.name); err != nil {
		return nil, err
	}
	if l.name == "." {
		return nil, &fs.PathError{Op: "lock", Path: l.name, Err: errNotRegular}
	}
	dir, base, err := l.m.parent("lock", l.name)
	if err != nil {
		return nil, err
	}
	n := dir.kids[base]
	switch {
	case n == nil:
		n = l.m.create(dir, base, 0o600)
	case n.kids != nil:
		return nil, &fs.PathError{Op: "lock", Path: l.name, Err: errNotRegular}
	}
	return n, nil
}

func (l *memLock) TryLock() (bool, error) {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	if l.closed {
		return false, &fs.PathError{Op: "lock", Path: l.name, Err: fs.ErrClosed}
	}
	if l.held != nil {
		return false, nil
	}
	n, err := l.node()
	if err != nil || n.holder != nil {
		return false, err
	}
	n.holder, l.held = l, n
	return true, nil
}

func (l *memLock) Unlock() error {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	if l.held == nil {
		return errNotHeld(l.name)
	}
	l.held.holder, l.held = nil, nil
	return nil
}

func (l *memLock) Close() error {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	if l.held != nil {
		l.held.holder, l.held = nil, nil
	}
	l.closed = true
	return nil
}
