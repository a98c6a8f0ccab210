// This file recognizes the error that a write-protected volume returns.

package wal

import (
	"errors"
	"syscall"
)

// errorWriteProtect is the error code ERROR_WRITE_PROTECT of the Windows API.
const errorWriteProtect = syscall.Errno(19)

func isReadOnlyFS(err error) bool { return errors.Is(err, errorWriteProtect) }
