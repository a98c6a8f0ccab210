// This file tests that a state finds the entries with an alias.

package logstore

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/oxbow-memory/oxbow/store"
	"github.com/oxbow-memory/oxbow/vfs"
)

// TestAliasIndex compares the entries that a state finds by alias with a scan of all entries, while entries with
// aliases are added, changed and removed, and while changes are undone. It also compares them after the store was
// opened again.
func TestAliasIndex(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 51))
		fsys := vfs.NewMem()
		open := func() *DB { return openTest(t, fsys, "memory.oxbow", Options{MinSnapshotOps: 1}) }
		d := open()
		for range 80 {
			name := fmt.Sprint("n", r.IntN(8))
			var aliases []string
			for range r.IntN(3) {
				aliases = append(aliases, fmt.Sprint("a", r.IntN(6)))
			}
			ops := []store.Op{
				store.Add{Name: name, Content: "c", Aliases: aliases},
				store.Update{Name: name, Content: "d", Aliases: aliases},
				store.Alias{Name: name, Aliases: aliases},
				store.Remove{Name: name},
			}
			// The change fails if it adds an existing name or changes an unknown name.
			_ = d.Apply(t.Context(), ops[r.IntN(len(ops))])
			if r.IntN(6) == 0 {
				// An undo may restore an entry whose name another entry has now. It may also be impossible.
				_, _, _ = store.Undo(t.Context(), d, 1+r.IntN(4))
			}
			if r.IntN(12) == 0 {
				if err := d.Checkpoint(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if r.IntN(12) == 0 {
				if err := d.Close(); err != nil {
					t.Fatal(err)
				}
				d = open()
			}
			err := d.withState(t.Context(), func(st *state) {
				compareAliasIndex(t, st)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if rep, err := d.Check(t.Context()); err != nil || len(rep.Problems) > 0 {
			t.Errorf("seed %d: Check = %v, %v", seed, rep.Problems, err)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// compareAliasIndex compares the alias index of the state with the aliases of its changed entries.
func compareAliasIndex(t *testing.T, st *state) {
	t.Helper()
	want := map[string][]uint64{}
	for _, e := range st.entriesNotInSnapshotByID {
		for _, alias := range e.Aliases {
			if !slices.Contains(want[alias], e.ID) {
				want[alias] = append(want[alias], e.ID)
			}
		}
	}
	got := map[string][]uint64{}
	for alias, es := range st.changedByAlias {
		for _, e := range es {
			got[alias] = append(got[alias], e.ID)
			if i, found := st.searchChangedEntry(e.ID); !found || st.entriesNotInSnapshotByID[i] != e {
				t.Fatalf("the alias %q finds an old version of entry %d", alias, e.ID)
			}
		}
	}
	if !maps.EqualFunc(got, want, slices.Equal) {
		t.Fatalf("entries by alias: %v, want %v", got, want)
	}
}
