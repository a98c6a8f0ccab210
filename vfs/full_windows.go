// Full disk or another error, on Windows.

package vfs

import (
	"errors"
	"syscall"

	"golang.org/x/sys/windows"
)

// IsFull reports whether an operation failed for want of space: the disk is
// full, the user's quota is used up, or a file would be larger than it may be.
func IsFull(err error) bool {
	for _, full := range []error{
		windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_DISK_QUOTA_EXCEEDED,
		syscall.ENOSPC, syscall.EFBIG, // what an injected error carries
	} {
		if errors.Is(err, full) {
			return true
		}
	}
	return false
}
