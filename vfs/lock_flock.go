// This file implements locks with the system call flock. A lock with flock belongs to the open file. A lock with fcntl
// would belong to the process, which would release the lock whenever it closes the same file.

//go:build unix && !solaris && !aix

package vfs

import (
	"context"
	"fmt"
	"os"
	"syscall"
)

// lockFile locks an open file. It returns false if another open file holds the lock.
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

// waitForLock implements [blockingLock]. Because a blocking flock cannot be canceled, waitForLock uses a separate
// open file. If ctx ends before the lock is acquired, a goroutine continues to wait for the lock, then releases it
// and closes the file.
func (l *osLock) waitForLock(ctx context.Context) (bool, error) {
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
			ok, err = l.replaceLockFile(f, info)
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
