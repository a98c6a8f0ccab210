// A segment: documents and their postings, which never change.

package index

import (
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/pagefile"
)

// segment is documents, the terms that they hold, and how many times terms were
// lost by deletions from older segments. It never changes; what a query reads
// of a snapshot is kept by atomic pointers.
type segment struct {
	// By document number.
	ids     column[uint64]
	updated column[int64]
	created column[int64]
	lens    []uint32    // dl in sixteenths, or unscored
	data    []any       // the caller's; nil when no document has some
	blocks  []timeBlock // of created, by number / 64; see times

	rising  bool    // the ids
	byID    idTable // when they are not
	counted int     // documents that are not unscored
	total   uint64  // sum of dl
	slope   float64 // of the scale that all impacts are of

	dict  idTable // term numbers, by the hash of the text
	terms []term  // by term number
	arena termArena
	lists []postings // of the terms that have more than one posting
	image *image     // instead of all these, in a segment of a snapshot
	mem   *memtable  // instead of all these, in the segment that grows, of which there is a version after each change
}

// term is a word and where it stands. Most terms stand in one document: they
// have their posting in themselves. There are no pointers in a term, so that
// the garbage collector need not look at it.
type term struct {
	text uint32 // in the arena
	df   uint32 // postings
	at   uint32 // which of the lists it has or, without one, the document of its only posting
	lost int32  // documents of other segments that held it, deleted since this one began
	tf   uint16 // of its only posting, 0 when there is none
	most uint8  // the largest impact
	many bool   // it has a list
}

// find returns the term of that text and hash. Postings that have no list of
// their own are appended to alone.
func (s *segment) find(text string, hash uint64, alone *[]posting) (found, bool) {
	if s.image != nil {
		return s.image.load(text)
	}
	n, ok := s.termNumber(text, hash)
	if !ok {
		return found{}, false
	}
	if s.mem != nil {
		list, lost := s.mem.appendPostings(*alone, n)
		from := len(*alone)
		*alone = list
		return found{postings: postings{list: list[from:]}, df: len(list) - from, lost: lost, most: impactSteps}, true
	}
	return s.foundAt(n, alone), true
}

// foundAt is find of the term of that number.
func (s *segment) foundAt(n uint32, alone *[]posting) found {
	t := &s.terms[n]
	f := found{df: int(t.df), lost: int(t.lost), most: t.most}
	switch {
	case t.many:
		f.postings = s.lists[t.at]
	case t.df > 0:
		*alone = append(*alone, t.alone())
		f.list = (*alone)[len(*alone)-1:]
	}
	return f
}

// df returns the live documents that the segment adds to the count of a term.
func (s *segment) df(text string, hash uint64) int {
	if s.image != nil {
		t, ok := s.image.find(text)
		if !ok {
			return 0
		}
		return int(t.df)
	}
	n, ok := s.termNumber(text, hash)
	if !ok {
		return 0
	}
	t := s.term(int(n))
	return t.df - t.lost
}

func (s *segment) termNumber(text string, hash uint64) (uint32, bool) {
	if s.mem != nil {
		return s.mem.find(text, hash)
	}
	n := s.dict.first(hash)
	if n == 0 || s.arena.get(s.terms[n-1].text) == text {
		return n - 1, n > 0
	}
	return s.dict.find(hash, func(n uint32) bool { return s.arena.get(s.terms[n].text) == text })
}

// alone returns the only posting of a term without a list.
func (t *term) alone() posting { return posting{t.at, t.tf, t.most} }

// counts is what a segment knows of a term without its postings.
type counts struct {
	text string
	df   int
	lost int
}

// numTerms returns the number of terms.
func (s *segment) numTerms() int {
	if s.image != nil {
		return s.image.terms
	}
	if s.mem != nil {
		return len(s.mem.terms)
	}
	return len(s.terms)
}

// term returns the counts of the term of that number.
func (s *segment) term(n int) counts {
	if s.image != nil {
		t := s.image.term(n)
		return counts{t.text, int(t.df), 0}
	}
	if s.mem != nil {
		df, lost := s.mem.count(uint32(n))
		return counts{s.mem.terms[n].text, df, lost}
	}
	t := &s.terms[n]
	return counts{s.arena.get(t.text), int(t.df), int(t.lost)}
}

// postingsOf returns the postings of the term of that number, rising: its own
// list, or what it wrote to the room, which grows as it has to.
func (s *segment) postingsOf(n int, room *[]posting) []posting {
	if s.image != nil {
		*room = s.image.decodeAt(n, (*room)[:0])
		return *room
	}
	if s.mem != nil {
		*room, _ = s.mem.appendPostings((*room)[:0], uint32(n))
		return *room
	}
	t := &s.terms[n]
	switch {
	case t.many:
		return s.lists[t.at].all(room)
	case t.df > 0:
		*room = append((*room)[:0], t.alone())
	default:
		return nil
	}
	return *room
}

// number returns the number of the document of that id: in a memtable, of its
// last version.
func (s *segment) number(id uint64) (uint32, bool) {
	if s.mem != nil && !s.rising {
		for n := len(s.lens) - 1; n >= 0; n-- {
			if s.ids.at(uint32(n)) == id {
				return uint32(n), true
			}
		}
		return 0, false
	}
	if !s.rising {
		return s.byID.find(idHash(id), func(n uint32) bool { return s.ids.at(n) == id })
	}
	n, ok := pagefile.Find(len(s.lens), id, func(i int) uint64 { return s.ids.at(uint32(i)) })
	return uint32(n), ok
}

// eachTermOf calls fn with each term of some documents, by number: as often as
// documents hold it. It reads all postings.
func (s *segment) eachTermOf(documents []bool, fn func(text string)) {
	var room []posting
	for n := range s.numTerms() {
		for _, p := range s.postingsOf(n, &room) {
			if documents[p.doc] {
				fn(s.term(n).text)
			}
		}
	}
}

// timeBlock is the times of 64 documents that follow one another: the earliest
// and the latest. Most documents come in the order of their times.
type timeBlock struct{ first, last int64 }

// times returns the blocks of created.
func (s *segment) times() []timeBlock {
	if s.image != nil {
		return s.image.times()
	}
	return s.blocks
}

// timeBlocks returns the blocks of times.
func timeBlocks(times []int64) []timeBlock {
	blocks := make([]timeBlock, 0, (len(times)+63)/64)
	for block := range slices.Chunk(times, 64) {
		blocks = append(blocks, timeBlock{slices.Min(block), slices.Max(block)})
	}
	return blocks
}

// view is a segment as a searcher sees it: without what was deleted.
type view struct {
	*segment
	deleted []uint64 // a bit for each document; nil for none
	gone    int      // how many are set
}

func (v *view) isDeleted(number uint32) bool {
	return v.deleted != nil && v.deleted[number/64]>>(number%64)&1 != 0
}

// live returns how many documents are not deleted.
func (v *view) live() int { return len(v.lens) - v.gone }

// without returns the view after a deletion. The bits are copied unless owned
// says that they are those of the change in the making.
func (v view) without(number uint32, owned bool) view {
	if !owned {
		bits := make([]uint64, (len(v.lens)+63)/64)
		copy(bits, v.deleted)
		v.deleted = bits
	}
	v.deleted[number/64] |= 1 << (number % 64)
	v.gone++
	return v
}

// hasPrefix yields the numbers of the terms that begin so.
func (s *segment) hasPrefix(prefix string) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		first, last := 0, s.numTerms()
		if s.image != nil {
			first, last = s.image.mayBegin(prefix)
		}
		for n := first; n < last; n++ {
			if strings.HasPrefix(s.term(n).text, prefix) && !yield(n) {
				return
			}
		}
	}
}
