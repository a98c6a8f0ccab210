// This file is for platforms on which a file's description contains no inode number.

//go:build !unix

package sysinfo

import "io/fs"

// InodeNumber returns 0, because on this operating system the inode number of a file is not known.
func InodeNumber(fs.FileInfo) uint64 { return 0 }
