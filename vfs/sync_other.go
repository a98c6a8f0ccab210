//go:build !linux

// This file leaves syncing to package os where that is the right thing: on
// macOS it is F_FULLFSYNC, on Windows FlushFileBuffers.

package vfs

import "os"

func asFile(f *os.File) (File, error) { return f, nil }
