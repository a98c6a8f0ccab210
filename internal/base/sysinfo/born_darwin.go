// This file reads the creation time of a file on macOS.

package sysinfo

import "syscall"

// bornAt returns the creation time in nanoseconds since 1970.
func bornAt(_ string, st *syscall.Stat_t) int64 { return st.Birthtimespec.Nano() }
