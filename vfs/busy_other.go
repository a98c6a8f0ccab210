//go:build !windows

// Platforms on which an open file can be renamed and removed.

package vfs

func untilFree(fn func() error) error { return fn() }
