// This file implements the open files and the locks of a process.

package crashfs

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/oxbow-memory/oxbow/vfs"
)

// file is an open file of a process.
type file struct {
	p    *Process
	mem  vfs.File // the page cache
	node *inode
	name string
}

func (f *file) ReadAt(b []byte, off int64) (int, error) {
	f.p.d.mu.Lock()
	defer f.p.d.mu.Unlock()
	if err := f.p.alive(); err != nil {
		return 0, err
	}
	return f.mem.ReadAt(b, off)
}

func (f *file) WriteAt(b []byte, off int64) (int, error) {
	f.p.d.mu.Lock()
	defer f.p.d.mu.Unlock()
	if err := f.p.alive(); err != nil {
		return 0, err
	}
	done := 0
	write := func(op Op, b []byte) (err error) {
		done, err = f.mem.WriteAt(b, off)
		if err != nil || done == 0 {
			return err
		}
		op.Len = done
		f.pend(&dataOp{op: op, data: bytes.Clone(b)})
		return nil
	}
	err := f.p.do(Op{Kind: Write, Name: f.name, Off: off, Len: len(b)},
		func(op Op) error { return write(op, b) },
		func(op Op, fault Fault) { write(op, b[:max(0, min(fault.Short, len(b)-1))]) })
	return done, err
}

func (f *file) Truncate(size int64) error {
	f.p.d.mu.Lock()
	defer f.p.d.mu.Unlock()
	if err := f.p.alive(); err != nil {
		return err
	}
	return f.truncate(size)
}

// truncate is like Truncate, but the caller holds the Disk's mu.
func (f *file) truncate(size int64) error {
	return f.p.do(Op{Kind: Truncate, Name: f.name, Off: size}, func(op Op) error {
		if err := f.mem.Truncate(size); err != nil {
			return err
		}
		f.pend(&dataOp{op: op})
		return nil
	}, nil)
}

// pend records an operation as pending.
func (f *file) pend(op *dataOp) {
	f.node.ops = append(f.node.ops, op)
	if info, err := f.mem.Stat(); err == nil {
		f.node.mod = info.ModTime()
	}
}

func (f *file) Sync() error {
	f.p.d.mu.Lock()
	defer f.p.d.mu.Unlock()
	if err := f.p.alive(); err != nil {
		return err
	}
	if err := f.mem.Sync(); err != nil {
		return err // the file is closed
	}
	return f.p.do(Op{Kind: Sync, Name: f.name},
		func(Op) error { f.node.sync(); return nil },
		func(Op, Fault) { f.node.fail() })
}

func (f *file) Stat() (fs.FileInfo, error) {
	f.p.d.mu.Lock()
	defer f.p.d.mu.Unlock()
	if err := f.p.alive(); err != nil {
		return nil, err
	}
	return f.mem.Stat()
}

func (f *file) Close() error {
	f.p.d.mu.Lock()
	defer f.p.d.mu.Unlock()
	if err := f.p.alive(); err != nil {
		return err
	}
	return f.close()
}

// close is like Close, but the caller holds the Disk's mu.
func (f *file) close() error {
	if i := slices.Index(f.p.files, f); i >= 0 {
		f.p.files = slices.Delete(f.p.files, i, i+1)
		f.node.open--
	}
	return f.mem.Close()
}

// lock is a lock of a process. The Disk's mu guards its fields.
type lock struct {
	p      *Process
	name   string
	ino    uint64 // inode of the lock file while the lock is held, otherwise 0
	closed bool
}

// OpenLock opens a lock file, and creates it if necessary.
func (p *Process) OpenLock(name string) (vfs.Lock, error) {
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	if err := p.alive(); err != nil {
		return nil, err
	}
	l := &lock{p: p, name: name}
	if _, err := l.file(); err != nil {
		return nil, err
	}
	return l, nil
}

// file returns the inode of the lock file. It creates the file if it is missing.
func (l *lock) file() (uint64, error) {
	info, err := l.p.d.live.Stat(l.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f, err := l.p.create(l.name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return 0, err
		}
		if err := f.(*file).close(); err != nil {
			return 0, err
		}
		return l.p.d.ino(l.name)
	case err != nil:
		return 0, err
	case info.IsDir():
		return 0, &fs.PathError{Op: "lock", Path: l.name, Err: fs.ErrInvalid}
	}
	return info.Sys().(uint64), nil
}

func (l *lock) TryLock() (bool, error) {
	l.p.d.mu.Lock()
	defer l.p.d.mu.Unlock()
	if err := l.p.alive(); err != nil {
		return false, err
	}
	if l.closed {
		return false, &fs.PathError{Op: "lock", Path: l.name, Err: fs.ErrClosed}
	}
	if l.ino != 0 {
		return false, nil
	}
	ino, err := l.file()
	if err != nil || l.p.d.locks[ino] != nil {
		return false, err
	}
	l.p.d.locks[ino], l.ino, l.p.held[l] = l, ino, true
	return true, nil
}

func (l *lock) Unlock() error {
	l.p.d.mu.Lock()
	defer l.p.d.mu.Unlock()
	if err := l.p.alive(); err != nil {
		return err
	}
	if l.ino == 0 {
		return &fs.PathError{Op: "unlock", Path: l.name, Err: fs.ErrInvalid}
	}
	l.release()
	return nil
}

func (l *lock) Close() error {
	l.p.d.mu.Lock()
	defer l.p.d.mu.Unlock()
	if err := l.p.alive(); err != nil {
		return err
	}
	l.release()
	l.closed = true
	return nil
}

// release releases the lock if it is held. The caller holds the Disk's mu.
func (l *lock) release() {
	if l.ino != 0 {
		delete(l.p.d.locks, l.ino)
		delete(l.p.held, l)
		l.ino = 0
	}
}
