//go:build !unix

// This file is for systems without signals for killing processes, which have no such
// campaigns.

package main

import "io"

// processes is empty, because the campaigns that start other processes need signals.
var processes map[string]func(args []string, stdout, stderr io.Writer) int
