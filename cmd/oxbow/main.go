// Command oxbow is memory for AI agents on the command line: it remembers,
// recalls, forgets, and serves other programs.
package main

import (
	"os"

	"github.com/oxbow-memory/oxbow/cmd/oxbow/command"
)

func main() { os.Exit(command.Main()) }
