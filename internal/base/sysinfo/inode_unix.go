// This file reads the inode number of a file on Unix.

//go:build unix

package sysinfo

import (
	"io/fs"
	"syscall"
)

// InodeNumber returns the file's inode number, or 0 if it is unknown.
func InodeNumber(fi fs.FileInfo) uint64 {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino)
	}
	return 0
}
