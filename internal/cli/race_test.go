//go:build race

// Says that the race detector is in.

package command

const raced = true
