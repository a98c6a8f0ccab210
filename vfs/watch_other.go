// This file is for platforms without watches. Their events arrive some time after the
// change or not at all.

//go:build !linux

package vfs

// NewWatch fails with [ErrUnsupported].
func (o *OS) NewWatch() (Watch, error) { return nil, ErrUnsupported }
