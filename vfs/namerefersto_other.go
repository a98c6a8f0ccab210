//go:build !linux || android

// What a name refers to, by package os.

package vfs

import "io/fs"

// place is nothing where Stat is all there is.
type place struct{}

func (place) open(*OS)     {}
func (place) Close() error { return nil }

func (o *OS) refersTo(name string, info fs.FileInfo) (bool, error) { return refersTo(o, name, info) }
