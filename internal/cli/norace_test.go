//go:build !race

// Says that the race detector is not in.

package cli

const raced = false
