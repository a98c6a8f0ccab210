// This file implements locks on files of the operating system. The files lock_*.go contain the system calls.

package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
)

// maxLockReopens limits how often TryLock opens a lock file again because another process has replaced the file.
const maxLockReopens = 100

// osLock is a lock on a file in an [OS]. Its field file is never nil.
type osLock struct {
	fs   *OS
	name string

	mu       sync.Mutex // guards all following fields
	file     *os.File
	fileInfo fs.FileInfo // description of file, which identifies it
	isHeld   bool
	closed   bool
}

// OpenLock opens the file of a lock. If the file does not exist, OpenLock creates it with the permission 0600. The
// lock does not prevent others from reading or writing the file, so the holder of the lock may store a text about
// itself in the file. On platforms without file locks (js, wasip1, solaris, aix), the lock works only between Locks of
// the same process.
func (o *OS) OpenLock(name string) (Lock, error) {
	f, info, err := o.openLockFile(name)
	if err != nil {
		return nil, err
	}
	return &osLock{fs: o, name: name, file: f, fileInfo: info}, nil
}

func (o *OS) openLockFile(name string) (*os.File, fs.FileInfo, error) {
	f, err := o.openFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// TryLock acquires the lock if no other Lock holds it, and reports whether this succeeded. If this Lock already holds
// the lock, TryLock returns false.
func (l *osLock) TryLock() (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false, &fs.PathError{Op: "lock", Path: l.name, Err: fs.ErrClosed}
	}
	if l.isHeld {
		return false, nil
	}
	for range maxLockReopens {
		got, err := lockFile(l.file)
		if err != nil {
			return false, fmt.Errorf("locking %s: %w", l.name, err)
		}
		// The name may refer to another file now. A lock on the old file does not exclude other processes, so TryLock
		// tries again with the new file.
		current, err := l.isFileCurrent()
		if err == nil && current {
			l.isHeld = got
			return got, nil
		}
		if got {
			if uerr := unlockFile(l.file); err == nil {
				err = uerr
			}
		}
		if err != nil {
			return false, fmt.Errorf("locking %s: %w", l.name, err)
		}
		f, info, err := l.fs.openLockFile(l.name)
		if err != nil {
			return false, fmt.Errorf("locking %s: %w", l.name, err)
		}
		l.file.Close()
		l.file, l.fileInfo = f, info
	}
	return false, fmt.Errorf("locking %s: the file was replaced %d times meanwhile", l.name, maxLockReopens)
}

// replaceLockFile makes f the file of the lock l. The caller must have locked f before. replaceLockFile returns false
// if the lock is already held. It also returns false if the name of the lock (l.name) no longer refers to f, for
// example because the file was deleted.
//
// If the lock was closed, or if checking the name fails, replaceLockFile returns false and an error. Whenever it
// returns false, it has unlocked f, and the caller must close f.
func (l *osLock) replaceLockFile(f *os.File, info fs.FileInfo) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	was, wasInfo := l.file, l.fileInfo
	l.file, l.fileInfo = f, info
	current, err := l.isFileCurrent()
	if err == nil && l.closed {
		err = fs.ErrClosed
	}
	isUsable := current && !l.isHeld
	if err != nil || !isUsable {
		l.file, l.fileInfo = was, wasInfo
		return false, errors.Join(err, unlockFile(f))
	}
	l.isHeld = true
	was.Close()
	return true, nil
}

// isFileCurrent reports whether the name of the lock still refers to the open file.
func (l *osLock) isFileCurrent() (bool, error) {
	same, err := NameRefersTo(l.fs, l.name, l.fileInfo)
	if isNotExist(err) {
		return false, nil
	}
	return same, err
}

// Unlock releases the lock. If the lock is not held, Unlock returns an error.
func (l *osLock) Unlock() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.isHeld {
		return newLockNotHeldError(l.name)
	}
	l.isHeld = false
	if err := unlockFile(l.file); err != nil {
		return fmt.Errorf("unlocking %s: %w", l.name, err)
	}
	return nil
}

// Close releases the lock if it is held. Further calls of Close do nothing.
func (l *osLock) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	var err error
	if l.isHeld {
		// It is not sufficient to close the file. A child process that is being started may share the open file, and
		// would then keep the lock.
		l.isHeld = false
		err = unlockFile(l.file)
	}
	if cerr := l.file.Close(); err == nil {
		err = cerr
	}
	return err
}

func newLockNotHeldError(name string) error {
	return &fs.PathError{Op: "unlock", Path: name, Err: fs.ErrInvalid}
}
