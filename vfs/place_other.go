//go:build !linux || android

// This file is for platforms on which a name is checked with Stat.

package vfs

import (
	"io/fs"
	"os"
)

// dirHandle is empty on platforms without such a call.
type dirHandle struct{}

func (dirHandle) open(*os.Root) {}
func (dirHandle) Close() error  { return nil }

func (dirHandle) refersTo(string, fs.FileInfo) (same, known bool) { return false, false }

// refersTo returns false, because the answer is unknown.
func refersTo(string, fs.FileInfo) bool { return false }
