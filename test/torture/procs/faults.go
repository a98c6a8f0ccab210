//go:build unix

// This file implements deliberate faults of files and locks. They prove that the campaign notices such faults.

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

// Names of the deliberate faults of files and locks that a run of the campaign can have.
const (
	faultNoLock = "no-lock" // a process gets the store's lock although another process holds it
	// the file system does not store the note about the log's state that processes write to the lock file
	faultLockFileNoteLost = "no-note"
	// The lock uses fcntl, and the process also reads the lock file. Closing the file then releases the lock.
	faultFcntlLock = "fcntl-lock"
	// the process also opens and closes the lock file to read it (a fault only together with faultFcntlLock)
	faultReadsLockFile = "curious"
)

// LockAndFileFaults returns the deliberate faults of files and locks with which the campaign can run. The campaign is a
// long test with several processes. It must detect each of these faults. Each element of the result is the name of a
// fault, or the names of two faults, separated by a comma, that occur together.
//
// Processes write a note about the log's state to the lock file. With the note, the log itself detects many faults. The
// fault faultLockFileNoteLost removes the note. It does no harm alone, so it is only combined with another fault. If
// the note is missing, the log cannot detect the other fault, so the campaign has to detect it.
func LockAndFileFaults() []string {
	return []string{
		faultFcntlLock,
		faultFcntlLock + "," + faultLockFileNoteLost,
		faultNoLock,
		faultNoLock + "," + faultLockFileNoteLost,
	}
}

// newFaultFS returns a file system in dir that has the faults in faultNames, so that the test can check whether it
// notices them. The names in faultNames are separated by commas. For the faults faultFcntlLock and faultReadsLockFile,
// newFaultFS also starts a goroutine that reads the lock file in the directory home repeatedly until ctx ends. An
// unknown name is an error.
func newFaultFS(ctx context.Context, dir *vfs.OS, home, faultNames string) (vfs.FS, error) {
	f := &faultFS{FS: dir, home: home, faultNames: map[string]bool{}}
	for name := range strings.SplitSeq(faultNames, ",") {
		switch name {
		case "", faultNoLock, faultLockFileNoteLost:
		case faultFcntlLock, faultReadsLockFile:
			go keepReadingLockFile(ctx, filepath.Join(home, storeFile+".lock"))
		default:
			return nil, fmt.Errorf("no fault has the name %q", name)
		}
		f.faultNames[name] = true
	}
	return f, nil
}

// keepReadingLockFile repeatedly opens, reads and closes the lock file, like a program that shows which process is
// writing. This must not affect the lock.
func keepReadingLockFile(ctx context.Context, path string) {
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

// faultFS is a directory in which locks or files have a fault.
type faultFS struct {
	vfs.FS
	home       string
	faultNames map[string]bool // names of the deliberate faults
}

// OpenLock implements [vfs.FS].
func (f *faultFS) OpenLock(name string) (vfs.Lock, error) {
	switch {
	case f.faultNames[faultNoLock]:
		l, err := f.FS.OpenLock(name)
		return ineffectiveLock{l}, err
	case f.faultNames[faultFcntlLock]:
		file, err := os.OpenFile(filepath.Join(f.home, filepath.FromSlash(name)), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		return &posixLock{file: file}, nil
	}
	return f.FS.OpenLock(name)
}

// OpenFile implements [vfs.FS].
func (f *faultFS) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	file, err := f.FS.OpenFile(name, flag, perm)
	isForgetful := f.faultNames[faultLockFileNoteLost] && name == storeFile+".lock"
	if err == nil && isForgetful {
		return discardingFile{file}, nil
	}
	return file, err
}

// discardingFile is a file that ignores writes.
type discardingFile struct{ vfs.File }

func (discardingFile) WriteAt(b []byte, _ int64) (int, error) { return len(b), nil }

// ineffectiveLock is a lock that does not exclude other processes.
type ineffectiveLock struct{ vfs.Lock }

func (ineffectiveLock) TryLock() (bool, error) { return true, nil }
func (ineffectiveLock) Unlock() error          { return nil }

// posixLock is a lock with fcntl. It belongs to the process, and is released if the process closes any handle of the
// same file.
type posixLock struct {
	file *os.File

	mu     sync.Mutex // guards isHeld, which is set while this process holds the lock
	isHeld bool
}

func (l *posixLock) TryLock() (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isHeld {
		return false, nil
	}
	err := l.setLock(syscall.F_WRLCK)
	if err == syscall.EAGAIN || err == syscall.EACCES {
		return false, nil
	}
	l.isHeld = err == nil
	return l.isHeld, err
}

func (l *posixLock) Unlock() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.isHeld {
		return &fs.PathError{Op: "unlock", Path: l.file.Name(), Err: fs.ErrInvalid}
	}
	l.isHeld = false
	return l.setLock(syscall.F_UNLCK)
}

func (l *posixLock) setLock(typ int16) error {
	return syscall.FcntlFlock(l.file.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: typ, Whence: io.SeekStart})
}

func (l *posixLock) Close() error { return l.file.Close() }
