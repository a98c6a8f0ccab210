// This file adds the browser's file system to those that keep the contract. A
// browser runs it by -test.run=TestContract/Browser: it has no other files.

package vfs_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/vfs"
	"github.com/oxbow-memory/oxbow/vfs/browser"
)

func ofPlatform() []system {
	return []system{{"Browser", func(t *testing.T) vfs.FS {
		fsys, err := browser.Open(t.Context(), strings.ReplaceAll(t.Name(), "/", "-"), nil)
		if errors.Is(err, vfs.ErrUnsupported) {
			t.Skipf("needs a browser: %v", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { fsys.Close() })
		return fsys
	}}}
}
