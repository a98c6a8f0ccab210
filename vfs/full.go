// Full disk or another error.

//go:build !windows

package vfs

import (
	"errors"
	"syscall"
)

// IsFull reports whether an operation failed for want of space: the disk is
// full, the user's quota is used up, or a file would be larger than it may be.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
