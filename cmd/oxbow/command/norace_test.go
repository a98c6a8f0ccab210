//go:build !race

// This file says that the race detector is not in.

package command

const raced = false
