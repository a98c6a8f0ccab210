// This file reads the change time of an inode on macOS.

package sysinfo

import (
	"io/fs"
	"syscall"
	"time"
)

func inodeChangeTime(fi fs.FileInfo) time.Time {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return time.Time{}
	}
	return time.Unix(st.Ctimespec.Unix())
}
