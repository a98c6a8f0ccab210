// Where a term stands: a list of postings or, in many documents, a bitmap.

package index

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

// postings is where a term stands. They never change once they are made.
type postings struct {
	list   []posting  // rising by document number; nil when there is a bitmap
	skips  *skipTable // to a long list
	bitmap *bitmap    // instead of list, or nil
}

// bitmap is the postings of a term that stands in at least one document in
// denseShare. A document is found in it without a search, and the impacts lie
// close together: most of a search is to look for large ones.
//
//	documents     0 … 63    │ 64 … 127  │ …
//	words         bits, 0   │ bits, 23  │ …     23 of the first 64 have the term
//	tfs, impacts  0 … 22      23 …              one for each bit that is set
type bitmap struct {
	words   []word
	tfs     []uint16
	impacts []uint8
}

// word is 64 documents.
type word struct {
	low, high uint32 // a bit for each
	before    uint32 // postings of the words before it
}

func (s *word) bits() uint64 { return uint64(s.low) | uint64(s.high)<<32 }

// skipTable says where in a list the documents of a block of 1<<shift begin.
type skipTable struct {
	shift  uint8
	starts []uint32
}

// skipEvery is about how many postings of a list are in one block of its skip
// table. A list of fewer than skipLeast has none.
const (
	skipEvery = 8
	skipLeast = 64
)

// setSkips makes the skip table.
func (t *postings) setSkips() {
	n := len(t.list)
	if n < skipLeast {
		return
	}
	docs := t.list[n-1].doc + 1
	g := &skipTable{shift: uint8(bits.Len32(docs / uint32(n/skipEvery)))}
	g.starts = make([]uint32, 0, docs>>g.shift+1)
	for i, p := range t.list {
		for len(g.starts) <= int(p.doc>>g.shift) {
			g.starts = append(g.starts, uint32(i))
		}
	}
	t.skips = g
}

// part returns the indexes, half-open, between which a document's posting is,
// if there is one, in a list of n.
func (g *skipTable) part(number uint32, n int) (from, to int) {
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
	denseLeast = 64         // postings that a term with a bitmap has at least
	denseDocs  = 2 * window // documents from which on there are bitmaps: fewer are scanned
	denseShare = 32
)

// isDense reports whether so many postings among so many documents are better
// kept as a bitmap.
func isDense(postings, docs int) bool {
	return postings >= denseLeast && docs > denseDocs && postings*denseShare >= docs
}

// newPostings returns the postings of a list, which is theirs from now on, among
// so many documents.
func newPostings(list []posting, docs int) postings {
	t := postings{list: list}
	if isDense(len(list), docs) {
		t = postings{bitmap: newBitmap(len(list), docs)}
		for _, p := range list {
			t.bitmap.push(p)
		}
	}
	t.setSkips()
	return t
}

func newBitmap(postings, docs int) *bitmap {
	return &bitmap{
		words:   make([]word, 0, (docs+63)/64),
		tfs:     make([]uint16, 0, postings),
		impacts: make([]uint8, 0, postings),
	}
}

// push appends a posting of a larger number than all before.
func (w *bitmap) push(p posting) {
	at := int(p.doc / 64)
	for len(w.words) <= at {
		w.words = append(w.words, word{before: uint32(len(w.tfs))})
	}
	s := &w.words[at]
	if b := p.doc % 64; b < 32 {
		s.low |= 1 << b
	} else {
		s.high |= 1 << (b - 32)
	}
	w.tfs = append(w.tfs, p.tf)
	w.impacts = append(w.impacts, p.impact)
}

// index returns where the document's posting is.
func (w *bitmap) index(number uint32) (int, bool) {
	at := int(number / 64)
	if at >= len(w.words) {
		return 0, false
	}
	s := &w.words[at]
	set, bit := s.bits(), uint64(1)<<(number%64)
	return int(s.before) + bits.OnesCount64(set&(bit-1)), set&bit != 0
}

// postings appends the postings, rising, to dst.
func (w *bitmap) postings(dst []posting) []posting {
	dst = slices.Grow(dst, len(w.tfs))
	for i, s := range w.words {
		at := s.before
		for set := s.bits(); set != 0; set &= set - 1 {
			dst = append(dst, posting{uint32(64*i + bits.TrailingZeros64(set)), w.tfs[at], w.impacts[at]})
			at++
		}
	}
	return dst
}

// count returns the number of postings.
func (t *postings) count() int {
	if t.bitmap != nil {
		return len(t.bitmap.tfs)
	}
	return len(t.list)
}

// all returns the postings, rising: the list, or what it wrote to the room.
func (t *postings) all(room *[]posting) []posting {
	if t.bitmap == nil {
		return t.list
	}
	*room = t.bitmap.postings((*room)[:0])
	return *room
}

// tf returns how often the term stands in a document, 0 when it does not.
func (t *postings) tf(number uint32) uint16 {
	if t.bitmap != nil {
		if i, ok := t.bitmap.index(number); ok {
			return t.bitmap.tfs[i]
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
func (t *postings) find(number uint32) int {
	from, to := 0, len(t.list)
	if t.skips != nil {
		from, to = t.skips.part(number, to)
	}
	for n := to - from; n > 1; {
		half := n / 2
		from += half & int((int64(t.list[from+half].doc)-int64(number)-1)>>63)
		n -= half
	}
	return from
}

// window is how many document numbers are scored at a time: so few that their
// sums stay in the processor's nearest cache, and so many that going from term
// to term costs little. It is a multiple of 64.
const window = 1 << 11
