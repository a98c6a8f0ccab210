// This file reads the creation time of a file on macOS.

package sysinfo

import "syscall"

// readCreationUnixNano returns the time at which a file was created, in nanoseconds since 1970.
func readCreationUnixNano(_ string, st *syscall.Stat_t) int64 { return st.Birthtimespec.Nano() }
