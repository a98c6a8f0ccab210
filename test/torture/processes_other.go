//go:build !unix

// Where there are no signals to kill processes with, there are no such campaigns.

package main

import "io"

// processes are the campaigns that start other processes: none here.
var processes map[string]func(args []string, stdout, stderr io.Writer) int
