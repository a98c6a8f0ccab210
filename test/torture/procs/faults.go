//go:build unix

// Faults of files and locks that are put in on purpose, to prove that the
// campaign sees them.

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

// The names of the faults.
const (
	noLock    = "no-lock"    // the lock lets every process in
	noNote    = "no-note"    // what the lock file says of the log is not kept
	fcntlLock = "fcntl-lock" // the lock is one of fcntl, and the program also reads the lock file
	curious   = "curious"    // no fault: the program also reads the lock file
)

// Faults returns the faults of files and locks that a run can have; each is a
// name, or several with commas between. The log itself notices much of what goes
// wrong by the note in the lock file: without it, the campaign is alone. (That fault alone, no-note, breaks no promise.)
func Faults() []string {
	return []string{fcntlLock, fcntlLock + "," + noNote, noLock, noLock + "," + noNote}
}

// faulty returns dir with these faults. Where one needs a process to read the
// lock file, that goes on until ctx ends.
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

// readLockFile opens, reads and closes the file over and over, as a program
// does that shows who is writing. It must not matter to the lock.
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

// faultFS is a directory whose lock is broken.
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
	if err == nil && f.has[noNote] && name == storeFile+".lock" {
		return forgetful{file}, nil
	}
	return file, err
}

// forgetful is a file that takes no note.
type forgetful struct{ vfs.File }

func (forgetful) WriteAt(b []byte, _ int64) (int, error) { return len(b), nil }

// openDoor is a lock that excludes no process.
type openDoor struct{ vfs.Lock }

func (openDoor) TryLock() (bool, error) { return true, nil }
func (openDoor) Unlock() error          { return nil }

// posixLock is a lock by fcntl. It belongs to the process, and any close of the
// same file in that process releases it.
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
	err := l.set(syscall.F_WRLCK)
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
	return l.set(syscall.F_UNLCK)
}

func (l *posixLock) set(typ int16) error {
	return syscall.FcntlFlock(l.f.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: typ, Whence: io.SeekStart})
}

func (l *posixLock) Close() error { return l.f.Close() }
