// This file checks the owner of directories on Unix.

//go:build unix

package git

import (
	"os"
	"syscall"
)

// IsOwnedByUser reports whether the path belongs to the user of this process.
func IsOwnedByUser(path string) bool {
	fi, err := os.Stat(path)
	if err != nil {
		return false
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
