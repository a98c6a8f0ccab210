// Command oxbow remembers, recalls and forgets on the command line, and serves a memory to other
// programs.
package main

import (
	"os"
	"runtime"
	"runtime/debug"

	"github.com/oxbow-memory/oxbow/internal/cli"
)

func main() {
	if os.Getenv("GOGC") == "" {
		delayFirstCollection()
	}
	os.Exit(cli.Main())
}

// delayFirstCollection raises the heap size at which the garbage collector first runs from 4 MiB
// to 32 MiB, because most commands end before they need so much. After the first collection, the
// default setting is restored.
func delayFirstCollection() {
	debug.SetGCPercent(800)
	runtime.AddCleanup(new(*byte), func(percent int) { debug.SetGCPercent(percent) }, 100)
}
