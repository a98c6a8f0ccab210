//go:build race

// This file is built if the race detector is on.

package cli

const raced = true
