//go:build !linux

// This file syncs files by package os, which uses F_FULLFSYNC on macOS and FlushFileBuffers
// on Windows.

package vfs

import "os"

func asFile(f *os.File) (File, error) { return f, nil }
