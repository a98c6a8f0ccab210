// The time of change of a file's node, on Linux.

package sysinfo

import (
	"io/fs"
	"syscall"
	"time"
)

func changedOf(fi fs.FileInfo) time.Time {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return time.Time{}
	}
	return time.Unix(st.Ctim.Unix())
}
