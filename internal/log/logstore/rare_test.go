// This file tests that filters for rare labels select exactly the entries with these labels.

package logstore

import (
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"testing"

	"github.com/oxbow-memory/oxbow/store"
	"github.com/oxbow-memory/oxbow/vfs"
)

// TestRareLabels compares filters for rare labels with a scan of all entries, while entries with and without the
// labels are added, changed and removed. It also compares them after the store was opened again.
func TestRareLabels(t *testing.T) {
	for seed := range uint64(20) {
		r := mathrand.New(mathrand.NewPCG(seed, 49))
		fsys := vfs.NewMem()
		open := func() *DB { return openTest(t, fsys, "memory.oxbow", Options{MinSnapshotOps: 1}) }
		d := open()
		for step := range 60 {
			name := fmt.Sprint("n", r.IntN(8))
			var labels []store.Label
			if r.IntN(4) == 0 {
				labels = append(labels, store.Label{Key: rareLabelKeys[r.IntN(len(rareLabelKeys))], Value: "x"})
			}
			ops := []store.Op{
				store.Add{Name: name, Content: "c", Labels: labels},
				store.Update{Name: name, Content: fmt.Sprint(step), Labels: labels},
				store.Relabel{Name: name, Labels: labels},
				store.Remove{Name: name},
			}
			// The change fails if it adds an existing name or changes an unknown name.
			_ = d.Apply(t.Context(), ops[r.IntN(len(ops))])
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
			compareRare(t, d, seed, step)
		}
		if rep, err := d.Check(t.Context()); err != nil || len(rep.Problems) > 0 {
			t.Errorf("seed %d: Check = %v, %v", seed, rep.Problems, err)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// compareRare compares the filters for rare labels with a scan of all entries.
func compareRare(t *testing.T, d *DB, seed uint64, step int) {
	t.Helper()
	ids := func(f store.Filter, keep func(*store.Entry) bool) (all []uint64) {
		for e, err := range d.Entries(t.Context(), f) {
			if err != nil {
				t.Fatal(err)
			}
			if keep(&e) {
				all = append(all, e.ID)
			}
		}
		return all
	}
	for _, values := range [][]string{rareLabelKeys[:1], rareLabelKeys[1:2], rareLabelKeys[2:], rareLabelKeys} {
		f := store.Filter{Terms: []store.Term{{Key: "has", Values: values}}}
		want := ids(store.Filter{}, func(e *store.Entry) bool { return f.Match(e) })
		if got := ids(f, func(*store.Entry) bool { return true }); !slices.Equal(got, want) {
			t.Fatalf("seed %d, step %d: has:%v selects %v, want %v", seed, step, values, got, want)
		}
	}
}
