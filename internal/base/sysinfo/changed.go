// This file determines when a file was last changed.

package sysinfo

import (
	"io/fs"
	"time"
)

// Changed returns when the file was last changed: the modification time, or the change time
// of the inode if that is later. Programs cannot set the latter.
func Changed(fi fs.FileInfo) time.Time {
	if at := changedOf(fi); at.After(fi.ModTime()) {
		return at
	}
	return fi.ModTime()
}
