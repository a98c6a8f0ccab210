// This file reads a file's creation time on Windows in place of the change time. Go does not report the time at which
// the attributes were changed.

package sysinfo

import (
	"io/fs"
	"syscall"
	"time"
)

func inodeChangeTime(fi fs.FileInfo) time.Time {
	data, ok := fi.Sys().(*syscall.Win32FileAttributeData)
	if !ok {
		return time.Time{}
	}
	return time.Unix(0, data.CreationTime.Nanoseconds())
}
