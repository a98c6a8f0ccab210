// This file is for platforms on which the description of a file has no inode.

//go:build !unix

package sysinfo

import "io/fs"

// InodeNumber returns the number of the file's inode, or 0 if it is unknown.
func InodeNumber(fs.FileInfo) uint64 { return 0 }
