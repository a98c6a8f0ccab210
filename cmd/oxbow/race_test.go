//go:build race

// This file says that the race detector is in.

package main

const raced = true
