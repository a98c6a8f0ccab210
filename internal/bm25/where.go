// This file holds the conditions that a search puts to documents: terms that
// they hold or lack, and a span of time. They are made into one map of bits
// before anything is ranked.

package bm25

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

// Times is a span of time; both From and To are in it.
type Times struct{ From, To int64 }

func (t *Times) hold(at int64) bool { return at >= t.From && at <= t.To }

// needWhere sees to it that what the image knows of the terms of the conditions
// is in the index.
func (x *Index) needWhere(ask *Query) {
	for _, c := range ask.Where {
		for _, t := range c.Terms {
			x.need(t)
		}
	}
}

// where is the documents that meet the conditions of a search.
type where struct {
	all  bool     // there are no conditions: set says nothing
	set  []uint64 // a bit for each document
	n    int      // how many are set, the dead among them
	part float64  // n of all documents, 1 of none
	some []uint64 // scratch
}

// meets reports whether a document meets the conditions.
func (w *where) meets(number uint32) bool { return w.all || w.set[number/64]>>(number%64)&1 != 0 }

// fill finds who meets the conditions of a query. The caller holds the lock.
func (w *where) fill(x *Index, ask *Query) {
	w.all, w.n, w.part = len(ask.Where) == 0 && ask.Times == nil, len(x.docs), 1
	if w.all || w.n == 0 {
		return
	}
	words := (len(x.docs) + 63) / 64
	w.set = slices.Grow(w.set[:0], words)[:words]
	for i := range w.set {
		w.set[i] = ^uint64(0)
	}
	if rest := len(x.docs) % 64; rest > 0 {
		w.set[words-1] = 1<<rest - 1
	}
	for _, c := range ask.Where {
		w.clause(x, c)
	}
	if ask.Times != nil {
		w.times(x, ask.Times)
	}
	w.n = 0
	for _, set := range w.set {
		w.n += bits.OnesCount64(set)
	}
	w.part = float64(w.n) / float64(len(x.docs))
}

// clause leaves those that meet the clause.
func (w *where) clause(x *Index, c Clause) {
	if len(c.Terms) == 1 && !c.Not { // most often, and wide
		if p := x.placesOf(c.Terms[0]); p.wide != nil {
			stretches := p.wide.stretches
			for i := range stretches {
				w.set[i] &= stretches[i].bits()
			}
			clear(w.set[len(stretches):])
			return
		}
	}
	w.some = slices.Grow(w.some[:0], len(w.set))[:len(w.set)]
	clear(w.some)
	for _, text := range c.Terms {
		p := x.placesOf(text)
		for i := range p.list {
			number := p.list[i].doc
			w.some[number/64] |= 1 << (number % 64)
		}
		if p.wide == nil {
			continue
		}
		for i := range p.wide.stretches {
			w.some[i] |= p.wide.stretches[i].bits()
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
func (w *where) times(x *Index, t *Times) {
	for i, e := range x.eras {
		switch {
		case w.set[i] == 0 || t.hold(e.first) && t.hold(e.last):
		case e.last < t.From || e.first > t.To:
			w.set[i] = 0
		default:
			for j, at := range x.times[64*i : min(64*i+64, len(x.times))] {
				if !t.hold(at) {
					w.set[i] &^= 1 << j
				}
			}
		}
	}
}

// era is the times of 64 documents that follow one another: the earliest and
// the latest. Most documents come in the order of their times.
type era struct{ first, last int64 }

// date notes the time of the next document.
func (x *Index) date(at int64) {
	if len(x.times)%64 == 0 {
		x.eras = append(x.eras, era{at, at})
	}
	e := &x.eras[len(x.eras)-1]
	e.first, e.last = min(e.first, at), max(e.last, at)
	x.times = append(x.times, at)
}

// dateAll notes the times of all documents.
func (x *Index) dateAll(times []int64) {
	x.times, x.eras = times[:0], x.eras[:0]
	for _, at := range times {
		x.date(at)
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
func (b *bestOf) few(postings int) bool {
	w := &b.where
	return !w.all && w.n*fewShare <= len(b.x.docs) && w.n*len(b.cursors) <= postings*lookUpWorth
}

// among takes those that meet the conditions, and no others, through all terms.
func (b *bestOf) among() {
	k := &b.batch
	through := func() {
		for i, number := range k.docs[:k.n] {
			k.k[i], k.sums[i], k.live[i] = b.weight(number), 0, uint8(i)
		}
		b.through(-1, k.n, b.bar())
		k.n = 0
	}
	for i, set := range b.where.set {
		for ; set != 0 && b.patience >= 0; set &= set - 1 {
			k.docs[k.n] = uint32(64*i + bits.TrailingZeros64(set))
			if k.n++; k.n == batchSize {
				through()
			}
		}
	}
	if b.patience >= 0 {
		through()
	}
	k.n = 0
}

// passBoth is passWide for conditions that few documents meet: it looks at
// those alone that hold the term.
func (b *bestOf) passBoth(c *cursor, floor, above int) {
	k, tfs, w := &b.batch, &b.batch.tfs[c.place], c.wide
	for i := range w.stretches {
		s := &w.stretches[i]
		held := s.bits()
		for both := held & b.where.set[i]; both != 0; both &= both - 1 {
			bit := bits.TrailingZeros64(both)
			index := int(s.before) + bits.OnesCount64(held&(1<<bit-1))
			if impact := int(w.impacts[index]); impact < floor || impact >= above {
				continue
			}
			k.docs[k.n], tfs[k.n] = uint32(64*i+bit), w.tfs[index]
			if k.n++; k.n == batchSize {
				b.flush(c)
				if floor = max(floor, b.floor(c)); floor >= above {
					return
				}
			}
		}
	}
}
