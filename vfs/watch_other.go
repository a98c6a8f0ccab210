// This file says that there is no watch: on these platforms notices come some
// time after the change, or there are none.

//go:build !linux

package vfs

// NewWatch fails with [ErrUnsupported].
func (o *OS) NewWatch() (Watch, error) { return nil, ErrUnsupported }
