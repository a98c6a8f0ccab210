// This file reads the creation time of a file on Linux.

package sysinfo

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// readCreationUnixNano returns the creation time in nanoseconds since 1970. It returns 0 if the file system does not
// store creation times.
func readCreationUnixNano(path string, _ *syscall.Stat_t) int64 {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_BTIME, &st)
	if err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return 0
	}
	return st.Btime.Sec*1e9 + int64(st.Btime.Nsec)
}
