// This file lists the campaigns on Linux that start other processes.

package main

import "io"

// processes contains the campaigns that start other processes, and the subcommands with which they start this program
// again.
var processes = map[string]func(args []string, stdout, stderr io.Writer) int{
	"mutants":     runMutants,
	"procs":       runProcs,
	procsChild:    runProcsChild,
	"syscalls":    runSyscalls,
	syscallsChild: runSyscallsChild,
}
