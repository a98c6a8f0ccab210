//go:build race

// Says that the race detector is in.

package cli

const raced = true
