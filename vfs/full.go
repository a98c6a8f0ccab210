// This file recognizes errors of a full disk.

//go:build !windows

package vfs

import (
	"errors"
	"syscall"
)

// IsFull reports whether an operation failed for lack of space: the disk is full, the
// user's quota is used up, or the file would exceed its maximum size.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
