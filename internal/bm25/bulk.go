// This file fills an empty index with many documents at once.

package bm25

import (
	"math"
	"slices"
)

// Bulk fills an empty index. It comes to the same as a Put for each document,
// but costs a fraction of it: no list grows, and while documents are taken in
// nothing is touched but the number of each term.
//
// The terms of the documents are kept one after another, as numbers, and dealt
// out to their lists at the end, when it is known how long each will be. Which
// terms a document holds is noted when the first of them goes. A Bulk
// is for one goroutine, and the index is for nobody else until Done.
type Bulk struct {
	x     *Index
	block []item   // where the last document's items are, and those of some before
	items [][]item // by document number
}

// blockItems is the least number of items that room is made for at once.
const blockItems = 1 << 15

// item says how often a document holds a term.
type item struct {
	term uint32
	tf   uint16
}

// NewBulk returns a Bulk for that index. It panics when the index holds, or
// held, documents: the cost of finding out later would be the caller's.
func NewBulk(x *Index) *Bulk {
	if len(x.docs) > 0 || len(x.terms) > 0 {
		panic("bm25: NewBulk of an index that is not empty")
	}
	return &Bulk{x: x}
}

// Add puts a document into the index, as [Index.Put] does. It keeps nothing of
// d. It panics when a document of that id was added before.
func (b *Bulk) Add(id uint64, newer int64, d Doc) {
	x := b.x
	if len(d.Terms) == 0 && !x.countEmpty {
		return
	}
	if _, there := x.number(id); there {
		panic("bm25: Add of an id that was added before")
	}
	terms := x.countTerms(d)
	if cap(b.block)-len(b.block) < len(terms) {
		b.block = make([]item, 0, max(blockItems, len(terms)))
	}
	items := b.block[len(b.block):]
	for _, n := range terms {
		t := &x.terms[n]
		items = append(items, item{n, t.pending})
		t.pending = 0
	}
	b.block = b.block[:len(b.block)+len(items)]
	b.items = append(b.items, items)
	number := uint32(len(x.docs))
	dl := min(d.Len, dead-1)
	x.docs = append(x.docs, doc{id: id, newer: newer})
	x.date(d.Time)
	x.lens = append(x.lens, dl)
	x.numbers.insert(idHash(id), number)
	x.living++
	x.total += uint64(dl)
}

// These stand for the place of the next posting of a term that has no list.
const (
	inTerm = math.MaxUint32 - iota
	inWide
)

// Done makes the index ready. The Bulk must not be used any more.
func (b *Bulk) Done() {
	x := b.x
	// All lists stand one behind the other. Each ends its capacity where the
	// next begins, so that what is appended later moves it elsewhere.
	next := make([]uint32, len(x.terms)) // by term number: where its next posting goes
	from, many := uint32(0), 0
	for n := range x.terms {
		t := &x.terms[n]
		t.many = t.df > 1
		switch {
		case !t.many:
			next[n] = inTerm
			continue
		case isWide(int(t.df), len(x.docs)):
			next[n] = inWide
		default:
			next[n] = from
			from += t.df
		}
		t.at = uint32(many)
		many++
	}
	postings := make([]posting, from)
	x.places = make([]places, many)
	for n := range x.terms {
		switch t := &x.terms[n]; next[n] {
		case inTerm:
		case inWide:
			x.places[t.at].wide = newWide(int(t.df), len(x.docs))
		default:
			x.places[t.at].list = postings[next[n]:][:t.df:t.df]
		}
	}
	s := x.scale()
	x.slope = s.slope
	for number, items := range b.items {
		k := s.rest + float64(s.slope*float64(x.lens[number]))
		for _, it := range items {
			p := posting{uint32(number), it.tf, impact(float64(it.tf), k)}
			switch to := &next[it.term]; *to {
			case inTerm:
				x.push(&x.terms[it.term], p)
			case inWide:
				x.places[x.terms[it.term].at].wide.push(p)
			default:
				postings[*to] = p
				*to++
			}
		}
	}
	x.unnoted = len(x.docs)
	for n := range x.terms {
		t := &x.terms[n]
		if !t.many {
			continue
		}
		p := &x.places[t.at]
		if p.wide != nil {
			t.most = slices.Max(p.wide.impacts)
			continue
		}
		for _, p := range p.list {
			t.most = max(t.most, p.impact)
		}
		p.setGuide()
	}
	x.terms, x.docs, x.lens, x.times = trim(x.terms), trim(x.docs), trim(x.lens), trim(x.times)
	*b = Bulk{}
}

// trim returns s without most of the room that append left behind it.
func trim[E any](s []E) []E {
	if cap(s) > len(s)+len(s)/16 {
		return slices.Clone(s)
	}
	return s
}
