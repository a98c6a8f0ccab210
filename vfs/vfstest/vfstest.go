// Package vfstest is the contract of a file system, as tests that every
// implementation of [vfs.FS] passes.
package vfstest

import (
	"testing"

	"github.com/oxbow-memory/oxbow/vfs"
)

// Run runs the contract on the file systems that open returns: each test has a
// new one, which is empty.
func Run(t *testing.T, open func(t *testing.T) vfs.FS) {
	for _, tt := range []struct {
		name string
		run  func(t *testing.T, fsys vfs.FS)
	}{
		{"ReadWrite", testReadWrite}, {"Flags", testFlags}, {"Truncate", testTruncate},
		{"ClosedFile", testClosedFile}, {"Names", testNames}, {"Directories", testDirectories},
		{"Rename", testRename}, {"RenameOverOpenFile", testRenameOverOpenFile},
		{"RemoveWhileOpen", testRemoveWhileOpen}, {"Remove", testRemove},
		{"Lock", testLock}, {"LockFileReplaced", testLockFileReplaced}, {"LockRace", testLockRace},
		{"ReadFile", testReadFile}, {"WriteFile", testWriteFile}, {"RemoveAll", testRemoveAll},
		{"Concurrent", testConcurrent},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, open(t)) })
	}
}
