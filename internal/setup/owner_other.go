// This file is for systems on which a file has no owner that setup could keep.

//go:build !unix

package setup

import "io/fs"

func restoreOwner(string, fs.FileInfo) {}
