// This file tests that no name or alias refers to two entries at the same time, even if changes are undone and entries
// are restored.

package logstore_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// TestNoWordMeansTwo tests that a word never refers to two entries, neither as a name nor as an alias. It remembers,
// forgets, restores and reverts at random, with only six words as names and aliases. After each step, no word may
// belong to two entries.
func TestNoWordMeansTwo(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		fs := vfs.NewMem()
		m := storetest.Open(t, "memory.oxbow", &oxbow.Options{FS: fs})
		ctx := t.Context()
		word := func() string { return fmt.Sprintf("w%d", r.IntN(6)) }
		seq, steps := uint64(0), []string{}
		for range 120 {
			var err error
			switch what := r.IntN(6); what {
			case 0, 1, 2:
				name, alias := word(), []string{word()}
				if name == alias[0] {
					alias = nil
				}
				steps = append(steps, fmt.Sprint("remember ", name, alias))
				_, err = m.Remember(ctx, oxbow.Entry{Name: name, Content: fmt.Sprint(len(steps)), Aliases: alias})
			case 3:
				name := word()
				steps = append(steps, "forget "+name)
				err = m.Forget(ctx, name)
			case 4:
				name, at := word(), 1+r.Uint64N(seq+1)
				steps = append(steps, fmt.Sprintf("restore %s@%d", name, at))
				_, err = m.Restore(ctx, name, at)
			case 5:
				at := 1 + r.Uint64N(seq+1)
				steps = append(steps, fmt.Sprint("undo ", at))
				_, err = m.Revert(ctx, at)
			}
			expected := errors.As(err, new(*oxbow.AliasError)) || errors.Is(err, oxbow.ErrNotFound) ||
				errors.Is(err, oxbow.ErrConflict)
			if err != nil && !expected {
				t.Fatalf("seed %d: %v: %v", seed, steps, err)
			}
			for c, err := range m.Log(ctx) {
				if err != nil {
					t.Fatal(err)
				}
				seq = c.Seq
				break
			}
			owners := map[string][]string{}
			for e, err := range m.Entries(ctx, oxbow.Filter{}) {
				if err != nil {
					t.Fatal(err)
				}
				for _, w := range append(slices.Clone(e.Aliases), e.Name) {
					owners[w] = append(owners[w], e.Name)
				}
			}
			for w, names := range owners {
				if len(names) > 1 {
					t.Fatalf("seed %d: %q means %q after %q", seed, w, names, steps)
				}
			}
		}
	}
}
