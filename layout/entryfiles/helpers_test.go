// This file contains helper functions for the tests of this package. They open homes in memory and call their tools.

package entryfiles

import (
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/layout/internal/layouttest"
	"github.com/oxbow-memory/oxbow/vfs"
)

var noon = time.Date(2026, 4, 14, 12, 0, 0, 0, time.UTC)

func openHome(t *testing.T, fsys vfs.FS) *home {
	t.Helper()
	h, err := newHome(t.Context(), layout.Options{FS: fsys})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h.(*home)
}

type m = layouttest.Args

var (
	put      = layouttest.WriteFile
	read     = layouttest.ReadFile
	call     = layouttest.CallHomeTool
	mustCall = layouttest.MustCallHomeTool
)
