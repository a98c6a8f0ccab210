// This file is for platforms on which the description of a file has no inode.

//go:build !unix

package sysinfo

import "io/fs"

// Inode returns the number of the file's inode, or 0 if it is unknown.
func Inode(fs.FileInfo) uint64 { return 0 }
