// This file tests how the newest entries that a filter selects are listed by the index.

package oxbow

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/store"
	"github.com/oxbow-memory/oxbow/vfs"
)

// randomListFilter returns a filter with random conditions on labels, kinds, names and times.
func randomListFilter(r *rand.Rand) (f Filter) {
	for range r.IntN(3) {
		t := Term{Key: []string{"kind", "has", "file", "person", "tag", "name"}[r.IntN(6)], Not: r.IntN(3) == 0}
		for range 1 + r.IntN(2) {
			value := []string{"a", "b", "c", "caf\u00e9", "cafe\u0301", "missing"}[r.IntN(6)]
			switch t.Key {
			case "kind":
				value = store.Kind(r.IntN(4)).String()
			case "has":
				value = []string{"file", "person", "tag"}[r.IntN(3)]
			case "name":
				value = fmt.Sprint("n", r.IntN(20))
			}
			t.Values = append(t.Values, value)
		}
		f.Terms = append(f.Terms, t)
	}
	if r.IntN(4) == 0 {
		f.After = time.Unix(1776162225+r.Int64N(100), 0)
	}
	if r.IntN(4) == 0 {
		f.Before = time.Unix(1776162225+r.Int64N(100), 0)
	}
	return f
}

// TestNewestFromIndex compares pages that the index lists with the pages that a scan of all entries finds. The entries
// are partly in the index and partly newer. The clock does not always go forward.
func TestNewestFromIndex(t *testing.T) {
	for _, rank := range []string{RankOxbow, RankSeed} {
		answers, entries := 0, 0
		for seed := range uint64(10) {
			r := rand.New(rand.NewPCG(seed, 3))
			clock := func() time.Time { return time.Unix(1776162225+r.Int64N(100), 0) }
			o := &Options{FS: vfs.NewMem(), Clock: clock, Ranking: rank}
			m, err := Open("m.oxbow", o)
			if err != nil {
				t.Fatal(err)
			}
			writeEntries := func(count int) {
				for range count {
					name := fmt.Sprint("n", r.IntN(60))
					var labels []Label
					for range r.IntN(4) {
						key := []string{"file", "person", "tag"}[r.IntN(3)]
						value := []string{"a", "b", "c", "caf\u00e9"}[r.IntN(4)]
						labels = append(labels, Label{Key: key, Value: value})
					}
					content := []string{"", "some words"}[r.IntN(2)]
					ops := []Op{
						Add{Name: name, Kind: store.Kind(r.IntN(4)), Content: content, Labels: labels},
						Relabel{Name: name, Labels: labels},
						Remove{Name: name},
					}
					_ = m.Apply(t.Context(), ops[r.IntN(len(ops))]) // It fails if the name is unknown or taken.
				}
			}
			writeEntries(150)
			if _, err := m.refreshIndex(t.Context()); err != nil {
				t.Fatal(err)
			}
			for range 60 {
				writeEntries(r.IntN(3))
				f := randomListFilter(r)
				offset := r.IntN(4)
				end := offset + r.IntN(8)
				want, wantTotal, err := store.Newest(t.Context(), m.Store(), f, offset, end-offset)
				if err != nil {
					t.Fatal(err)
				}
				got, total, ok, err := m.newestFromIndex(t.Context(), f, offset, end)
				if err != nil {
					t.Fatal(err)
				}
				if ok {
					answers++
					entries += len(got)
				} else {
					got, total, err = m.Newest(t.Context(), f, offset, end-offset)
					if err != nil {
						t.Fatal(err)
					}
				}
				isSame := func(a, b Entry) bool { return a.ID == b.ID && a.Version == b.Version && a.Name == b.Name }
				if total != wantTotal || !slices.EqualFunc(got, want, isSame) {
					t.Fatalf("%s, seed %d: the newest of %q from %d to %d are %v of %d, want %v of %d",
						rank, seed, f, offset, end, got, total, want, wantTotal)
				}
			}
			if rep, err := m.Check(t.Context()); err != nil || len(rep.Problems) > 0 {
				t.Errorf("seed %d: Check = %v, %v", seed, rep.Problems, err)
			}
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if rank == RankOxbow && (answers < 80 || entries < 80) {
			t.Errorf("the index listed %d entries on %d pages", entries, answers)
		}
	}
}
