//go:build !unix

// This file is for operating systems without signals that kill processes. They lack the campaigns that start other
// processes.

package main

import "io"

// processCommands is empty, because the campaigns that start other processes need signals.
var processCommands map[string]func(args []string, stdout, stderr io.Writer) int
