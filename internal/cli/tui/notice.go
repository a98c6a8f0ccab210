// This file defines the notices of the operating system.

package tui

// notice is a message of the operating system about the terminal or this process.
type notice int

const (
	resizes notice = iota
	stops
	goesOn
	hangsUp
)
