//go:build unix

// Processor time of the process, where the system has it.

package testenv

import (
	"syscall"
	"time"
)

// ProcessorTime returns what all threads of the process have used of the
// processors: on a shared machine it varies less than the clock.
func ProcessorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
