// This file is for platforms on which the operating system cannot be asked to report changes of files. On these
// platforms, NewWatch fails, so programs notice a change some time later or not at all.

//go:build !linux

package vfs

// NewWatch always returns [ErrUnsupported].
func (o *OS) NewWatch() (Watch, error) { return nil, ErrUnsupported }
