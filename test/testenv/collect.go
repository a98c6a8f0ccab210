// This file makes tests collect garbage less often.

package testenv

import (
	"os"
	"runtime/debug"
)

// init makes garbage collection rarer in every program that imports this package, unless the environment variable GOGC
// is set. Otherwise the collector takes a fifth of the processor time in tests that open many small stores.
func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbageCollectionPercent)
		debug.SetMemoryLimit(garbageCollectionMemory)
	}
}

const (
	garbageCollectionPercent = 400
	garbageCollectionMemory  = 1 << 30 // memory use, in bytes, from which on the garbage collector runs more often
)
