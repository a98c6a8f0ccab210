// This file recognizes errors of a full disk.

//go:build !windows

package vfs

import (
	"errors"
	"syscall"
)

// IsFull reports whether an operation failed because there is not enough space. This is the case if the disk is full,
// if the quota of the user is used up, or if the file would exceed its maximum size.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
