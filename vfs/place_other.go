//go:build !linux || android

// This file is for platforms on which Stat is used to check a name.

package vfs

import (
	"io/fs"
	"os"
)

// dirHandle is empty, because this platform does not have such a system call.
type dirHandle struct{}

func (dirHandle) open(*os.Root) {}
func (dirHandle) Close() error  { return nil }

func (dirHandle) refersTo(string, fs.FileInfo) (same, known bool) { return false, false }

// refersTo always returns false, because the answer is not known.
func refersTo(string, fs.FileInfo) bool { return false }
