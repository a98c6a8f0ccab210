//go:build unix

// This file examines processes and access rights on Unix.

package sysinfo

import (
	"golang.org/x/sys/unix"
)

// process sends signal 0, which has no effect. If the error is not ESRCH, the process exists.
func process(pid int) State {
	switch err := unix.Kill(pid, 0); {
	case err == unix.ESRCH:
		return Gone
	case stopped(pid):
		return Stopped
	}
	return running
}

// Writable reports whether this user can write the file or create files in the directory.
func Writable(path string) bool { return unix.Access(path, unix.W_OK) == nil }
