// This file removes files by os.Root.

//go:build !windows

package vfs

import "os"

func removeInRoot(root *os.Root, name string) error { return root.Remove(name) }

// RemoveTree deletes the file or directory at a path of the operating system, including all files
// in a directory. It is [os.RemoveAll], which fails on some file systems of Windows.
func RemoveTree(path string) error { return os.RemoveAll(path) }
