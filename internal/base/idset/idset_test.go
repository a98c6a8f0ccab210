// This file compares sets with maps.

package idset

import (
	"maps"
	"math"
	"math/rand/v2"
	"testing"
)

func TestSet(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var s Set
	want := map[uint64]bool{}
	for range 3000 {
		id := rng.Uint64N(2000)
		if rng.IntN(50) == 0 {
			id = math.MaxUint64 - rng.Uint64N(100)
		}
		if s.Has(id) != want[id] {
			t.Fatalf("Has(%d) = %t", id, s.Has(id))
		}
		s.Add(id)
		want[id] = true
	}
	got := map[uint64]bool{}
	for id := range s.All() {
		got[id] = true
	}
	if s.Len() != len(want) || !maps.Equal(got, want) {
		t.Errorf("%d IDs, and All yields %d; want %d", s.Len(), len(got), len(want))
	}
	for range s.All() {
		break
	}
}
