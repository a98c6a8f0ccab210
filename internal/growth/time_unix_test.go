// Processor time of the process, where the system tells it.

//go:build unix

package growth

import (
	"syscall"
	"time"
)

// processorTime returns what the process has used of the processors.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
