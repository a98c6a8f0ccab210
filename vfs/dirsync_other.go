// Platforms on which directories cannot be synced.

//go:build !unix

package vfs

import "io/fs"

const extraFlags = 0

func (o *OS) syncDir(local string) error {
	info, err := o.root.Stat(local)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "sync", Path: local, Err: errNotDir}
	}
	return err
}
