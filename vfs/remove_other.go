// This file removes files with os.Root.

//go:build !windows

package vfs

import "os"

func removeInRoot(root *os.Root, name string) error { return root.Remove(name) }

// RemoveTree deletes the file or directory at a path of the operating system. A directory is deleted with all files in
// it. On this platform, [os.RemoveAll] is sufficient. On Windows, it fails for some file systems.
func RemoveTree(path string) error { return os.RemoveAll(path) }
