// A dump writes the entries of a store to files, and a load reads the files back into a store. This file tests dumps
// and loads with a store of package oxbow.

package mdtree

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/threeway"
	"github.com/oxbow-memory/oxbow/vfs"
)

// TestLoadIntoMemory checks that a load is a single change of the store, and that undoing it restores the previous
// entries.
func TestLoadIntoMemory(t *testing.T) {
	ctx, fsys := t.Context(), vfs.NewMem()
	open := func(name string) *oxbow.Memory {
		m, err := oxbow.Open(name, &oxbow.Options{FS: fsys})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := m.Close(); err != nil {
				t.Errorf("closing %s: %v", name, err)
			}
		})
		return m
	}
	first, second := open("first.oxbow"), open("second.oxbow")
	var adds []oxbow.Op
	for _, e := range nastyStore(t).entries {
		e = storableEntry(&e)
		add := threeway.NewAddOp(&e)
		if add.Check() != nil || oxbow.NormalName(e.Name) != e.Name {
			continue // no store has such a name (see TestLoadSpellings)
		}
		adds = append(adds, add)
	}
	adds, _, err := oxbow.WithoutTakenAliases(ctx, first, adds) // leave out the aliases that a load would leave out
	for _, add := range adds {
		err = errors.Join(err, first.Apply(ctx, add))
		if err != nil {
			t.Fatalf("Apply(%q): %v", add.Target(), err)
		}
	}
	mustDump(t, first, fsys, "brain")
	if err := second.Apply(ctx, note("mine", "before the load")); err != nil {
		t.Fatal(err)
	}
	p := load(t, mustRead(t, fsys, "brain"), second, &PlanOptions{Mode: ReplaceMode})
	if len(p.AddedNames) < 50 || !slices.Equal(p.RemovedNames, []string{"mine"}) {
		t.Errorf("load added %d entries and removed %q, want 50 or more and mine", len(p.AddedNames), p.RemovedNames)
	}
	mustDump(t, second, fsys, "again")
	if d := diffFiles(files(t, fsys, "again"), files(t, fsys, "brain")); d != "" {
		t.Errorf("dump of what was loaded differs:\n%s", d)
	}

	for c, err := range second.Log(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := second.Revert(ctx, c.Seq); err != nil {
			t.Fatalf("Revert(%d): %v", c.Seq, err)
		}
		break
	}
	if e, err := second.Get(ctx, "mine"); err != nil || e.Content != "before the load" {
		t.Errorf("after undoing the load Get(mine) = %q, %v", e.Content, err)
	}
	if _, err := second.Get(ctx, p.AddedNames[0]); !errors.Is(err, oxbow.ErrNotFound) {
		t.Errorf("after undoing the load Get(%q): %v, want ErrNotFound", p.AddedNames[0], err)
	}
}

// TestLoadSpellings loads a tree from before names were normalized. Two names differ only in their Unicode
// composition. The texts of both entries must be kept.
func TestLoadSpellings(t *testing.T) {
	fsys, ctx := vfs.NewMem(), t.Context()
	open := func(name string) *oxbow.Memory {
		m, err := oxbow.Open(name, &oxbow.Options{FS: fsys})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if r, err := m.Check(context.WithoutCancel(ctx)); err != nil || len(r.Problems) > 0 {
				t.Errorf("Check() = %v, %v", r.Problems, err)
			}
			m.Close()
		})
		return m
	}
	first, second := open("first.oxbow"), open("second.oxbow")
	for _, name := range []string{"caf\u00e9", "cafe\u0301"} {
		if err := first.Store().Apply(ctx, note(name, "text of "+name)); err != nil {
			t.Fatal(err)
		}
	}
	mustDump(t, first, fsys, "brain")
	for _, m := range []*oxbow.Memory{first, second} {
		load(t, mustRead(t, fsys, "brain"), m, &PlanOptions{Mode: ReplaceMode})
	}
	if e, err := first.Get(ctx, "cafe\u0301"); err != nil || e.Content != "text of cafe\u0301" {
		t.Errorf("after a load into its own memory, the decomposed name has %q, %v", e.Content, err)
	}
	for name, want := range map[string]string{"caf\u00e9": "text of caf\u00e9", "caf\u00e9 (2)": "text of cafe\u0301"} {
		if e, err := second.Get(ctx, name); err != nil || e.Content != want {
			t.Errorf("Get(%+q) = %q, %v, want %q", name, e.Content, err, want)
		}
	}
}
