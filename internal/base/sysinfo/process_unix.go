//go:build unix

// Facts from Unix about a process, and what this user may do.

package sysinfo

import (
	"golang.org/x/sys/unix"
)

// process sends signal 0, which only looks. That it is refused shows that the
// process is there.
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
// If this is unknown, it returns true.
func Writable(path string) bool { return unix.Access(path, unix.W_OK) == nil }
