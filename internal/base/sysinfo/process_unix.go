//go:build unix

// This file examines processes and access rights on Unix.

package sysinfo

import (
	"golang.org/x/sys/unix"
)

// processState returns the state of a process: ProcessGone if the process does not exist, ProcessStopped if it is
// stopped, and otherwise processRunning. It sends signal 0, which has no effect on the process. If the process does not
// exist, sending this signal fails with ESRCH.
func processState(pid int) ProcessStatus {
	switch err := unix.Kill(pid, 0); {
	case err == unix.ESRCH:
		return ProcessGone
	case isSuspended(pid):
		return ProcessStopped
	}
	return processRunning
}

// IsWritable reports whether this user can write the file, or create files in the directory.
func IsWritable(path string) bool { return unix.Access(path, unix.W_OK) == nil }
