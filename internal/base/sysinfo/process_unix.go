//go:build unix

// This file examines processes and access rights on Unix.

package sysinfo

import (
	"golang.org/x/sys/unix"
)

// processState sends signal 0 to the process, which does nothing to the process. The process does not exist if the
// error is ESRCH.
func processState(pid int) ProcessStatus {
	switch err := unix.Kill(pid, 0); {
	case err == unix.ESRCH:
		return StateGone
	case isStopped(pid):
		return StateStopped
	}
	return stateRunning
}

// IsWritable reports whether this user can write the file, or create files in the directory.
func IsWritable(path string) bool { return unix.Access(path, unix.W_OK) == nil }
