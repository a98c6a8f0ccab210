// This file measures calls over a loopback connection, and the same calls of the store itself.

package remote

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/store/storetest"
)

// BenchmarkStore compares a store in a file with the same store behind a loopback connection, with and without a
// watcher.
func BenchmarkStore(b *testing.B) {
	m := storetest.Open(b, filepath.Join(b.TempDir(), "m.oxbow"), nil)
	s := serve(b, m, nil)
	watched := dial(b, s)
	watched.Watch(func(oxbow.Event) {})
	const entries = 10_000
	var ops []oxbow.Op
	for i := range entries {
		ops = append(ops, oxbow.Add{Name: fmt.Sprint("e", i), Content: strings.Repeat("some words of a note. ", 20)})
	}
	if err := m.Apply(b.Context(), ops...); err != nil {
		b.Fatal(err)
	}
	for _, at := range []struct {
		name  string
		store oxbow.Store
	}{{"local", m.Store()}, {"remote", dial(b, s)}, {"watched", watched}} {
		b.Run("Get/"+at.name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				if _, err := at.store.Get(b.Context(), fmt.Sprint("e", i*7919%entries)); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("Apply/"+at.name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				if err := at.store.Apply(
					b.Context(),
					oxbow.Update{Name: "e1", Content: fmt.Sprint("content ", i)},
				); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("Entries/"+at.name, func(b *testing.B) {
			for b.Loop() {
				n := 0
				for _, err := range at.store.Entries(b.Context(), oxbow.Filter{}) {
					if err != nil {
						b.Fatal(err)
					}
					n++
				}
				if n != entries {
					b.Fatalf("%d entries", n)
				}
			}
		})
	}
}
