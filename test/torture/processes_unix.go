//go:build unix && !linux

// This file lists the campaigns on Unix that start other processes.

package main

import "io"

// processCommands contains the campaigns that start other processes, and the subcommands with which they start this
// program again.
var processCommands = map[string]func(args []string, stdout, stderr io.Writer) int{
	"mutants":         runMutants,
	"procs":           runProcs,
	procsChildCommand: runProcsChild,
}
