// This file runs the contract of Store on the default store and on Memory.

package oxbow_test

import (
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestStore(t *testing.T) {
	for name, newFS := range map[string]func(t *testing.T) vfs.FS{
		"memory": func(*testing.T) vfs.FS { return vfs.NewMem() },
		"os": func(t *testing.T) vfs.FS {
			d, err := vfs.Dir(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = d.Close() })
			return d
		},
	} {
		t.Run(name, func(t *testing.T) {
			var fsys vfs.FS
			reopen := func(t *testing.T) oxbow.Store { return openFS(t, fsys) }
			storetest.Run(t, func(t *testing.T) oxbow.Store {
				fsys = newFS(t)
				return reopen(t)
			}, storetest.Can{Labels: true, Aliases: true, Reopen: reopen})
		})
	}
}

// openFS opens the memory m.oxbow in fsys.
func openFS(t testing.TB, fsys vfs.FS) *oxbow.Memory {
	t.Helper()
	m, err := oxbow.Open("m.oxbow", &oxbow.Options{FS: fsys})
	if err != nil {
		t.Fatal(err)
	}
	return m
}
