//go:build race

// This file is built with the race detector.

package cli

const raced = true
