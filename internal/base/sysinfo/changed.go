// When a file was changed last.

package sysinfo

import (
	"io/fs"
	"time"
)

// Changed returns when the file was last changed: the time of its content or, where
// that is later, the one that the system keeps, which no program sets.
func Changed(fi fs.FileInfo) time.Time {
	if at := changedOf(fi); at.After(fi.ModTime()) {
		return at
	}
	return fi.ModTime()
}
