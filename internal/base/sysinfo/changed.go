// This file determines when a file was last changed.

package sysinfo

import (
	"io/fs"
	"time"
)

// LastChangeTime returns the time of a file's last change: the modification time, or the inode's
// change time if that is later. Programs cannot set the change time of the inode.
func LastChangeTime(fi fs.FileInfo) time.Time {
	if at := inodeChangeTime(fi); at.After(fi.ModTime()) {
		return at
	}
	return fi.ModTime()
}
