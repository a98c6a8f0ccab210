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

// openFile is an open file of a process.
type openFile struct {
	process *Process
	memFile vfs.File // the file in the page cache
	node    *inode
	name    string
}

func (f *openFile) ReadAt(b []byte, off int64) (int, error) {
	f.process.disk.mu.Lock()
	defer f.process.disk.mu.Unlock()
	if err := f.process.checkAlive(); err != nil {
		return 0, err
	}
	return f.memFile.ReadAt(b, off)
}

func (f *openFile) WriteAt(b []byte, off int64) (int, error) {
	f.process.disk.mu.Lock()
	defer f.process.disk.mu.Unlock()
	if err := f.process.checkAlive(); err != nil {
		return 0, err
	}
	done := 0
	write := func(op Op, b []byte) (err error) {
		done, err = f.memFile.WriteAt(b, off)
		if err != nil || done == 0 {
			return err
		}
		op.Len = done
		f.addPendingOp(&pendingDataOp{op: op, data: bytes.Clone(b)})
		return nil
	}
	err := f.process.performOp(Op{Kind: OpWrite, Name: f.name, Off: off, Len: len(b)},
		func(op Op) error { return write(op, b) },
		func(op Op, fault OpFault) { write(op, b[:max(0, min(fault.WrittenBytes, len(b)-1))]) })
	return done, err
}

func (f *openFile) Truncate(size int64) error {
	f.process.disk.mu.Lock()
	defer f.process.disk.mu.Unlock()
	if err := f.process.checkAlive(); err != nil {
		return err
	}
	return f.truncateTo(size)
}

// truncateTo implements Truncate. The caller must hold the mutex of the disk.
func (f *openFile) truncateTo(size int64) error {
	return f.process.performOp(Op{Kind: OpTruncate, Name: f.name, Off: size}, func(op Op) error {
		if err := f.memFile.Truncate(size); err != nil {
			return err
		}
		f.addPendingOp(&pendingDataOp{op: op})
		return nil
	}, nil)
}

// addPendingOp adds an operation to the file's pending operations, and updates the modification time of the file's
// node.
func (f *openFile) addPendingOp(op *pendingDataOp) {
	f.node.pendingOps = append(f.node.pendingOps, op)
	if info, err := f.memFile.Stat(); err == nil {
		f.node.mod = info.ModTime()
	}
}

func (f *openFile) Sync() error {
	f.process.disk.mu.Lock()
	defer f.process.disk.mu.Unlock()
	if err := f.process.checkAlive(); err != nil {
		return err
	}
	if err := f.memFile.Sync(); err != nil {
		return err // Sync of the file in memory fails only if the file was closed before.
	}
	return f.process.performOp(Op{Kind: OpSync, Name: f.name},
		func(Op) error { f.node.makeDurable(); return nil },
		func(Op, OpFault) { f.node.markPendingOpsFailed() })
}

func (f *openFile) Stat() (fs.FileInfo, error) {
	f.process.disk.mu.Lock()
	defer f.process.disk.mu.Unlock()
	if err := f.process.checkAlive(); err != nil {
		return nil, err
	}
	return f.memFile.Stat()
}

func (f *openFile) Close() error {
	f.process.disk.mu.Lock()
	defer f.process.disk.mu.Unlock()
	if err := f.process.checkAlive(); err != nil {
		return err
	}
	return f.closeFile()
}

// closeFile implements Close. The caller must hold the mutex of the disk.
func (f *openFile) closeFile() error {
	if i := slices.Index(f.process.files, f); i >= 0 {
		f.process.files = slices.Delete(f.process.files, i, i+1)
		f.node.openCount--
	}
	return f.memFile.Close()
}

// fileLock is a lock on a file that a simulated process holds or waits for. The mutex of the simulated disk guards its
// fields.
type fileLock struct {
	p        *Process
	name     string
	ino      uint64 // inode of the lock file (0 while this lock is not held)
	isClosed bool
}

// OpenLock opens the lock file with this name. It creates a missing file.
func (p *Process) OpenLock(name string) (vfs.Lock, error) {
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	if err := p.checkAlive(); err != nil {
		return nil, err
	}
	l := &fileLock{p: p, name: name}
	if _, err := l.lockedInode(); err != nil {
		return nil, err
	}
	return l, nil
}

// lockedInode returns the inode number of the lock file. If the file does not exist, lockedInode creates it.
func (l *fileLock) lockedInode() (uint64, error) {
	info, err := l.p.disk.liveFiles.Stat(l.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f, err := l.p.createFile(l.name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return 0, err
		}
		if err := f.(*openFile).closeFile(); err != nil {
			return 0, err
		}
		return l.p.disk.inodeNumber(l.name)
	case err != nil:
		return 0, err
	case info.IsDir():
		return 0, &fs.PathError{Op: "lock", Path: l.name, Err: fs.ErrInvalid}
	}
	return info.Sys().(uint64), nil
}

func (l *fileLock) TryLock() (bool, error) {
	l.p.disk.mu.Lock()
	defer l.p.disk.mu.Unlock()
	if err := l.p.checkAlive(); err != nil {
		return false, err
	}
	if l.isClosed {
		return false, &fs.PathError{Op: "lock", Path: l.name, Err: fs.ErrClosed}
	}
	if l.ino != 0 {
		return false, nil
	}
	ino, err := l.lockedInode()
	if err != nil || l.p.disk.locks[ino] != nil {
		return false, err
	}
	l.p.disk.locks[ino], l.ino, l.p.heldLocks[l] = l, ino, true
	return true, nil
}

func (l *fileLock) Unlock() error {
	l.p.disk.mu.Lock()
	defer l.p.disk.mu.Unlock()
	if err := l.p.checkAlive(); err != nil {
		return err
	}
	if l.ino == 0 {
		return &fs.PathError{Op: "unlock", Path: l.name, Err: fs.ErrInvalid}
	}
	l.releaseLock()
	return nil
}

func (l *fileLock) Close() error {
	l.p.disk.mu.Lock()
	defer l.p.disk.mu.Unlock()
	if err := l.p.checkAlive(); err != nil {
		return err
	}
	l.releaseLock()
	l.isClosed = true
	return nil
}

// releaseLock releases the lock if it is held. The caller holds the mutex of the disk.
func (l *fileLock) releaseLock() {
	if l.ino != 0 {
		delete(l.p.disk.locks, l.ino)
		delete(l.p.heldLocks, l)
		l.ino = 0
	}
}
