//go:build !linux || android

// This file is for platforms without a system call that checks whether a path leads to a certain file. On these
// platforms, Stat is used for this check.

package vfs

import (
	"io/fs"
	"os"
)

// dirHandle is empty, because this platform does not have a system call that checks whether a path leads to a certain
// file.
type dirHandle struct{}

func (dirHandle) open(*os.Root) {}
func (dirHandle) Close() error  { return nil }

func (dirHandle) refersTo(string, fs.FileInfo) (same, isKnown bool) { return false, false }

// refersTo always returns false, because the answer is not known.
func refersTo(string, fs.FileInfo) bool { return false }
