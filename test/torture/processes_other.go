//go:build !unix

// This file is for operating systems without signals that kill processes. Torture tests (campaigns) that start other
// processes cannot run on these systems.

package main

import "io"

// processCommands is empty on this operating system, because it has no signals. The campaigns that start other
// processes kill them with signals.
var processCommands map[string]func(args []string, stdout, stderr io.Writer) int
