// This file keeps the owner of a file that root replaces.

//go:build unix

package setup

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner restores the owner and the group of a replaced file. It does so only for root:
// if another user may replace the file, that user owns it already.
func keepOwner(path string, was fs.FileInfo) {
	if st, ok := was.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 {
		_ = os.Chown(path, int(st.Uid), int(st.Gid))
	}
}
