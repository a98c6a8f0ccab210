// This file tests the conditions of a query that functions of the caller check.

package index

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestDocumentChecks compares searches with a DocumentCheck with searches whose AcceptDocument evaluates the same
// condition. It also tests that the functions are called only for documents with a word of the query, and that Accept
// is called only for documents with all terms of the check.
func TestDocumentChecks(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	word := func() string { return fmt.Sprintf("w%d", int(300*rng.Float64()*rng.Float64()*rng.Float64())) }
	words := map[uint64][]string{}
	x := New(Params{K1: 1.2, B: .75})
	change := func(n int) {
		var changes []Change
		for range n {
			id := uint64(rng.IntN(9000))
			delete(words, id)
			if rng.IntN(5) == 0 {
				changes = append(changes, Change{ID: id})
				continue
			}
			for range 1 + rng.IntN(30) {
				words[id] = append(words[id], word())
			}
			d := DocumentOfWords(id, words[id])
			changes = append(changes, Change{ID: id, Document: &d})
		}
		x.Apply(changes...)
	}
	for range 10 {
		change(1000)
	}
	has := func(id uint64, ws ...string) bool {
		return !slices.ContainsFunc(ws, func(w string) bool { return !slices.Contains(words[id], w) })
	}
	hits := 0
	for i := range 400 {
		if i%100 == 99 {
			x.WaitForMerges()
			x = reopened(t, x, x.params)
		}
		change(1 + rng.IntN(20))
		asked := []string{word(), word()}
		checked := []string{word(), word()}
		odd := func(id uint64) bool { return id%3 > 0 }
		q := Query{Terms: TermsForWords(asked), Limit: 1 + rng.IntN(30)}
		want := q
		want.AcceptDocument = func(id uint64) bool {
			if !has(id, asked[0]) && !has(id, asked[1]) {
				t.Errorf("seed %d: AcceptDocument is called for a document without the words of the query", seed)
			}
			return !has(id, checked...) || odd(id)
		}
		if rng.IntN(2) == 0 {
			q.Conditions = []TermCondition{{Terms: []string{word()}}}
			want.Conditions = q.Conditions
		}
		q.Checks = []DocumentCheck{{Terms: checked, Accept: func(id uint64) bool {
			if !has(id, checked...) {
				t.Errorf("seed %d: Accept is called for a document without the terms of the check", seed)
			}
			return odd(id)
		}}}
		s := x.Searcher()
		found := s.Search(q)
		if expected := s.Search(want); !slices.Equal(found, expected) {
			t.Fatalf("seed %d: found %v, want %v", seed, found, expected)
		}
		hits += len(found)
		if got, expected := s.CountHits(q), s.CountHits(want); got != expected {
			t.Fatalf("seed %d: %d hits, want %d", seed, got, expected)
		}
		want.AcceptDocument = func(id uint64) bool { return !has(id, checked...) || odd(id) }
		if got, expected := s.NewestIDs(q), s.NewestIDs(want); !slices.Equal(got, expected) {
			t.Fatalf("seed %d: newest are %v, want %v", seed, got, expected)
		}
	}
	if hits < 1000 {
		t.Errorf("seed %d: %d hits", seed, hits)
	}
}
