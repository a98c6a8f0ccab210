// This file tests the number of documents that a query accepts.

package index

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

// TestCountDocuments compares CountDocuments with the number of documents that NewestIDs returns without a limit, and
// with a plain count. The documents are partly in a snapshot and partly in memory, and some are deleted.
func TestCountDocuments(t *testing.T) {
	accepted, empty := 0, 0
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 77))
		words, times := map[uint64][]string{}, map[uint64]int64{}
		x := New(Params{})
		put := func(id uint64) {
			words[id] = []string{"w" + strconv.Itoa(rng.IntN(4)), "v" + strconv.Itoa(rng.IntN(30))}[:rng.IntN(3)]
			times[id] = rng.Int64N(50) + int64(id)
			x.put(id, rng.Int64N(1000), Doc{Created: times[id], Terms: DocumentOfWords(0, words[id]).Terms})
		}
		total := uint64(1 + rng.IntN(900))
		for id := range total {
			put(id + 1)
		}
		snapshot, err := x.AppendSnapshot(nil)
		if err != nil {
			t.Fatal(err)
		}
		x, err = OpenSnapshot(bytes.NewReader(snapshot), int64(len(snapshot)), Params{})
		if err != nil {
			t.Fatal(err)
		}
		for range total / 4 {
			id := 1 + rng.Uint64N(total+total/2)
			if rng.IntN(2) == 0 {
				put(id)
				continue
			}
			x.Delete(id)
			delete(words, id)
		}
		s := x.Searcher()
		for range 60 {
			var q Query
			for range rng.IntN(3) {
				c := TermCondition{IsNegated: rng.IntN(2) == 0}
				for range 1 + rng.IntN(2) {
					c.Terms = append(c.Terms, []string{"w", "v"}[rng.IntN(2)]+strconv.Itoa(rng.IntN(6)))
				}
				q.Conditions = append(q.Conditions, c)
			}
			if rng.IntN(2) == 0 {
				first := rng.Int64N(int64(total) + 60)
				q.CreatedRange = &TimeRange{first, first + rng.Int64N(200)}
			}
			if rng.IntN(3) == 0 {
				q.AcceptDocument = func(id uint64) bool { return id%3 != 0 }
			}
			if rng.IntN(3) == 0 {
				q.Checks = []DocumentCheck{{
					Terms:     []string{"w1"},
					Matches:   func(id uint64) bool { return id%2 == 0 },
					IsNegated: rng.IntN(2) == 0,
				}}
			}
			want := 0
			for id := range words {
				if matchesPlainly(&q, id, words[id], times[id]) {
					want++
				}
			}
			got := s.CountDocuments(q)
			q.Limit = math.MaxInt
			if newest := len(s.NewestIDs(q)); got != want || newest != want {
				t.Fatalf("seed %d: CountDocuments(%+v) = %d and %d are newest, want %d", seed, q, got, newest, want)
			}
			accepted += want
			if want == 0 {
				empty++
			}
		}
		if err := s.Err(); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
	if accepted < 10_000 || empty < 20 {
		t.Errorf("%d documents are accepted, and %d queries accept none", accepted, empty)
	}
}

// matchesPlainly reports whether a document with these words and this creation time meets the conditions of a query.
func matchesPlainly(q *Query, id uint64, words []string, created int64) bool {
	hasWord := func(word string) bool { return slices.Contains(words, word) }
	for _, c := range q.Conditions {
		if slices.ContainsFunc(c.Terms, hasWord) == c.IsNegated {
			return false
		}
	}
	for _, c := range q.Checks {
		matches := !slices.ContainsFunc(c.Terms, func(word string) bool { return !hasWord(word) }) && c.Matches(id)
		if matches == c.IsNegated {
			return false
		}
	}
	return (q.CreatedRange == nil || q.CreatedRange.containsTime(created)) &&
		(q.AcceptDocument == nil || q.AcceptDocument(id))
}
