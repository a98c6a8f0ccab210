// What the tests share: homes in memory, and calling tools.

package entryfiles

import (
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/dialect"
	"github.com/oxbow-memory/oxbow/dialect/dialecttest"
	"github.com/oxbow-memory/oxbow/vfs"
)

var noon = time.Date(2026, 4, 14, 12, 0, 0, 0, time.UTC)

func openHome(t *testing.T, fsys vfs.FS) *home {
	t.Helper()
	h, err := open(t.Context(), dialect.Options{FS: fsys})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h.(*home)
}

type m = dialecttest.Args

var (
	put      = dialecttest.Put
	read     = dialecttest.Read
	call     = dialecttest.Call
	mustCall = dialecttest.MustCall
)
