//go:build unix

// This file implements deliberate faults of files and locks, to prove that the campaign
// notices them.

package procs

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

// Names of the faults.
const (
	noLock    = "no-lock"    // the lock excludes no process
	noNote    = "no-note"    // the note about the log in the lock file is not kept
	fcntlLock = "fcntl-lock" // the lock uses fcntl, and the program also reads the lock file
	curious   = "curious"    // not a fault: the program also reads the lock file
)

// Faults returns the faults of files and locks that a run can have. Each is a name or
// several names separated by commas. The log itself notices many faults with the note in the
// lock file. With no-note, only the campaign can notice them. The fault no-note by itself
// breaks no guarantee.
func Faults() []string {
	return []string{fcntlLock, fcntlLock + "," + noNote, noLock, noLock + "," + noNote}
}

// faulty returns dir with the given faults. If a fault needs a process that reads the lock
// file, that process reads it until ctx ends.
func faulty(ctx context.Context, dir *vfs.OS, home, faults string) (vfs.FS, error) {
	f := &faultFS{FS: dir, home: home, has: map[string]bool{}}
	for name := range strings.SplitSeq(faults, ",") {
		switch name {
		case "", noLock, noNote:
		case fcntlLock, curious:
			go readLockFile(ctx, filepath.Join(home, storeFile+".lock"))
		default:
			return nil, fmt.Errorf("no fault has the name %q", name)
		}
		f.has[name] = true
	}
	return f, nil
}

// readLockFile repeatedly opens, reads and closes the lock file, like a program that shows
// which process is writing. This must not affect the lock.
func readLockFile(ctx context.Context, path string) {
	tick := time.NewTicker(100 * time.Microsecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if f, err := os.Open(path); err == nil {
				_, _ = io.Copy(io.Discard, f)
				_ = f.Close()
			}
		}
	}
}

// faultFS is a directory with a broken lock.
type faultFS struct {
	vfs.FS
	home string
	has  map[string]bool // faults
}

// OpenLock implements [vfs.FS].
func (f *faultFS) OpenLock(name string) (vfs.Lock, error) {
	switch {
	case f.has[noLock]:
		l, err := f.FS.OpenLock(name)
		return openDoor{l}, err
	case f.has[fcntlLock]:
		file, err := os.OpenFile(filepath.Join(f.home, filepath.FromSlash(name)), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		return &posixLock{f: file}, nil
	}
	return f.FS.OpenLock(name)
}

// OpenFile implements [vfs.FS].
func (f *faultFS) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	file, err := f.FS.OpenFile(name, flag, perm)
	isForgetful := f.has[noNote] && name == storeFile+".lock"
	if err == nil && isForgetful {
		return forgetful{file}, nil
	}
	return file, err
}

// forgetful is a file that ignores writes.
type forgetful struct{ vfs.File }

func (forgetful) WriteAt(b []byte, _ int64) (int, error) { return len(b), nil }

// openDoor is a lock that excludes no process.
type openDoor struct{ vfs.Lock }

func (openDoor) TryLock() (bool, error) { return true, nil }
func (openDoor) Unlock() error          { return nil }

// posixLock is a lock made with fcntl. It belongs to the process, and is released if the
// process closes any handle of the same file.
type posixLock struct {
	f *os.File

	mu   sync.Mutex // guards held
	held bool
}

func (l *posixLock) TryLock() (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held {
		return false, nil
	}
	err := l.setLock(syscall.F_WRLCK)
	if err == syscall.EAGAIN || err == syscall.EACCES {
		return false, nil
	}
	l.held = err == nil
	return l.held, err
}

func (l *posixLock) Unlock() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.held {
		return &fs.PathError{Op: "unlock", Path: l.f.Name(), Err: fs.ErrInvalid}
	}
	l.held = false
	return l.setLock(syscall.F_UNLCK)
}

func (l *posixLock) setLock(typ int16) error {
	return syscall.FcntlFlock(l.f.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: typ, Whence: io.SeekStart})
}

func (l *posixLock) Close() error { return l.f.Close() }
