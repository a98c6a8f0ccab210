// This file reads the processor time and the memory of this process on Linux.

package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// processorTime returns the processor time of all threads in this process, with the scheduler's resolution.
func processorTime() (time.Duration, bool) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		return 0, false
	}
	return time.Duration(t.Nano()), true
}

// threadProcessorTime returns the processor time of this thread.
func threadProcessorTime() (time.Duration, bool) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0, false
	}
	return time.Duration(t.Nano()), true
}

// processorTimeOf returns the processor time of all threads of the process pid. The second result is false if the time
// is unknown, for example because the process has ended.
func processorTimeOf(pid int) (time.Duration, bool) {
	var t unix.Timespec
	// Compute the number of the clock that measures the processor time of the process pid. The upper bits contain the
	// complement of pid. The lower three bits contain the clock's type, and type 2 is the time on a processor.
	clock := int32(^uint32(pid)<<3 | 2)
	if err := unix.ClockGettime(clock, &t); err != nil {
		return 0, false
	}
	return time.Duration(t.Nano()), true
}

// anonymousMemoryBytes returns the resident memory of this process that is not backed by a file, in bytes. The second
// result is false if the size is unknown.
func anonymousMemoryBytes() (int64, bool) {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "RssAnon:" {
			n, err := strconv.ParseInt(f[1], 10, 64)
			return n << 10, err == nil
		}
	}
	return 0, false
}

// peakMemoryBytes returns the peak resident memory of a finished process in bytes, or 0 if it is unknown. The operating
// system started the process as a copy of this process, so the peak includes the memory of this process at that time.
// Therefore a value that is not higher than [ownPeakMemoryBytes] says nothing about the finished process.
func peakMemoryBytes(s *os.ProcessState) int64 {
	if u, ok := s.SysUsage().(*syscall.Rusage); ok {
		return u.Maxrss << 10
	}
	return 0
}

// ownPeakMemoryBytes returns the peak resident memory of this process in bytes.
func ownPeakMemoryBytes() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return u.Maxrss << 10
}
