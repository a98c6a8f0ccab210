//go:build unix && !linux

// This file is for platforms on which it is expensive to detect that a process is stopped.

package sysinfo

func isStopped(int) bool { return false }
