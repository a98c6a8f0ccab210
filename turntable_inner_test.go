// This file tests the ranking of turns with the smallest and the largest IDs.

package oxbow

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

func TestTurnsAtTheEnds(t *testing.T) {
	r, s := newRanking(RankOxbow), newShelf()
	for i := range uint64(30) {
		for _, id := range []uint64{i, math.MaxUint64 - i} {
			e := &Entry{ID: id, Name: fmt.Sprint("n", id), Content: "Ann: the harbor"}
			r.put(e)
			s.docs[id] = e
		}
	}
	p := r.plan(s, Query{Text: "harbor"})
	for _, ids := range [][]uint64{
		{math.MaxUint64}, {math.MaxUint64 - 1, math.MaxUint64, math.MaxUint64 - 3}, {0}, {0, 1, 9, 29},
		{math.MaxUint64 - 20, 5, math.MaxUint64 - 7, math.MaxUint64 - 6},
	} {
		talk := newTalk(r, s, p, slices.Clone(ids))
		if !slices.IsSorted(talk.ids) || len(slices.Compact(slices.Clone(talk.ids))) != len(talk.ids) {
			t.Errorf("%d: the places are %d", ids, talk.ids)
		}
		var got []uint64
		for _, i := range talk.candidates {
			got = append(got, talk.places[i].id)
		}
		var want []uint64
		for _, id := range ids {
			for n := id - min(id, turnNext); ; n++ {
				if s.docs[n] != nil {
					want = append(want, n)
				}
				if n == id+min(turnNext, math.MaxUint64-id) {
					break
				}
			}
		}
		slices.Sort(want)
		if want = slices.Compact(want); !slices.Equal(got, want) {
			t.Errorf("%d: the candidates are %d, want %d", ids, got, want)
		}
		talk.release()
	}
}
