//go:build !windows

// This file stands in where a file that is open can be renamed and removed.

package vfs

func untilFree(fn func() error) error { return fn() }
