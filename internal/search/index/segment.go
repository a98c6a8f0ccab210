// This file implements segments, which have documents and their postings and are immutable.

package index

import (
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/pagefile"
)

// segment has documents and their terms, and counts how often terms were lost by deletions
// from older segments. It is immutable, except that data read from a snapshot is cached in
// atomic pointers.
type segment struct {
	// The following are indexed by document number.
	ids     column[uint64]
	updated column[int64]
	created column[int64]
	lens    []uint32    // dl in sixteenths, or unscored
	data    []any       // the documents' Data (nil if no document has Data)
	blocks  []timeBlock // ranges of created, by number / 64 (see times)

	latestUpdates []int64 // largest values of updated, by number / 64 (see latest)

	isAscending bool    // the IDs are ascending
	byID        idTable // used if the IDs are not ascending
	counted     int     // number of documents that are not unscored
	total       uint64  // sum of dl
	slope       float64 // slope of the scale with which the impacts were computed

	dict  idTable // term numbers by the hash of the text
	terms []term  // by term number
	arena termArena
	lists []postings // for terms with several postings
	image *image     // used instead of the fields above, in a snapshot's segment
	mem   *memtable  // used instead of the fields above, in a segment that still grows
}

// term is a term and the documents that have it. Most terms occur in a single document, and
// that posting is stored in the term itself. A term does not contain pointers, so that the
// garbage collector does not scan the terms.
type term struct {
	text    uint32 // reference in the arena
	df      uint32 // number of postings
	at      uint32 // index in lists or, without a list, the document of its only posting
	lost    int32  // number of documents in other segments that had the term and were deleted since this segment began
	tf      uint16 // frequency in the only posting of the term, or 0 if the term has several postings or none
	most    uint8  // largest impact of its postings
	hasList bool   // has a list
}

// find returns the term with this text and hash. A single posting, which does not belong to a list,
// is appended to alone, and the result refers to it.
func (s *segment) find(text string, hash uint64, alone *[]posting) (foundTerm, bool) {
	if s.image != nil {
		return s.image.load(text)
	}
	n, ok := s.termNumber(text, hash)
	if !ok {
		return foundTerm{}, false
	}
	if s.mem != nil {
		list, lost := s.mem.appendPostings(*alone, n)
		from := len(*alone)
		*alone = list
		return foundTerm{
			postings: postings{list: list[from:]},
			df:       len(list) - from,
			lost:     lost,
			most:     impactSteps,
		}, true
	}
	return s.foundAt(n, alone), true
}

// foundAt is like find, for a term number.
func (s *segment) foundAt(n uint32, alone *[]posting) foundTerm {
	t := &s.terms[n]
	f := foundTerm{df: int(t.df), lost: int(t.lost), most: t.most}
	switch {
	case t.hasList:
		f.postings = s.lists[t.at]
	case t.df > 0:
		*alone = append(*alone, t.onlyPosting())
		f.list = (*alone)[len(*alone)-1:]
	}
	return f
}

// df returns the segment's contribution to a term's df.
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

// onlyPosting returns the single posting of a term without a list.
func (t *term) onlyPosting() posting { return posting{t.at, t.tf, t.most} }

// counts is a term without its postings.
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

// term returns the counts of the term with this number.
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

// termPostings returns the postings of the term with this number, in ascending order. They
// may be stored in room.
func (s *segment) termPostings(n int, room *[]posting) []posting {
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
	case t.hasList:
		return s.lists[t.at].all(room)
	case t.df > 0:
		*room = append((*room)[:0], t.onlyPosting())
	default:
		return nil
	}
	return *room
}

// documentNumber returns the number of the document with this ID. In a memtable it is the last
// version.
func (s *segment) documentNumber(id uint64) (uint32, bool) {
	if s.mem != nil && !s.isAscending {
		for n := len(s.lens) - 1; n >= 0; n-- {
			if s.ids.at(uint32(n)) == id {
				return uint32(n), true
			}
		}
		return 0, false
	}
	if !s.isAscending {
		return s.byID.find(idHash(id), func(n uint32) bool { return s.ids.at(n) == id })
	}
	n, ok := pagefile.Find(len(s.lens), id, func(i int) uint64 { return s.ids.at(uint32(i)) })
	return uint32(n), ok
}

// eachTermIn calls fn for each term in each of the documents, which are given by number. In a
// segment with an image it decodes all postings. In other segments it searches the long posting
// lists for the documents.
func (s *segment) eachTermIn(documents []uint32, fn func(text string)) {
	wanted := make([]bool, len(s.lens))
	for _, number := range documents {
		wanted[number] = true
	}
	var room []posting
	for n := range s.numTerms() {
		if list := s.longList(n); list != nil && len(documents)*searchPostings < list.count() {
			for _, number := range documents {
				if list.hasDocument(number) {
					fn(s.term(n).text)
				}
			}
			continue
		}
		for _, p := range s.termPostings(n, &room) {
			if wanted[p.doc] {
				fn(s.term(n).text)
			}
		}
	}
}

// searchPostings is the number of postings that can be decoded in the time that a search for
// one document takes.
const searchPostings = 8

// longList returns the postings of the term with this number, if they are in memory and the
// term has several. Otherwise it returns nil.
func (s *segment) longList(n int) *postings {
	if s.image != nil || s.mem != nil {
		return nil
	}
	if !s.terms[n].hasList {
		return nil
	}
	return &s.lists[s.terms[n].at]
}

// timeBlock is the time range of 64 consecutive documents. Ranges are usually narrow,
// because most documents are added in the order of their times.
type timeBlock struct{ first, last int64 }

// timeBlocks returns the ranges of created.
func (s *segment) timeBlocks() []timeBlock {
	if s.image != nil {
		return s.image.timeBlocks()
	}
	return s.blocks
}

// timeBlocks returns the time range of each block of 64 times.
func timeBlocks(times []int64) []timeBlock {
	blocks := make([]timeBlock, 0, (len(times)+63)/64)
	for block := range slices.Chunk(times, 64) {
		blocks = append(blocks, timeBlock{slices.Min(block), slices.Max(block)})
	}
	return blocks
}

// latest returns, for each block of 64 documents, the time of the latest update. The values of a
// snapshot are cached after the first call.
func (s *segment) latest() []int64 {
	if s.image == nil {
		return s.latestUpdates
	}
	if blocks := s.image.latestUpdates.Load(); blocks != nil {
		return *blocks
	}
	blocks := blockMaxima(s.updated.all())
	if s.image.docs.Err() == nil {
		s.image.latestUpdates.CompareAndSwap(nil, &blocks)
	}
	return blocks
}

// blockMaxima returns the largest value of each block of 64 values.
func blockMaxima(updated []int64) []int64 {
	blocks := make([]int64, 0, (len(updated)+63)/64)
	for block := range slices.Chunk(updated, 64) {
		blocks = append(blocks, slices.Max(block))
	}
	return blocks
}

// view is a segment without the documents that were deleted.
type view struct {
	*segment
	deleted []uint64 // bit for each document (nil if no document is deleted)
	gone    int      // number of deleted documents
}

func (v *view) isDeleted(number uint32) bool {
	return v.deleted != nil && v.deleted[number/64]>>(number%64)&1 != 0
}

// liveCount returns the number of documents that are not deleted.
func (v *view) liveCount() int { return len(v.lens) - v.gone }

// without returns the view with this document deleted. The bits are copied, unless ownsBits
// is set because the current change has copied them already.
func (v view) without(number uint32, ownsBits bool) view {
	if !ownsBits {
		bits := make([]uint64, (len(v.lens)+63)/64)
		copy(bits, v.deleted)
		v.deleted = bits
	}
	v.deleted[number/64] |= 1 << (number % 64)
	v.gone++
	return v
}

// eachTerm calls fn with the text of each term with this prefix, and the segment's contribution
// to the term's df, until fn returns false.
func (s *segment) eachTerm(prefix string, fn func(text string, df int) bool) {
	if s.image != nil {
		s.image.eachTerm(prefix, fn)
		return
	}
	for n := range s.numTerms() {
		if t := s.term(n); strings.HasPrefix(t.text, prefix) && !fn(t.text, t.df-t.lost) {
			return
		}
	}
}
