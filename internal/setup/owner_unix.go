// This file keeps the owner of a file that root replaces.

//go:build unix

package setup

import (
	"io/fs"
	"os"
	"syscall"
)

// restoreOwner restores the owner and the group of a replaced file. It does so only for root. The file
// already belongs to any other user who may replace it.
func restoreOwner(path string, was fs.FileInfo) {
	if st, ok := was.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 {
		_ = os.Chown(path, int(st.Uid), int(st.Gid))
	}
}
