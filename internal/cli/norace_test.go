//go:build !race

// This file is built without the race detector.

package cli

const raced = false
