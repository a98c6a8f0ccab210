// This file holds where a term stands that stands in more than one document: a
// list of postings, or, in many documents, a map of bits.

package bm25

import (
	"math/bits"
	"slices"
)

// A posting says that a term stands tf sixteenths of a time in a document, and
// the most that this may give.
type posting struct {
	doc    uint32
	tf     uint16
	impact uint8 // see scale.impact
}

// places is where a term stands that has, or had, more than one posting.
type places struct {
	list  []posting // rising by document number, the dead among them; nil beside wide
	guide *guide    // to a long list
	wide  *wide     // instead of list, or nil
}

// wide is the postings of a term that stands in at least one document in
// wideShare. A document is found in it without a search, and the impacts lie
// close together: most of a search is to look for large ones.
//
//	documents     0 … 63    │ 64 … 127  │ …
//	stretches     bits, 0   │ bits, 23  │ …     23 of the first 64 have the term
//	tfs, impacts  0 … 22      23 …              one for each bit that is set
type wide struct {
	stretches []stretch
	tfs       []uint16
	impacts   []uint8
}

// stretch is 64 documents.
type stretch struct {
	low, high uint32 // a bit for each
	before    uint32 // postings of the stretches before it
}

func (s *stretch) bits() uint64 { return uint64(s.low) | uint64(s.high)<<32 }

// guide says where in a list the documents of a stretch of 1<<shift begin.
type guide struct {
	shift  uint8
	starts []uint32
}

// guideEvery is about how many postings of a list are in one stretch of its
// guide. A list of fewer than guideLeast has none.
const (
	guideEvery = 8
	guideLeast = 64
)

// setGuide makes the guide of a list that was made or moved.
func (t *places) setGuide() {
	t.guide = nil
	n := len(t.list)
	if n < guideLeast {
		return
	}
	docs := t.list[n-1].doc + 1
	g := &guide{shift: uint8(bits.Len32(docs / uint32(n/guideEvery)))}
	g.starts = make([]uint32, 0, docs>>g.shift+1)
	for i, p := range t.list {
		g.add(p.doc, i)
	}
	t.guide = g
}

// add notes that a document is at that index.
func (g *guide) add(number uint32, at int) {
	for len(g.starts) <= int(number>>g.shift) {
		g.starts = append(g.starts, uint32(at))
	}
}

// part returns the indexes, half-open, between which a document's posting is,
// if there is one.
func (g *guide) part(number uint32, n int) (from, to int) {
	i := int(number >> g.shift)
	switch {
	case i+1 < len(g.starts):
		return int(g.starts[i]), int(g.starts[i+1])
	case i < len(g.starts):
		return int(g.starts[i]), n
	}
	return n, n
}

const (
	wideLeast   = 64         // postings that a wide term has at least
	wideDocs    = 2 * window // documents from which on there are wide terms: fewer are scanned
	wideShare   = 32
	narrowShare = 64 // it is wide no more when it has less than one in so many
)

// isWide reports whether so many postings among so many documents are better
// kept wide.
func isWide(postings, docs int) bool {
	return postings >= wideLeast && docs > wideDocs && postings*wideShare >= docs
}

func newWide(postings, docs int) *wide {
	return &wide{
		stretches: make([]stretch, 0, (docs+63)/64),
		tfs:       make([]uint16, 0, postings),
		impacts:   make([]uint8, 0, postings),
	}
}

// push appends a posting of a larger number than all before.
func (w *wide) push(p posting) {
	at := int(p.doc / 64)
	for len(w.stretches) <= at {
		w.stretches = append(w.stretches, stretch{before: uint32(len(w.tfs))})
	}
	s := &w.stretches[at]
	if b := p.doc % 64; b < 32 {
		s.low |= 1 << b
	} else {
		s.high |= 1 << (b - 32)
	}
	w.tfs = append(w.tfs, p.tf)
	w.impacts = append(w.impacts, p.impact)
}

// index returns where the document's posting is.
func (w *wide) index(number uint32) (int, bool) {
	at := int(number / 64)
	if at >= len(w.stretches) {
		return 0, false
	}
	s := &w.stretches[at]
	set, bit := s.bits(), uint64(1)<<(number%64)
	return int(s.before) + bits.OnesCount64(set&(bit-1)), set&bit != 0
}

// push appends a posting of a larger number than all before. The places become
// wide, or no longer are, when that is worth it.
func (t *places) push(p posting) {
	switch {
	case t.wide == nil && len(t.list) < cap(t.list):
		t.list = append(t.list, p)
		if t.guide != nil {
			t.guide.add(p.doc, len(t.list)-1)
		}
	case t.wide == nil && isWide(len(t.list), int(p.doc)): // instead of more room
		t.set(t.list, int(p.doc))
		t.wide.push(p)
	case t.wide == nil:
		t.list = append(roomier(t.list), p)
		t.setGuide()
	case int(p.doc) >= narrowShare*(len(t.wide.tfs)+1):
		t.list, t.wide = append(t.wide.postings(nil), p), nil
		t.setGuide()
	default:
		t.wide.push(p)
	}
}

// roomier returns the list with room for a quarter more, where append would
// double it: the lists are most of the index.
func roomier(list []posting) []posting {
	return append(slices.Grow([]posting(nil), len(list)+len(list)/4+2), list...)
}

// set makes the list, which is the term's from now on, its postings among so
// many documents.
func (t *places) set(list []posting, docs int) {
	t.list, t.wide = list, nil
	if isWide(len(list), docs) {
		t.list, t.wide = nil, newWide(len(list), docs)
		for _, p := range list {
			t.wide.push(p)
		}
	}
	t.setGuide()
}

// count returns the number of postings, the dead among them.
func (t *places) count() int {
	if t.wide != nil {
		return len(t.wide.tfs)
	}
	return len(t.list)
}

// postings appends the postings, rising, to dst.
func (w *wide) postings(dst []posting) []posting {
	dst = slices.Grow(dst, len(w.tfs))
	for i, s := range w.stretches {
		at := s.before
		for set := s.bits(); set != 0; set &= set - 1 {
			dst = append(dst, posting{uint32(64*i + bits.TrailingZeros64(set)), w.tfs[at], w.impacts[at]})
			at++
		}
	}
	return dst
}

// tf returns how often the term stands in a document, 0 when it does not.
func (t *places) tf(number uint32) uint16 {
	if t.wide != nil {
		if i, ok := t.wide.index(number); ok {
			return t.wide.tfs[i]
		}
		return 0
	}
	if i := t.find(number); i < len(t.list) && t.list[i].doc == number {
		return t.list[i].tf
	}
	return 0
}

// find returns the index of the posting of a document in the list, or of
// another when there is none. It has no branch that depends on what it reads.
func (t *places) find(number uint32) int {
	from, to := 0, len(t.list)
	if t.guide != nil {
		from, to = t.guide.part(number, to)
	}
	for n := to - from; n > 1; {
		half := n / 2
		from += half & int((int64(t.list[from+half].doc)-int64(number)-1)>>63)
		n -= half
	}
	return from
}
