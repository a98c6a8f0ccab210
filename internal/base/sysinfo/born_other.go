// This file is for Unix systems other than Linux and macOS. On these systems, creation times are not read.

//go:build unix && !linux && !darwin

package sysinfo

import "syscall"

// readCreationUnixNano returns 0, which means that the creation time is unknown.
func readCreationUnixNano(string, *syscall.Stat_t) int64 { return 0 }
