// Sync of a directory on Unix.

//go:build unix

package vfs

import (
	"errors"
	"os"
	"syscall"
)

// extraFlags are added when a file is opened: opening a pipe must not wait for
// its other end. Regular files do not know the flag.
const extraFlags = syscall.O_NONBLOCK

func syncDir(root *os.Root, local string) error {
	d, err := root.OpenFile(local, os.O_RDONLY|syscall.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer d.Close()
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}
