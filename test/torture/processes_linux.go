// This file lists the torture tests (campaigns) on Linux that start other processes.

package main

import "io"

// processCommands contains the torture tests (campaigns) that start other processes. It also contains the subcommands
// with which these tests start this program again.
var processCommands = map[string]func(args []string, stdout, stderr io.Writer) int{
	"mutants":            runMutants,
	"procs":              runProcs,
	procsChildCommand:    runProcsChild,
	"syscalls":           runSyscalls,
	syscallsChildCommand: runSyscallsChild,
}
