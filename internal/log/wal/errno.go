//go:build unix || wasip1 || js

// Tells a read-only file system from other refusals.

package wal

import (
	"errors"
	"syscall"
)

func isReadOnlyFS(err error) bool { return errors.Is(err, syscall.EROFS) }
