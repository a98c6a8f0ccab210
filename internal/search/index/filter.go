// This file evaluates the conditions of a search: required or excluded terms, and a time
// range. The result is a bit set, computed for each view before its documents are ranked.

package index

import (
	"math"
	"math/bits"
	"slices"
)

// filterSet is the set of documents in a view that meet a search's conditions.
type filterSet struct {
	acceptsAll bool     // the search has no conditions, and set is not used
	set        []uint64 // bit for each document
	n          int      // number of documents in the set, including deleted documents
	part       float64  // n divided by the number of documents, or 1 if the view is empty
	some       []uint64 // scratch

	// If late is not nil, the set may contain documents outside of this time range, and the
	// time of each document is compared when the search reaches the document.
	late    *Range
	created *column[int64]
}

// accepts reports whether a document meets the conditions.
func (w *filterSet) accepts(number uint32) bool {
	return w.acceptsAll || (w.hasBit(number) && w.isInTime(number))
}

// hasBit reports whether the set has a document. The set must not be all documents. If late is not nil, contains also
// compares the document's time.
func (w *filterSet) hasBit(number uint32) bool { return w.set[number/64]>>(number%64)&1 != 0 }

// isInTime reports whether a document of the set meets the condition that is examined late.
func (w *filterSet) isInTime(number uint32) bool {
	return w.late == nil || w.late.containsTime(w.created.at(number))
}

// fill computes the set of documents in a view that meet a query's conditions. visits estimates how
// often the search calls contains.
func (w *filterSet) fill(v *view, ask *Query, hash func(string) uint64, visits int) {
	w.acceptsAll = len(ask.Filter) == 0 && ask.Range == nil
	w.late = nil
	w.n = len(v.lens)
	w.part = 1
	if w.acceptsAll || w.n == 0 {
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
		w.limitTimes(v, ask.Range, visits)
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

// limitTimes removes the documents outside of the time range. If it would have to read more times
// than the search will probably visit, it leaves these documents in the set, and contains compares
// their times during the search.
func (w *filterSet) limitTimes(v *view, t *Range, visits int) {
	w.created = &v.created
	blocks := v.timeBlocks()
	var created []int64
	if visits < mayVisit(blocks, t) {
		w.late = t
	} else {
		created = v.created.all()
	}
	for i, block := range blocks {
		switch {
		case w.set[i] == 0 || (t.containsTime(block.first) && t.containsTime(block.last)):
		case block.last < t.From || block.first > t.To:
			w.set[i] = 0
		case w.late == nil:
			for j := range min(64, len(v.lens)-64*i) {
				if !t.containsTime(created[64*i+j]) {
					w.set[i] &^= 1 << j
				}
			}
		}
	}
}

// If one in k documents is in the time range, a search that compares the times of candidates only
// when it reaches them compares about manyInTime·k candidates.
const manyInTime = 4096

// mayVisit returns a number of documents. If a search visits fewer documents, it is faster to
// compare their times one by one than to compare the times of all documents in the blocks that are
// partly in the range. The estimate assumes that times are evenly spread in a block.
func mayVisit(blocks []timeBlock, t *Range) int {
	partial, in := 0, 0.0
	for _, b := range blocks {
		switch {
		case b.last < t.From || b.first > t.To:
		case t.containsTime(b.first) && t.containsTime(b.last):
			in++
		default:
			partial++
			in += (float64(min(b.last, t.To)) - float64(max(b.first, t.From))) / (float64(b.last) - float64(b.first))
		}
	}
	if compared := manyInTime * float64(len(blocks)) / max(in, 1); compared < float64(64*partial) {
		return math.MaxInt
	}
	return 64 * partial
}

// If fewer than 1 in fewShare documents meet the conditions, the search looks up each of
// these documents instead of processing postings. A look-up takes as long as skipping
// lookUpWorth postings.
const (
	fewShare    = 200
	lookUpWorth = 4
)
