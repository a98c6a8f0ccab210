// This file is for systems whose files have no owner that could be kept.

//go:build !unix

package setup

import "io/fs"

func keepOwner(string, fs.FileInfo) {}
