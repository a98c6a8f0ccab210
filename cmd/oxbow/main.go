// Command oxbow is memory for AI agents on the command line: it remembers,
// recalls, forgets, and serves other programs.
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

// delayFirstCollection has the garbage collector begin at a heap of 32 MiB, which
// most commands end before, instead of 4. From the first collection on, it works as
// it does by default.
func delayFirstCollection() {
	debug.SetGCPercent(800)
	runtime.AddCleanup(new(*byte), func(percent int) { debug.SetGCPercent(percent) }, 100)
}
