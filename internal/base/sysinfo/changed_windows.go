// The time at which a file was created, on Windows: Go does not tell when its
// attributes were changed.

package sysinfo

import (
	"io/fs"
	"syscall"
	"time"
)

func changedOf(fi fs.FileInfo) time.Time {
	data, ok := fi.Sys().(*syscall.Win32FileAttributeData)
	if !ok {
		return time.Time{}
	}
	return time.Unix(0, data.CreationTime.Nanoseconds())
}
