// This file is for platforms without watches. On these platforms, the events arrive some time after the change or not
// at all.

//go:build !linux

package vfs

// NewWatch always returns [ErrUnsupported].
func (o *OS) NewWatch() (Watch, error) { return nil, ErrUnsupported }
