//go:build !windows

// This file is for platforms on which open files can be renamed and removed.

package vfs

func retryWhileBusy(fn func() error) error { return fn() }
