// This file is for platforms without watches, because their events come some time after the
// change or not at all.

//go:build !linux

package vfs

// NewWatch fails with [ErrUnsupported].
func (o *OS) NewWatch() (Watch, error) { return nil, ErrUnsupported }
