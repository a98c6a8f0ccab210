//go:build !race

// This file is built if the race detector is off.

package cli

const raced = false
