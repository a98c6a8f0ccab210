// This file holds the accounts of many scores at once.

package bm25

import (
	"cmp"
	"slices"
)

// Parts returns the query's terms, sorted, without repeats and those left out,
// and for each of the documents what each term gives to its score: what
// [Index.Explain] says, for less work. A document that is not there has nil.
func (x *Index) Parts(ids []uint64, terms []QueryTerm) (texts []string, parts [][]float64) {
	q := newQuery(terms)
	defer q.release()
	x.needFor(q.terms)
	x.mu.RLock()
	defer x.mu.RUnlock()

	type place struct {
		number uint32
		at     int // in ids
	}
	places := make([]place, 0, len(ids))
	parts = make([][]float64, len(ids))
	flat := make([]float64, len(ids)*len(q.terms))
	for i, id := range ids {
		n, ok := uint32(0), false
		if last := len(places) - 1; last >= 0 { // what was put next often has the next id
			n = places[last].number + 1
			ok = int(n) < len(x.docs) && x.docs[n].id == id && x.lens[n] != dead
		}
		if !ok {
			n, ok = x.number(id)
		}
		if ok {
			places = append(places, place{n, i})
			parts[i], flat = flat[:len(q.terms):len(q.terms)], flat[len(q.terms):]
		}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.number, b.number) })
	s := x.scale()
	texts = make([]string, len(q.terms))
	for k, w := range q.terms {
		texts[k] = w.Text
		n, ok := x.lookUp(w.Text)
		if !ok {
			continue
		}
		t := &x.terms[n]
		gain := s.gain(s.idf(t.df), w.Weight)
		for _, p := range places {
			if tf := uint32(x.tf(t, p.number)); tf > 0 {
				parts[p.at][k] = s.score(gain, tf, x.lens[p.number])
			}
		}
	}
	return texts, parts
}
