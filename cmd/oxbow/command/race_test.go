//go:build race

// This file says that the race detector is in.

package command

const raced = true
