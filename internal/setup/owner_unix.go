// This file restores the owner of a file that root replaces.

//go:build unix

package setup

import (
	"io/fs"
	"os"
	"syscall"
)

// restoreFileOwner gives a replaced file the owner and the group that it had before. It does so only for root, because
// a file that any other user may replace already belongs to that user.
func restoreFileOwner(path string, oldInfo fs.FileInfo) {
	if st, ok := oldInfo.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 {
		_ = os.Chown(path, int(st.Uid), int(st.Gid))
	}
}
