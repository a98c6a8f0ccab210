// This file implements locks with the system call LockFileEx.

package vfs

import (
	"os"

	"golang.org/x/sys/windows"
)

// The byte that is locked is far beyond the end of the file, because Windows does not permit others to read locked
// bytes.
const (
	lockOffsetLow  = 0xfffffffe
	lockOffsetHigh = 0x7fffffff
)

// lockFile locks an open file. It returns false if another handle holds the lock.
func lockFile(f *os.File) (bool, error) {
	err := callWithFileHandle(f, func(h windows.Handle, at *windows.Overlapped) error {
		return windows.LockFileEx(h, windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, at)
	})
	if err == windows.ERROR_LOCK_VIOLATION || err == windows.ERROR_IO_PENDING {
		return false, nil
	}
	return err == nil, err
}

func unlockFile(f *os.File) error {
	return callWithFileHandle(f, func(h windows.Handle, at *windows.Overlapped) error {
		return windows.UnlockFileEx(h, 0, 1, 0, at)
	})
}

func callWithFileHandle(f *os.File, call func(windows.Handle, *windows.Overlapped) error) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var cerr error
	err = conn.Control(func(fd uintptr) {
		cerr = call(windows.Handle(fd), &windows.Overlapped{Offset: lockOffsetLow, OffsetHigh: lockOffsetHigh})
	})
	if err != nil {
		return err
	}
	return cerr
}
