// This file recognizes the error of a write-protected volume.

package wal

import (
	"errors"
	"syscall"
)

// errorWriteProtect is ERROR_WRITE_PROTECT of the Windows API.
const errorWriteProtect = syscall.Errno(19)

func isReadOnlyFS(err error) bool { return errors.Is(err, errorWriteProtect) }
