// This file determines when a file was last changed.

package sysinfo

import (
	"io/fs"
	"time"
)

// LastChangeTime returns the time at which a file was last changed. This is the later of the modification time and the
// inode's change time. Programs can set the modification time, but not the change time.
func LastChangeTime(fi fs.FileInfo) time.Time {
	if at := inodeChangeTime(fi); at.After(fi.ModTime()) {
		return at
	}
	return fi.ModTime()
}
