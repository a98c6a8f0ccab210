// This file makes tests collect garbage less often.

package testenv

import (
	"os"
	"runtime/debug"
)

// init makes garbage collection rarer in every program that imports this package. With the usual settings, the
// collector takes a fifth of the processor time in tests that open many small stores. If the environment variable GOGC
// is set, init does nothing.
func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbageCollectionPercent)
		debug.SetMemoryLimit(garbageCollectionMemoryBytes)
	}
}

const (
	garbageCollectionPercent     = 400
	garbageCollectionMemoryBytes = 1 << 30 // memory use, in bytes, from which on the garbage collector runs more often
)
