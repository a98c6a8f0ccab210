//go:build !race

// Says that the race detector is not in.

package command

const raced = false
