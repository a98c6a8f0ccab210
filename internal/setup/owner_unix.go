// This file restores the owner of a file that root replaces.

//go:build unix

package setup

import (
	"io/fs"
	"os"
	"syscall"
)

// restoreFileOwner sets the owner and the group of the file at path to those in oldInfo, which describes the file
// before it was replaced. Only root does this. For any other user, the old file usually belongs to the user, and the
// new file does too.
func restoreFileOwner(path string, oldInfo fs.FileInfo) {
	if st, ok := oldInfo.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 {
		_ = os.Chown(path, int(st.Uid), int(st.Gid))
	}
}
