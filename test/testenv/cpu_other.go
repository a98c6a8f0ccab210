//go:build !unix

// This file implements ProcessorTime by wall-clock time, for systems on which the processor time of a process is not
// known.

package testenv

import "time"

var processStartTime = time.Now()

// ProcessorTime returns the wall-clock time since the start of the process, because the processor time is not known on
// this system.
func ProcessorTime() time.Duration { return time.Since(processStartTime) }
