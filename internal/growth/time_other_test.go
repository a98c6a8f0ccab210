// The wall clock in place of processor time.

//go:build !unix

package growth

import "time"

var start = time.Now()

// processorTime returns the time since the start.
func processorTime() time.Duration { return time.Since(start) }
