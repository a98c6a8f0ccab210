// This file runs the tests that every store must pass. It runs them with the default store and with each layout on the
// browser's files.

package browser_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/layout/crabtalk"
	"github.com/oxbow-memory/oxbow/layout/entryfiles"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/test/browser"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestStores(t *testing.T) {
	files := 0
	fresh := func(t *testing.T) vfs.FS {
		t.Helper()
		files++
		f, err := browser.Open(t.Context(), fmt.Sprintf("store-%d", files), nil)
		if errors.Is(err, vfs.ErrUnsupported) {
			t.Skipf("needs a browser: %v", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	home := func(d layout.Dialect) func(t *testing.T, fsys vfs.FS) oxbow.Store {
		return func(t *testing.T, fsys vfs.FS) oxbow.Store {
			t.Helper()
			h, err := d.Open(t.Context(), layout.Options{FS: fsys, Path: "home"})
			if err != nil {
				t.Fatal(err)
			}
			return h.Memory()
		}
	}
	for _, tc := range []struct {
		name string
		open func(t *testing.T, fsys vfs.FS) oxbow.Store
		can  storetest.Can
	}{
		{"oxbow", func(t *testing.T, fsys vfs.FS) oxbow.Store {
			t.Helper()
			m, err := oxbow.Open("deep/memory.oxbow", &oxbow.Options{FS: fsys})
			if err != nil {
				t.Fatal(err)
			}
			return m
		}, storetest.Can{Labels: true, Aliases: true}},
		{"crabtalk", home(crabtalk.Dialect()),
			storetest.Can{Aliases: true, Kinds: []oxbow.Kind{oxbow.Note, oxbow.Archive}, Created: time.Second}},
		{"entryfiles", home(entryfiles.Dialect()), storetest.Can{Labels: true, Aliases: true}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var last vfs.FS
			can := tc.can
			can.Reopen = func(t *testing.T) oxbow.Store { return tc.open(t, last) }
			storetest.Run(t, func(t *testing.T) oxbow.Store {
				last = fresh(t)
				return tc.open(t, last)
			}, can)
		})
	}
}
