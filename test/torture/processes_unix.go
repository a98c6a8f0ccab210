//go:build unix && !linux

// This file lists the torture tests (campaigns) that start other processes, for Unix systems other than Linux.

package main

import "io"

// processCommands contains the torture tests (campaigns) that start other processes. It also contains the subcommands
// with which these tests start this program again.
var processCommands = map[string]func(args []string, stdout, stderr io.Writer) int{
	"mutants":         runMutants,
	"procs":           runProcs,
	procsChildCommand: runProcsChild,
}
