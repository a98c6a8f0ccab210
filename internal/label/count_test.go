// This file tests the numbers of entries for each label, which are counted with the index.

package label

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// TestCountInMemory compares the counts from an index and a snapshot with the counts of a scan, after entries were
// added, changed and removed since the index was made.
func TestCountInMemory(t *testing.T) {
	keys := []string{"tag", "project", "status", "verified", oxbow.LabelConfidence, oxbow.LabelFileBlob}
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 51))
		m := openOn(t, vfs.NewMem())
		change := func(i int) {
			var ls []oxbow.Label
			for range r.IntN(4) {
				l := oxbow.Label{Key: keys[r.IntN(len(keys)-int(seed%2))], Value: fmt.Sprintf("0.%d", r.IntN(5))}
				if !slices.Contains(ls, l) {
					ls = append(ls, l)
				}
			}
			name := fmt.Sprint("n", r.IntN(i+1))
			ops := []oxbow.Op{
				oxbow.Add{Name: fmt.Sprint("n", i), Content: "c", Labels: ls},
				oxbow.Relabel{Name: name, Labels: ls},
				oxbow.Remove{Name: name},
			}
			_ = m.Apply(t.Context(), ops[max(0, r.IntN(5)-2)]) // it fails if the name is unknown
		}
		for i := range 300 {
			change(i)
		}
		if err := m.MakeIndex(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i := range 60 {
			change(300 + i)
		}
		_, ok, err := m.LabelCounts(t.Context(), func(key string) bool { return key != oxbow.LabelFileBlob })
		if !ok || err != nil {
			t.Errorf("seed %d: LabelCounts = %v, %v", seed, ok, err)
		}
		for _, key := range append(keys, "", "none") {
			want, err := CountValues(t.Context(), m.Store(), oxbow.Filter{}, key)
			if err != nil {
				t.Fatal(err)
			}
			got, err := CountValuesInMemory(t.Context(), m, key)
			if !slices.Equal(got, want) || err != nil {
				t.Errorf("seed %d, key %q: %v, %v; want %v", seed, key, got, err, want)
			}
			isOmitted := func(c Count) bool { return c.Label.Key == "tag" }
			want = slices.DeleteFunc(want, isOmitted)
			got, err = CountValuesInMemory(t.Context(), m, key, "tag")
			if !slices.Equal(got, want) || err != nil {
				t.Errorf("seed %d, key %q without tags: %v, %v; want %v", seed, key, got, err, want)
			}
		}
		if rep, err := m.Check(t.Context()); err != nil || len(rep.Problems) > 0 {
			t.Errorf("seed %d: Check = %v, %v", seed, rep.Problems, err)
		}
	}
}
