//go:build unix || wasip1 || js

// This file recognizes the error that a read-only file system returns.

package wal

import (
	"errors"
	"syscall"
)

func isReadOnlyFS(err error) bool { return errors.Is(err, syscall.EROFS) }
