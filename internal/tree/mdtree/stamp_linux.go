// This file reads the stamp of a file on Linux.

package mdtree

import (
	"io/fs"
	"syscall"
)

// stampFromInfo returns the stamp of a file. ok is false if the file system does not report all parts of the stamp.
func stampFromInfo(info fs.FileInfo) (s fileStamp, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileStamp{}, false
	}
	return fileStamp{
		size:       info.Size(),
		modTime:    info.ModTime().UnixNano(),
		changeTime: syscall.TimespecToNsec(st.Ctim),
		inode:      st.Ino,
	}, true
}
