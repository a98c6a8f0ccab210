// This file reads the inode of a file on Unix.

//go:build unix

package sysinfo

import (
	"io/fs"
	"syscall"
)

// InodeNumber returns the number of the file's inode, or 0 if it is unknown.
func InodeNumber(fi fs.FileInfo) uint64 {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino)
	}
	return 0
}
