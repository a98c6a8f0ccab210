//go:build unix && !linux

// This file lists the campaigns with processes that run on Unix.

package main

import "io"

// processes are the campaigns that start other processes, and the subcommands with which
// they start this program.
var processes = map[string]func(args []string, stdout, stderr io.Writer) int{
	"mutants":  runMutants,
	"procs":    runProcs,
	procsChild: runProcsChild,
}
