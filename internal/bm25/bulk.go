// This file fills an empty index with many documents at once.

package bm25

import (
	"hash/maphash"
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
	x      *Index
	recent [recents]recent
	seen   []sight // by term number
	block  []item  // where the last document's items are, and those of some before
	items  [][]item
	count  int
}

// A text has few words often and many seldom. Those looked up last are found
// without the dictionary: by their length and their first and last bytes.
const recents = 1 << 13

// recent is a term and its number.
type recent struct {
	text string
	term uint32
}

// blockItems is the least number of items that room is made for at once.
const blockItems = 1 << 15

// sight is where a term was seen last.
type sight struct {
	doc uint32 // the document's number, plus one
	at  uint32 // its item there, counted from the document's first
	df  uint32 // documents that hold it so far
}

// item says how often a document holds a term.
type item struct{ term, tf uint32 }

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
	if cap(b.block)-len(b.block) < len(d.Terms) {
		b.block = make([]item, 0, max(blockItems, len(d.Terms)))
	}
	items := b.block[len(b.block):]
	number := uint32(len(x.docs))
	for _, w := range d.Terms {
		if w.TF == 0 {
			continue
		}
		n := b.term(w.Text)
		if s := &b.seen[n]; s.doc != number+1 {
			s.doc, s.at = number+1, uint32(len(items))
			s.df++
			items = append(items, item{n, uint32(w.TF)})
		} else {
			t := &items[s.at]
			t.tf = min(t.tf+uint32(w.TF), math.MaxUint16)
		}
	}
	b.block = b.block[:len(b.block)+len(items)]
	b.items = append(b.items, items)
	b.count += len(items)
	dl := min(d.Len, dead-1)
	x.docs = append(x.docs, doc{id: id, newer: newer})
	x.lens = append(x.lens, dl)
	x.numbers.insert(idHash(id), number)
	x.living++
	x.total += uint64(dl)
}

// term returns the number of a term, which may be new.
func (b *Bulk) term(text string) uint32 {
	r := &b.recent[place(text)]
	if r.text == text && text != "" {
		return r.term
	}
	hash := maphash.String(b.x.seed, text)
	n, ok := b.x.lookHash(text, hash)
	if !ok {
		n = b.x.newTerm(text, hash)
		b.seen = append(b.seen, sight{})
	}
	*r = recent{b.x.text(&b.x.terms[n]), n}
	return n
}

// place returns where among the recent a term is kept.
func place(s string) uint64 {
	h := uint64(len(s))
	if n := len(s); n >= 4 {
		h ^= uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[n-4])<<32 | uint64(s[n-3])<<40 | uint64(s[n-2])<<48 | uint64(s[n-1])<<56
	} else {
		for i := range n {
			h ^= uint64(s[i]) << (8*i + 8)
		}
	}
	return h * 0x9e3779b97f4a7c15 >> 51 // the golden ratio's odd multiplier; 64 − 13 bits
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
	next := make([]uint32, len(b.seen)) // by term number: where its next posting goes
	from, many := uint32(0), 0
	for n := range x.terms {
		t := &x.terms[n]
		t.df, t.many = b.seen[n].df, b.seen[n].df > 1
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
	b.seen = nil
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
			p := posting{uint32(number), uint16(it.tf), impact(float64(it.tf), k)}
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
	*b = Bulk{}
}
