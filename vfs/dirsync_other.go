// This file lets the package compile on platforms on which directories cannot be synced. There, syncDir only checks
// that the name leads to a directory.

//go:build !unix

package vfs

import (
	"io/fs"
	"os"
)

const extraOpenFlags = 0

func syncDir(root *os.Root, relPath string) error {
	info, err := root.Stat(relPath)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "sync", Path: relPath, Err: errNotDir}
	}
	return err
}
