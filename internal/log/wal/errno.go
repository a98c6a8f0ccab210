//go:build unix || wasip1 || js

// This file recognizes the error of a read-only file system.

package wal

import (
	"errors"
	"syscall"
)

func isReadOnlyFS(err error) bool { return errors.Is(err, syscall.EROFS) }
