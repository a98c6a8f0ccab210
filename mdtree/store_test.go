// Runs the contract of stores over a tree, on every file system.

package mdtree

import (
	"context"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
	"github.com/oxbow-memory/oxbow/vfs/crashfs"
)

func openOn(t *testing.T, fsys vfs.FS, o Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), fsys, cards{}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// dir returns a new directory of the operating system.
func tempTree(t *testing.T) (*vfs.OS, string) {
	t.Helper()
	path := t.TempDir()
	fsys, err := vfs.Dir(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = fsys.Close() })
	return fsys, path
}

func TestContract(t *testing.T) {
	for _, sys := range []struct {
		name string
		make func(t *testing.T) vfs.FS
	}{
		{"mem", func(*testing.T) vfs.FS { return vfs.NewMem() }},
		{"crashfs", func(*testing.T) vfs.FS { return crashfs.New(vfs.NewMem()).Process() }},
		{"os", func(t *testing.T) vfs.FS { fsys, _ := tempTree(t); return fsys }},
	} {
		t.Run(sys.name, func(t *testing.T) {
			var last vfs.FS
			open := func(t *testing.T) oxbow.Store { return openOn(t, last, Options{}) }
			storetest.Run(t, func(t *testing.T) oxbow.Store {
				last = sys.make(t)
				return open(t)
			}, storetest.Can{Labels: true, Aliases: true, Reopen: open,
				Kinds: []oxbow.Kind{oxbow.Note, oxbow.Archive, oxbow.World, oxbow.History, oxbow.Handoff}})
		})
	}
}

// A memory over a tree keeps its index up by what changed, not by reading all.
func TestMemoryOverATree(t *testing.T) {
	fsys, _ := tempTree(t)
	s := openOn(t, fsys, Options{})
	m := oxbow.New(s, nil)
	ctx := context.Background()
	for _, e := range []oxbow.Entry{{Name: "deploy", Content: "we ship on tuesdays"}, {Name: "coffee", Content: "black, no sugar"}} {
		if _, err := m.Remember(ctx, e); err != nil {
			t.Fatal(err)
		}
	}
	recall := func(q, want string) {
		t.Helper()
		hits, err := m.Recall(ctx, oxbow.Query{Text: q})
		got := ""
		if len(hits) > 0 {
			got = hits[0].Entry.Name
		}
		if err != nil || got != want {
			t.Errorf("Recall(%q) = %q, %v; want %q", q, got, err, want)
		}
	}
	recall("tuesdays", "deploy")
	if _, err := m.Remember(ctx, oxbow.Entry{Name: "deploy", Content: "we ship on fridays"}); err != nil {
		t.Fatal(err)
	}
	recall("fridays", "deploy")
	recall("tuesdays", "")
	if err := m.Forget(ctx, "coffee"); err != nil {
		t.Fatal(err)
	}
	recall("sugar", "")
}
