// This file syncs directories on Unix.

//go:build unix

package vfs

import (
	"errors"
	"os"
	"syscall"
)

// extraOpenFlags are the flags that are added whenever a file is opened. Without O_NONBLOCK, opening a named pipe would
// wait until a process opens the opposite end. The flag does not affect regular files.
const extraOpenFlags = syscall.O_NONBLOCK

func syncDir(root *os.Root, relPath string) error {
	d, err := root.OpenFile(relPath, os.O_RDONLY|syscall.O_DIRECTORY, 0)
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
