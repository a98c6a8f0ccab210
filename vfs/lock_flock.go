// Locks by flock. They belong to the open file, not to the
// process as fcntl's does, which any close of the same file would release.

//go:build unix && !solaris && !aix

package vfs

import (
	"context"
	"fmt"
	"os"
	"syscall"
)

// lockFile takes the lock of an open file and reports whether it was free.
func lockFile(f *os.File) (bool, error) {
	err := flock(f, syscall.LOCK_EX|syscall.LOCK_NB)
	if err == syscall.EWOULDBLOCK {
		return false, nil
	}
	return err == nil, err
}

func unlockFile(f *os.File) error { return flock(f, syscall.LOCK_UN) }

func flock(f *os.File, how int) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var ferr error
	err = conn.Control(func(fd uintptr) {
		for {
			ferr = syscall.Flock(int(fd), how)
			if ferr != syscall.EINTR {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	return ferr
}

// wait implements [waiter]. The system's wait cannot be ended, so that it is for an open
// file of its own, which a goroutine closes that was left behind.
func (l *osLock) wait(ctx context.Context) (bool, error) {
	for {
		f, info, err := l.fs.openLockFile(l.name)
		if err != nil {
			return false, fmt.Errorf("locking %s: %w", l.name, err)
		}
		locked := make(chan error, 1)
		go func() { locked <- flock(f, syscall.LOCK_EX) }()
		select {
		case err = <-locked:
		case <-ctx.Done():
			go func() {
				<-locked
				_ = unlockFile(f)
				f.Close()
			}()
			return false, ctx.Err()
		}
		if err == nil {
			var ok bool
			ok, err = l.adopt(f, info)
			if ok {
				return true, nil
			}
		}
		f.Close()
		if err != nil {
			return false, fmt.Errorf("locking %s: %w", l.name, err)
		}
	}
}
