// The conditions that a search puts to documents: terms that they hold or lack,
// and a span of time. They are made into one set of bits before a view is ranked.

package index

import (
	"math/bits"
	"slices"
)

// Clause is a condition on a document: it holds at least one of the terms or,
// with Not, none of them.
type Clause struct {
	Terms []string
	Not   bool
}

// Range is a span of time; both From and To are in it.
type Range struct{ From, To int64 }

func (t *Range) contains(at int64) bool { return at >= t.From && at <= t.To }

// filterSet is the documents of a view that meet the conditions of a search.
type filterSet struct {
	all  bool     // there are no conditions: set says nothing
	set  []uint64 // a bit for each document
	n    int      // how many are set, the deleted among them
	part float64  // n of all documents, 1 of none
	some []uint64 // scratch
}

// contains reports whether a document meets the conditions.
func (w *filterSet) contains(number uint32) bool {
	return w.all || w.set[number/64]>>(number%64)&1 != 0
}

// fill finds the documents of a view that meet the conditions of a query.
func (w *filterSet) fill(v *view, ask *Query, hash func(string) uint64) {
	w.all, w.n, w.part = len(ask.Filter) == 0 && ask.Range == nil, len(v.ids), 1
	if w.all || w.n == 0 {
		return
	}
	words := (len(v.ids) + 63) / 64
	w.set = slices.Grow(w.set[:0], words)[:words]
	for i := range w.set {
		w.set[i] = ^uint64(0)
	}
	if rest := len(v.ids) % 64; rest > 0 {
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
	w.part = float64(w.n) / float64(len(v.ids))
}

// clause leaves those that meet the clause.
func (w *filterSet) clause(v *view, c Clause, hash func(string) uint64) {
	w.some = slices.Grow(w.some[:0], len(w.set))[:len(w.set)]
	clear(w.some)
	var one [1]posting
	for _, text := range c.Terms {
		alone := one[:0]
		p, _ := v.find(text, hash(text), &alone)
		for i := range p.list {
			number := p.list[i].doc
			w.some[number/64] |= 1 << (number % 64)
		}
		if p.bitmap == nil {
			continue
		}
		for i := range p.bitmap.words {
			w.some[i] |= p.bitmap.words[i].bits()
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

// times leaves those whose time is in the span.
func (w *filterSet) times(v *view, t *Range) {
	for i, block := range v.blocks {
		switch {
		case w.set[i] == 0 || t.contains(block.first) && t.contains(block.last):
		case block.last < t.From || block.first > t.To:
			w.set[i] = 0
		default:
			for j, at := range v.created[64*i : min(64*i+64, len(v.created))] {
				if !t.contains(at) {
					w.set[i] &^= 1 << j
				}
			}
		}
	}
}

// Of documents that are fewer than one in fewShare, each is looked at; but a
// look-up takes as long as passing over lookUpWorth postings.
const (
	fewShare    = 200
	lookUpWorth = 4
)

// few reports whether those that meet the conditions are so few that they alone
// should be looked at, all of them, among so many postings of the terms.
func (b *maxScore) few(postings int) bool {
	w := &b.filter
	return !w.all && w.n*fewShare <= len(b.view.ids) && w.n*len(b.cursors) <= postings*lookUpWorth
}

// among takes those that meet the conditions, and no others, through all terms.
func (b *maxScore) among() {
	k := &b.batch
	complete := func() {
		for i, number := range k.docs[:k.n] {
			k.k[i], k.sums[i], k.live[i] = b.weight(number), 0, uint8(i)
		}
		b.completeScores(-1, k.n, b.threshold())
		k.n = 0
	}
	for i, set := range b.filter.set {
		for ; set != 0 && b.budget >= 0; set &= set - 1 {
			k.docs[k.n] = uint32(64*i + bits.TrailingZeros64(set))
			if k.n++; k.n == batchSize {
				complete()
			}
		}
	}
	if b.budget >= 0 {
		complete()
	}
	k.n = 0
}

// scoreFiltered is scoreBitmap for conditions that few documents meet: it looks at
// those alone that hold the term.
func (b *maxScore) scoreFiltered(c *cursor, minImpact, above int) {
	k, tfs, w := &b.batch, &b.batch.tfs[c.place], c.bitmap
	for i := range w.words {
		s := &w.words[i]
		held := s.bits()
		for both := held & b.filter.set[i]; both != 0; both &= both - 1 {
			bit := bits.TrailingZeros64(both)
			index := int(s.before) + bits.OnesCount64(held&(1<<bit-1))
			if impact := int(w.impacts[index]); impact < minImpact || impact >= above {
				continue
			}
			k.docs[k.n], tfs[k.n] = uint32(64*i+bit), w.tfs[index]
			if k.n++; k.n == batchSize {
				b.flush(c)
				if minImpact = max(minImpact, b.minImpact(c)); minImpact >= above {
					return
				}
			}
		}
	}
}
