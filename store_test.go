// This file runs the tests that every Store must pass, both with the default store and with a Memory.

package oxbow_test

import (
	"errors"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/test/crashfs"
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

// TestDirectoriesAreMade tests that the first change creates the directories of the file, and that they still exist
// after a crash. Opening and reading a memory must not create any directory.
func TestDirectoriesAreMade(t *testing.T) {
	disk := crashfs.New(nil)
	p := disk.StartProcess()
	open := func(fsys vfs.FS) *oxbow.Memory {
		t.Helper()
		m, err := oxbow.Open("deep/down/m.oxbow", &oxbow.Options{FS: fsys})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := open(p)
	if _, err := m.Get(t.Context(), "deploy"); !errors.Is(err, oxbow.ErrNotFound) {
		t.Errorf("Get() = %v, want %v", err, oxbow.ErrNotFound)
	}
	if names, err := p.ReadDir("."); err != nil || len(names) > 0 {
		t.Errorf("reading made %v, %v", names, err)
	}
	if _, err := m.Remember(t.Context(), oxbow.Entry{Name: "deploy", Content: "on Tuesdays"}); err != nil {
		t.Fatal(err)
	}
	images := 0
	for img, label := range disk.EachCrashFileSystem {
		images++
		again := open(img)
		if e, err := again.Get(t.Context(), "deploy"); err != nil || e.Content != "on Tuesdays" {
			t.Errorf("after a crash (%s), Get() = %q, %v, want what was acknowledged", label, e.Content, err)
		}
		checked(t, again)
		if err := again.Close(); err != nil {
			t.Errorf("Close() = %v", err)
		}
	}
	if images == 0 {
		t.Error("no crash was tried")
	}
	if err := m.Close(); err != nil {
		t.Errorf("Close() = %v", err)
	}
}
