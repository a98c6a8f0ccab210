// The owner of a file stays when root replaces it.

//go:build unix

package setup

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a file the owner and the group that it had. Only root can, and
// where another user cannot the file is that user's own.
func keepOwner(path string, was fs.FileInfo) {
	if st, ok := was.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 {
		_ = os.Chown(path, int(st.Uid), int(st.Gid))
	}
}
