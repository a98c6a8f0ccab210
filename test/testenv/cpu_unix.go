//go:build unix

// This file measures processor time on Unix.

package testenv

import (
	"syscall"
	"time"
)

// ProcessorTime returns the processor time that all threads of the process have used. On a
// shared machine it varies less than the wall-clock time.
func ProcessorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
