// This file recognizes errors of a full disk on Windows.

package vfs

import (
	"errors"
	"syscall"

	"golang.org/x/sys/windows"
)

// IsFull reports whether an operation failed because there is not enough space. This is the case if the disk is full,
// if the quota of the user is used up, or if the file would exceed its maximum size.
func IsFull(err error) bool {
	for _, full := range []error{
		windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_DISK_QUOTA_EXCEEDED,
		syscall.ENOSPC, syscall.EFBIG, // errors that tests inject
	} {
		if errors.Is(err, full) {
			return true
		}
	}
	return false
}
