//go:build unix && !linux

// Campaigns with processes that run on Unix.

package main

import "io"

// processes are the campaigns that start other processes, by their names, and
// what they start this program as.
var processes = map[string]func(args []string, stdout, stderr io.Writer) int{
	"mutants":  runMutants,
	"procs":    runProcs,
	procsChild: runProcsChild,
}
