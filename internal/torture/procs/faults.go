//go:build unix

// This file holds the faults that are put in on purpose, to prove that the
// campaign sees them.

package procs

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/oxbow-memory/oxbow/internal/wal"
	"github.com/oxbow-memory/oxbow/vfs"
)

// The names of the faults.
const (
	noLock     = "no-lock"     // the lock lets everybody in
	noCatchUp  = "no-catch-up" // a writer does not read what others wrote before it
	noIdentity = "no-identity" // a file that a compaction replaced goes unnoticed
	noDedupe   = "no-dedupe"   // op ids are ignored
	fcntlLock  = "fcntl-lock"  // the lock is one of fcntl, and the program also reads the lock file
	curious    = "curious"     // no fault: the program also reads the lock file
)

var breaks = map[string]wal.Breaks{
	noCatchUp:  wal.BreakCatchUp,
	noIdentity: wal.BreakIdentity,
	noDedupe:   wal.BreakDedupe,
}

// Faults returns the names of the faults that a run can have, sorted.
func Faults() []string {
	return slices.Sorted(slices.Values([]string{noLock, noCatchUp, noIdentity, noDedupe, fcntlLock}))
}

// faulty returns dir with that fault. Where the fault needs somebody to read
// the lock file, that goes on until ctx ends.
func faulty(ctx context.Context, dir *vfs.OS, home, fault string) (vfs.FS, error) {
	f := &faultFS{FS: dir, home: home, fault: fault, breaks: breaks[fault]}
	switch fault {
	case "", noLock, noCatchUp, noIdentity, noDedupe:
	case fcntlLock, curious:
		go readLockFile(ctx, filepath.Join(home, storeFile+".lock"))
	default:
		return nil, fmt.Errorf("no fault has the name %q", fault)
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

// faultFS is a directory whose log or lock is broken.
type faultFS struct {
	vfs.FS
	home   string
	fault  string
	breaks wal.Breaks
}

// Breaks implements [wal.Breaker].
func (f *faultFS) Breaks() wal.Breaks { return f.breaks }

// OpenLock implements [vfs.FS].
func (f *faultFS) OpenLock(name string) (vfs.Lock, error) {
	switch f.fault {
	case noLock:
		l, err := f.FS.OpenLock(name)
		return openDoor{l}, err
	case fcntlLock:
		file, err := os.OpenFile(filepath.Join(f.home, filepath.FromSlash(name)), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		return &posixLock{f: file}, nil
	}
	return f.FS.OpenLock(name)
}

// openDoor is a lock that keeps nobody out.
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
