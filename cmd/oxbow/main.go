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
		delayFirstGarbageCollection()
	}
	os.Exit(cli.Main())
}

// delayFirstGarbageCollection lets the heap grow to 32 MiB, instead of 4 MiB, before the garbage collector runs for
// the first time. Most commands end before that. After the first collection, the default setting is restored, unless
// the command has chosen another setting in the meantime.
func delayFirstGarbageCollection() {
	const firstPercent = 800
	debug.SetGCPercent(firstPercent)
	runtime.AddCleanup(new(*byte), func(percent int) {
		if chosen := debug.SetGCPercent(percent); chosen != firstPercent {
			debug.SetGCPercent(chosen)
		}
	}, 100)
}
