//go:build !linux

// This file stands in where the state of a process is not cheap to see.

package wal

func processStopped(int) bool { return false }
