// What the system says of the terminal and of this process.

package tui

// notice is what the system says of the terminal or of this process.
type notice int

const (
	resizes notice = iota
	stops
	goesOn
	hangsUp
)
