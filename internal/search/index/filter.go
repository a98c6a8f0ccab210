// This file evaluates the conditions of a search: required or excluded terms, and a time
// range. The result is a bit set, computed for each view before its documents are ranked.

package index

import (
	"math/bits"
	"slices"
)

// filterSet is the set of documents in a view that meet a search's conditions.
type filterSet struct {
	all  bool     // the search has no conditions, and set is not used
	set  []uint64 // bit for each document
	n    int      // number of documents in the set, including deleted documents
	part float64  // n divided by the number of documents, or 1 if the view is empty
	some []uint64 // scratch
}

// contains reports whether a document meets the conditions.
func (w *filterSet) contains(number uint32) bool {
	return w.all || w.set[number/64]>>(number%64)&1 != 0
}

// fill computes the set of documents in a view that meet a query's conditions.
func (w *filterSet) fill(v *view, ask *Query, hash func(string) uint64) {
	w.all = len(ask.Filter) == 0 && ask.Range == nil
	w.n = len(v.lens)
	w.part = 1
	if w.all || w.n == 0 {
		return
	}
	words := (len(v.lens) + 63) / 64
	w.set = slices.Grow(w.set[:0], words)[:words]
	for i := range w.set {
		w.set[i] = ^uint64(0)
	}
	if rest := len(v.lens) % 64; rest > 0 {
		w.set[words-1] = 1<<rest - 1
	}
	for _, c := range ask.Filter {
		w.clause(v, c, hash)
	}
	if ask.Range != nil {
		w.times(v, ask.Range)
	}
	w.n = 0
	for _, set := range w.set {
		w.n += bits.OnesCount64(set)
	}
	w.part = float64(w.n) / float64(len(v.lens))
}

// clause removes the documents that do not meet the clause.
func (w *filterSet) clause(v *view, c Clause, hash func(string) uint64) {
	w.some = slices.Grow(w.some[:0], len(w.set))[:len(w.set)]
	clear(w.some)
	var one [1]posting
	for _, text := range c.Terms {
		alone := one[:0]
		p, _ := v.find(text, hash(text), &alone)
		for _, p := range p.list {
			w.some[p.doc/64] |= 1 << (p.doc % 64)
		}
		if p.cols != nil {
			p.cols.setBits(w.some)
		}
	}
	flip := uint64(0)
	if c.Not {
		flip = ^flip
	}
	for i, some := range w.some {
		w.set[i] &= some ^ flip
	}
}

// times removes the documents outside of the time range.
func (w *filterSet) times(v *view, t *Range) {
	for i, block := range v.times() {
		switch {
		case w.set[i] == 0 || (t.contains(block.first) && t.contains(block.last)):
		case block.last < t.From || block.first > t.To:
			w.set[i] = 0
		default:
			for j := range min(64, len(v.lens)-64*i) {
				if !t.contains(v.created.at(uint32(64*i + j))) {
					w.set[i] &^= 1 << j
				}
			}
		}
	}
}

// If fewer than 1 in fewShare documents meet the conditions, the search looks up each of
// these documents instead of processing postings. A look-up takes as long as skipping
// lookUpWorth postings.
const (
	fewShare    = 200
	lookUpWorth = 4
)
