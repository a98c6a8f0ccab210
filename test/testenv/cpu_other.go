//go:build !unix

// Time of the clock, where the system has no processor time.

package testenv

import "time"

var start = time.Now()

// ProcessorTime returns the time since the start.
func ProcessorTime() time.Duration { return time.Since(start) }
