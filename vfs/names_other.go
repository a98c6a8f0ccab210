// This file is for platforms on which a file's description does not contain the number of its names (hard links). On
// Windows, only an open file can be asked for this number.

//go:build !unix

package vfs

import "io/fs"

func linkCount(fs.FileInfo) uint64 { return 1 }
