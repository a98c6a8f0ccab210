// The time at which a file was created, on other Unix systems.

//go:build unix && !linux && !darwin

package sysinfo

import "syscall"

// bornAt returns 0: the time is not read.
func bornAt(string, *syscall.Stat_t) int64 { return 0 }
