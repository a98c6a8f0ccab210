//go:build !unix

// This file measures wall-clock time on systems without processor time.

package testenv

import "time"

var start = time.Now()

// ProcessorTime returns the wall-clock time since the start of the process, because the processor time is not known on
// this system.
func ProcessorTime() time.Duration { return time.Since(start) }
