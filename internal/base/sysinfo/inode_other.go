// This file is for platforms on which a file's description contains no inode number.

//go:build !unix

package sysinfo

import "io/fs"

// InodeNumber returns the file's inode number, or 0 if it is unknown.
func InodeNumber(fs.FileInfo) uint64 { return 0 }
