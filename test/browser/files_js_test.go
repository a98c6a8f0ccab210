// This file runs the tests that every file system must pass on the browser's files.

package browser_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/test/browser"
	"github.com/oxbow-memory/oxbow/vfs"
	"github.com/oxbow-memory/oxbow/vfs/vfstest"
)

func TestFiles(t *testing.T) {
	vfstest.Run(t, func(t *testing.T) vfs.FS {
		fsys, err := browser.Open(t.Context(), strings.ReplaceAll(t.Name(), "/", "-"), nil)
		if errors.Is(err, vfs.ErrUnsupported) {
			t.Skipf("needs a browser: %v", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { fsys.Close() })
		return fsys
	})
}
