// Locks on files of the operating system: the part that all platforms share. The
// lock_*.go files lock a file.

package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
)

// lockRounds bounds how often TryLock opens a lock file again when another process
// keeps replacing it.
const lockRounds = 100

// osLock is a lock on a file under an [OS]. Its file is never nil until Close.
type osLock struct {
	fs   *OS
	name string

	mu     sync.Mutex // guards all below
	f      *os.File
	info   fs.FileInfo // of f; which file it is never changes
	held   bool
	closed bool
}

// OpenLock opens the lock file, making it with permission 0600 where it is
// missing. Its bytes are free for a text about the holder: the lock does not
// hinder reading or writing them. Where the platform has no file locks (js,
// wasip1, solaris, aix) the lock holds between the Locks of this process only.
func (o *OS) OpenLock(name string) (Lock, error) {
	f, info, err := o.openLockFile(name)
	if err != nil {
		return nil, err
	}
	return &osLock{fs: o, name: name, f: f, info: info}, nil
}

func (o *OS) openLockFile(name string) (*os.File, fs.FileInfo, error) {
	f, err := o.open(name, os.O_RDWR|os.O_CREATE, 0o600)
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

// TryLock takes the lock if it is free. A lock that this Lock holds already is
// not free.
func (l *osLock) TryLock() (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false, &fs.PathError{Op: "lock", Path: l.name, Err: fs.ErrClosed}
	}
	if l.held {
		return false, nil
	}
	for range lockRounds {
		got, err := lockFile(l.f)
		if err != nil {
			return false, fmt.Errorf("locking %s: %w", l.name, err)
		}
		// The name may lead to another file by now. A lock on the old one
		// excludes no other process, and one that is refused says nothing.
		current, err := l.current()
		if err == nil && current {
			l.held = got
			return got, nil
		}
		if got {
			if uerr := unlockFile(l.f); err == nil {
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
		l.f.Close()
		l.f, l.info = f, info
	}
	return false, fmt.Errorf("locking %s: the file was replaced %d times meanwhile", l.name, lockRounds)
}

// adopt makes a file that is locked that of the lock, unless its name leads to another by
// now. Else it is the caller's to close.
func (l *osLock) adopt(f *os.File, info fs.FileInfo) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	was, wasInfo := l.f, l.info
	l.f, l.info = f, info
	current, err := l.current()
	if err == nil && l.closed {
		err = fs.ErrClosed
	}
	if err != nil || !current || l.held {
		l.f, l.info = was, wasInfo
		return false, errors.Join(err, unlockFile(f))
	}
	l.held = true
	was.Close()
	return true, nil
}

// current reports whether the name still leads to the file that is open.
func (l *osLock) current() (bool, error) {
	same, err := NameRefersTo(l.fs, l.name, l.info)
	if isNotExist(err) {
		return false, nil
	}
	return same, err
}

// Unlock releases the lock. To release one that is not held is an error.
func (l *osLock) Unlock() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.held {
		return errNotHeld(l.name)
	}
	l.held = false
	if err := unlockFile(l.f); err != nil {
		return fmt.Errorf("unlocking %s: %w", l.name, err)
	}
	return nil
}

// Close releases the lock, if held. A second Close does nothing.
func (l *osLock) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	var err error
	if l.held {
		// Closing alone would leave the lock with a child process that was
		// being started just now and still shares the open file.
		l.held = false
		err = unlockFile(l.f)
	}
	if cerr := l.f.Close(); err == nil {
		err = cerr
	}
	return err
}

func errNotHeld(name string) error {
	return &fs.PathError{Op: "unlock", Path: name, Err: fs.ErrInvalid}
}
