// Package vfstest contains tests that every implementation of [vfs.FS] must pass.
package vfstest

import (
	"testing"

	"github.com/oxbow-memory/oxbow/vfs"
)

// Run runs the tests. open must return a new, empty file system for each test.
func Run(t *testing.T, open func(t *testing.T) vfs.FS) {
	for _, tt := range []struct {
		name string
		run  func(t *testing.T, fsys vfs.FS)
	}{
		{"ReadWrite", testReadWrite}, {"Flags", testOpenFlags}, {"Truncate", testTruncate},
		{"ClosedFile", testClosedFile}, {"Names", testFileNames}, {"Directories", testDirectories},
		{"Rename", testRename}, {"RenameOverOpenFile", testRenameOverOpenFile},
		{"RemoveWhileOpen", testRemoveWhileOpen}, {"Remove", testRemove},
		{"Lock", testLock}, {"LockFileReplaced", testLockFileReplaced}, {"LockRace", testLockRace},
		{"ReadFile", testReadFile}, {"WriteFile", testWriteFile}, {"RemoveAll", testRemoveAll},
		{"Concurrent", testConcurrentWrites},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, open(t)) })
	}
}
