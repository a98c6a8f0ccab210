// This file implements the files, the file descriptions (fs.FileInfo) and the locks of Mem, the file system that is
// stored in memory.

package vfs

import (
	"io"
	"io/fs"
	"os"
	"slices"
	"sync/atomic"
	"time"
)

// maxMemFileBytes is the maximum size of a file in a [Mem], in bytes. Without it, a wrong length could use up all
// memory.
const maxMemFileBytes = 1 << 30

// memInfo describes a file or directory in a [Mem]. Later changes of the file do not change the description.
type memInfo struct {
	name    string
	size    int64
	mode    fs.FileMode
	modTime time.Time
	node    *memNode // the file or directory, so that SameFile can compare it
	ino     uint64
}

// info returns the description of a node. The caller must hold mu of the Mem.
func (n *memNode) info(name string) memInfo {
	return memInfo{name: name, size: int64(len(n.data)), mode: n.mode, modTime: n.modTime, node: n, ino: n.ino}
}

func (i memInfo) Name() string       { return i.name }
func (i memInfo) Size() int64        { return i.size }
func (i memInfo) Mode() fs.FileMode  { return i.mode }
func (i memInfo) ModTime() time.Time { return i.modTime }
func (i memInfo) IsDir() bool        { return i.mode.IsDir() }

// Sys returns the inode number as a uint64. The number is unique within its Mem and is never used again. It is the
// same in a copy that [Mem.Clone] returns.
func (i memInfo) Sys() any { return i.ino }

// SameFile implements [sameFileReporter].
func (i memInfo) SameFile(other fs.FileInfo) bool {
	o, ok := other.(memInfo)
	return ok && i.node == o.node
}

// memFile is an open file.
type memFile struct {
	m      *Mem
	node   *memNode
	name   string
	flag   int
	closed atomic.Bool
}

func (f *memFile) pathError(op string, err error) error {
	return &fs.PathError{Op: op, Path: f.name, Err: err}
}

// checkAccess returns an error if the file is closed, if the offset off is negative, or if the file's access mode is
// refusedAccessMode. For example, a write refuses the access mode of a file that was opened only for reading. The
// argument op is the name of the operation, for the error.
func (f *memFile) checkAccess(op string, off int64, refusedAccessMode int) error {
	switch {
	case f.closed.Load():
		return f.pathError(op, fs.ErrClosed)
	case f.flag&accessMode == refusedAccessMode:
		return f.pathError(op, errWrongAccessMode)
	case off < 0:
		return f.pathError(op, errNegativeOffset)
	}
	return nil
}

func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.checkAccess("read", off, os.O_WRONLY); err != nil {
		return 0, err
	}
	f.m.mu.RLock()
	defer f.m.mu.RUnlock()
	if len(p) == 0 {
		return 0, nil
	}
	if off >= int64(len(f.node.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.node.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.checkAccess("write", off, os.O_RDONLY); err != nil {
		return 0, err
	}
	if off > maxMemFileBytes-int64(len(p)) {
		return 0, f.pathError("write", ErrTooLarge)
	}
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if len(p) == 0 {
		return 0, nil // An empty write does not extend the file.
	}
	end := off + int64(len(p))
	f.node.unshareData()
	if end > int64(len(f.node.data)) {
		f.node.grow(end)
	}
	copy(f.node.data[off:], p)
	f.node.modTime = f.m.now()
	return len(p), nil
}

func (f *memFile) Truncate(size int64) error {
	if err := f.checkAccess("truncate", size, os.O_RDONLY); err != nil {
		return err
	}
	if size > maxMemFileBytes {
		return f.pathError("truncate", ErrTooLarge)
	}
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	f.m.truncate(f.node, size)
	return nil
}

func (f *memFile) Sync() error {
	if f.closed.Load() {
		return f.pathError("sync", fs.ErrClosed)
	}
	return nil
}

func (f *memFile) Stat() (fs.FileInfo, error) {
	if f.closed.Load() {
		return nil, f.pathError("stat", fs.ErrClosed)
	}
	f.m.mu.RLock()
	defer f.m.mu.RUnlock()
	return f.node.info(baseName(f.name)), nil
}

func (f *memFile) Close() error {
	if f.closed.Swap(true) {
		return f.pathError("close", fs.ErrClosed)
	}
	return nil
}

// truncate sets the size of a node's content. The caller must hold mu.
func (m *Mem) truncate(n *memNode, size int64) {
	n.unshareData()
	if size > int64(len(n.data)) {
		n.grow(size)
	} else {
		n.data = n.data[:size]
	}
	n.modTime = m.now()
}

// unshareData replaces the bytes of a file by a copy if other files share the same bytes.
func (n *memNode) unshareData() {
	if n.isDataShared {
		n.data = slices.Clone(n.data)
		n.isDataShared = false
	}
}

// grow extends the data of a node with zeros. This also overwrites the bytes that an earlier truncation left in the
// buffer.
func (n *memNode) grow(size int64) {
	old := len(n.data)
	n.data = slices.Grow(n.data, int(size)-old)[:size]
	clear(n.data[old:])
}

// memLock is a lock on a file in a [Mem]. Its fields are guarded by m.mu.
type memLock struct {
	m        *Mem
	name     string
	heldNode *memNode // the locked file (nil if the lock is not held)
	closed   bool
}

// OpenLock opens the file of a lock. If the file does not exist, OpenLock creates it.
func (m *Mem) OpenLock(name string) (Lock, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := &memLock{m: m, name: name}
	if _, err := l.currentNode(); err != nil {
		return nil, err
	}
	return l, nil
}

// currentNode returns the file to which the name of the lock currently refers. currentNode creates a missing file.
func (l *memLock) currentNode() (*memNode, error) {
	if err := checkName("lock", l.name); err != nil {
		return nil, err
	}
	if l.name == "." {
		return nil, &fs.PathError{Op: "lock", Path: l.name, Err: errNotRegular}
	}
	dir, base, err := l.m.lookupParent("lock", l.name)
	if err != nil {
		return nil, err
	}
	n := dir.children[base]
	switch {
	case n == nil:
		n = l.m.createFile(dir, base, 0o600)
	case n.children != nil:
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
	if l.heldNode != nil {
		return false, nil
	}
	n, err := l.currentNode()
	if err != nil || n.lockHolder != nil {
		return false, err
	}
	n.lockHolder, l.heldNode = l, n
	return true, nil
}

func (l *memLock) Unlock() error {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	if l.heldNode == nil {
		return newLockNotHeldError(l.name)
	}
	l.heldNode.lockHolder, l.heldNode = nil, nil
	return nil
}

func (l *memLock) Close() error {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	if l.heldNode != nil {
		l.heldNode.lockHolder, l.heldNode = nil, nil
	}
	l.closed = true
	return nil
}
