// This file implements segments, which contain documents and their postings and do not change.

package index

import (
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/pagefile"
)

// segment contains documents and their terms. When a document is deleted from an older segment, the newest segment
// counts the deletion for each of the document's terms. A segment does not change, except that data from a snapshot is
// cached in atomic pointers.
type segment struct {
	// These fields are indexed by document number.
	ids     column[uint64]
	updated column[int64]
	created column[int64]
	// length of each document in sixteenths of a word, or unscoredDocumentLength for a document that does not count in
	// the average
	docLengths     []uint32
	signatures     signatureColumn
	dataByDocument []any // Data of each document (nil if no document has Data)
	// earliest and latest creation time in each block of 64 documents (see blockTimeRanges)
	creationTimeRanges []blockTimeRange

	latestUpdateTimes []int64 // latest update time in each block of 64 documents (see latestUpdateBlocks)

	isAscending bool            // a document with a higher number has a higher ID
	byID        numberHashTable // finds documents by ID if the IDs do not ascend
	// number of documents that count in the average length (see unscoredDocumentLength)
	scoredDocumentCount int
	totalDocumentLength uint64 // sum of the lengths of the documents that scoredDocumentCount counts
	// the impacts in the postings were computed with this value of adjustedK1Slope, a part of the scoring formula
	scoreImpactK1Slope float64

	termTable    numberHashTable // finds term numbers by the hash of the text
	terms        []term          // indexed by term number
	arena        stringArena
	postingLists []postings // for each term that several documents contain: these documents and the term's frequencies
	// reads terms and postings from a snapshot file, and is then used instead of termTable, terms, arena and
	// postingLists.
	snapshot *snapshotTerms
	// terms and postings in a segment that is still growing, used instead of termTable, terms, arena and postingLists.
	memtable *memtable
}

// term is a word that occurs in the documents of a segment. Most terms occur in a single document. Their only posting
// is stored in the term itself. A term contains no pointers, so that the garbage collector need not scan the terms.
type term struct {
	textReference uint32 // reference to the term's text in segment.arena
	docFrequency  uint32 // document frequency: the number of postings
	// index in postingLists, or, if only one document contains the term, the number of this document
	listIndexOrDocNumber uint32
	// number of documents with the term that were deleted from older segments while this segment was the newest
	deletedElsewhereCount int32
	termFrequency         uint16 // frequency in the only posting, or 0 if the term has several postings or none
	// largest impact of the term. An impact is an upper bound for the term's contribution to the score of a document.
	maxScoreImpact uint8
	// listIndexOrDocNumber is an index in postingLists, because the term has several postings
	hasPostingList bool
}

// findTerm returns the term with the given text and hash, and its postings. It returns false if the segment does not
// contain the term. If the segment does not store the postings as a list, findTerm appends them to *singlePostings, and
// the result refers to this slice.
func (s *segment) findTerm(text string, hash uint64, singlePostings *[]posting) (foundTerm, bool) {
	if s.snapshot != nil {
		return s.snapshot.loadTermByText(text)
	}
	n, ok := s.termNumber(text, hash)
	if !ok {
		return foundTerm{}, false
	}
	if s.memtable != nil {
		list, lost := s.memtable.appendPostings(*singlePostings, n)
		from := len(*singlePostings)
		*singlePostings = list
		return foundTerm{
			postings:              postings{list: list[from:]},
			docFrequency:          len(list) - from,
			deletedElsewhereCount: lost,
			maxScoreImpact:        maxScoreImpact,
		}, true
	}
	return s.findTermAt(n, singlePostings), true
}

// addTermDocs sets the bits of the documents that have the term.
func (s *segment) addTermDocs(docBitSet []uint64, text string, hash uint64) {
	s.termDocuments(text, hash).addDocBits(docBitSet)
}

// termDocuments returns the documents that have the term.
func (s *segment) termDocuments(text string, hash uint64) docSet {
	if s.snapshot != nil {
		return s.snapshot.loadDocuments(text)
	}
	var alone []posting
	f, _ := s.findTerm(text, hash, &alone)
	return docSet{postings: f.postings}
}

// findTermAt returns the term with the number termNumber, with its document counts and its postings. If a single
// document contains the term, the segment may store the posting without a posting list. findTermAt then appends the
// posting to *singlePostings, and the field list of the result refers to this element.
func (s *segment) findTermAt(termNumber uint32, singlePostings *[]posting) foundTerm {
	t := &s.terms[termNumber]
	f := foundTerm{
		docFrequency:          int(t.docFrequency),
		deletedElsewhereCount: int(t.deletedElsewhereCount),
		maxScoreImpact:        t.maxScoreImpact,
	}
	switch {
	case t.hasPostingList:
		f.postings = s.postingLists[t.listIndexOrDocNumber]
	case t.docFrequency > 0:
		*singlePostings = append(*singlePostings, t.onlyPosting())
		f.list = (*singlePostings)[len(*singlePostings)-1:]
	}
	return f
}

// termDF returns the segment's contribution to a term's document frequency. This is the number of postings, minus how
// many documents with the term were deleted from older segments while this segment was the newest. For a segment in a
// snapshot, it is the number of postings. If the segment lacks the term, the result is 0.
func (s *segment) termDF(text string, hash uint64) int {
	if s.snapshot != nil {
		t, ok := s.snapshot.findTerm(text)
		if !ok {
			return 0
		}
		return int(t.docFrequency)
	}
	n, ok := s.termNumber(text, hash)
	if !ok {
		return 0
	}
	t := s.termCountsAt(int(n))
	return t.docFrequency - t.deletedElsewhereCount
}

func (s *segment) termNumber(text string, hash uint64) (uint32, bool) {
	if s.memtable != nil {
		return s.memtable.findTerm(text, hash)
	}
	n := s.termTable.findFirstByHash(hash)
	if n == 0 || s.arena.get(s.terms[n-1].textReference) == text {
		return n - 1, n > 0
	}
	return s.termTable.find(hash, func(n uint32) bool { return s.arena.get(s.terms[n].textReference) == text })
}

// onlyPosting returns the posting of a term that has only one.
func (t *term) onlyPosting() posting {
	return posting{t.listIndexOrDocNumber, t.termFrequency, t.maxScoreImpact}
}

// termCounts is a term with its counts but without postings.
type termCounts struct {
	text                  string
	docFrequency          int
	deletedElsewhereCount int
}

// termCount returns the number of terms in the segment.
func (s *segment) termCount() int {
	if s.snapshot != nil {
		return s.snapshot.termCount
	}
	if s.memtable != nil {
		return len(s.memtable.terms)
	}
	return len(s.terms)
}

// termCountsAt returns the text and the counts of term termNumber.
func (s *segment) termCountsAt(termNumber int) termCounts {
	if s.snapshot != nil {
		t := s.snapshot.termAt(termNumber)
		return termCounts{t.text, int(t.docFrequency), 0}
	}
	if s.memtable != nil {
		df, lost := s.memtable.countDocuments(uint32(termNumber))
		return termCounts{s.memtable.terms[termNumber].text, df, lost}
	}
	t := &s.terms[termNumber]
	return termCounts{s.arena.get(t.textReference), int(t.docFrequency), int(t.deletedElsewhereCount)}
}

// termPostings returns the postings of term termNumber in ascending order of their documents. If the segment does not
// contain the postings as a list in memory, termPostings stores them in *postingBuffer and returns *postingBuffer. It
// reuses the memory of *postingBuffer and enlarges it if necessary. The result is nil if no document contains the term.
func (s *segment) termPostings(termNumber int, postingBuffer *[]posting) []posting {
	if s.snapshot != nil {
		*postingBuffer = s.snapshot.decodeTermPostings(termNumber, (*postingBuffer)[:0])
		return *postingBuffer
	}
	if s.memtable != nil {
		*postingBuffer, _ = s.memtable.appendPostings((*postingBuffer)[:0], uint32(termNumber))
		return *postingBuffer
	}
	t := &s.terms[termNumber]
	switch {
	case t.hasPostingList:
		return s.postingLists[t.listIndexOrDocNumber].allPostings(postingBuffer)
	case t.docFrequency > 0:
		*postingBuffer = append((*postingBuffer)[:0], t.onlyPosting())
	default:
		return nil
	}
	return *postingBuffer
}

// documentNumber returns the number that the document with this ID has in this part of the index. A part that still
// grows may contain several versions of a document. Then the number of the newest version is returned.
func (s *segment) documentNumber(id uint64) (uint32, bool) {
	if s.memtable != nil && !s.isAscending {
		for n := len(s.docLengths) - 1; n >= 0; n-- {
			if s.ids.valueAt(uint32(n)) == id {
				return uint32(n), true
			}
		}
		return 0, false
	}
	if !s.isAscending {
		return s.byID.find(idHash(id), func(n uint32) bool { return s.ids.valueAt(n) == id })
	}
	n, ok := pagefile.FindKey(len(s.docLengths), id, func(i int) uint64 { return s.ids.valueAt(uint32(i)) })
	return uint32(n), ok
}

// eachTermOfDocuments calls fn for each term of each given document. In a snapshot's segment, it decodes all postings.
// In other segments, it searches the long posting lists for the documents.
func (s *segment) eachTermOfDocuments(documents []uint32, fn func(text string)) {
	wanted := make([]bool, len(s.docLengths))
	for _, number := range documents {
		wanted[number] = true
	}
	var room []posting
	for n := range s.termCount() {
		if list := s.postingListAt(n); list != nil && len(documents)*postingsPerDocumentSearch < list.count() {
			for _, number := range documents {
				if list.hasDocument(number) {
					fn(s.termCountsAt(n).text)
				}
			}
			continue
		}
		for _, p := range s.termPostings(n, &room) {
			if wanted[p.docNumber] {
				fn(s.termCountsAt(n).text)
			}
		}
	}
}

// postingsPerDocumentSearch compares two ways to find out whether documents contain a term. A binary search for one
// document in the term's list takes as much time as decoding postingsPerDocumentSearch documents of the list.
const postingsPerDocumentSearch = 8

// postingListAt returns the posting list of term termNumber, which lists the documents that contain the term. It
// returns nil if the term has only one posting, or if the segment is a snapshot or a memtable, which stores its
// postings in another form.
func (s *segment) postingListAt(termNumber int) *postings {
	if s.snapshot != nil || s.memtable != nil {
		return nil
	}
	if !s.terms[termNumber].hasPostingList {
		return nil
	}
	return &s.postingLists[s.terms[termNumber].listIndexOrDocNumber]
}

// blockTimeRange is the time range in a block of 64 documents. The ranges are usually narrow, because most documents
// are added in the order of their times.
type blockTimeRange struct{ firstTime, lastTime int64 }

// documentBlockTimes contains times of each block of 64 documents.
type documentBlockTimes struct {
	creationTimeRanges []blockTimeRange // earliest and latest creation time
	latestUpdateTimes  []int64          // latest update time
}

// blockTimeRanges returns the earliest and the latest creation time in each block of 64 documents.
func (s *segment) blockTimeRanges() []blockTimeRange {
	if s.snapshot != nil {
		return s.snapshot.blockTimes().creationTimeRanges
	}
	return s.creationTimeRanges
}

// timeBlocks divides the times into blocks of 64 and returns the earliest and the latest time in each block.
func timeBlocks(times []int64) []blockTimeRange {
	blocks := make([]blockTimeRange, 0, (len(times)+63)/64)
	for block := range slices.Chunk(times, 64) {
		blocks = append(blocks, blockTimeRange{slices.Min(block), slices.Max(block)})
	}
	return blocks
}

// latestUpdateBlocks returns the latest update time in each block of 64 documents.
func (s *segment) latestUpdateBlocks() []int64 {
	if s.snapshot != nil {
		return s.snapshot.blockTimes().latestUpdateTimes
	}
	return s.latestUpdateTimes
}

// blockMaxima returns the largest value in each block of 64 values.
func blockMaxima(values []int64) []int64 {
	blocks := make([]int64, 0, (len(values)+63)/64)
	for block := range slices.Chunk(values, 64) {
		blocks = append(blocks, slices.Max(block))
	}
	return blocks
}

// segmentView is a segment, and which of its documents were deleted.
type segmentView struct {
	*segment
	deletedBitSet []uint64 // one bit for each document, set if it was deleted (nil if none was)
	deletedCount  int      // number of deleted documents
}

func (v *segmentView) isDeleted(docNumber uint32) bool {
	return v.deletedBitSet != nil && v.deletedBitSet[docNumber/64]>>(docNumber%64)&1 != 0
}

// liveDocumentCount returns the number of documents that are not deleted.
func (v *segmentView) liveDocumentCount() int { return len(v.docLengths) - v.deletedCount }

// withoutDocument returns a copy of v in which the document with the number docNumber is marked as deleted. If
// ownsDeletedBitSet is false, withoutDocument first copies the bit set of deleted documents, because readers may use
// the old set. If ownsDeletedBitSet is true, the current change has already copied the set, so withoutDocument changes
// the set directly.
func (v segmentView) withoutDocument(docNumber uint32, ownsDeletedBitSet bool) segmentView {
	if !ownsDeletedBitSet {
		bits := make([]uint64, (len(v.docLengths)+63)/64)
		copy(bits, v.deletedBitSet)
		v.deletedBitSet = bits
	}
	v.deletedBitSet[docNumber/64] |= 1 << (docNumber % 64)
	v.deletedCount++
	return v
}

// eachTermWithPrefix calls fn for each term that begins with prefix. The argument df of fn is the number of documents
// with the term, minus the deletions that this segment counts for other segments. eachTermWithPrefix stops when fn
// returns false.
func (s *segment) eachTermWithPrefix(prefix string, fn func(text string, df int) bool) {
	if s.snapshot != nil {
		s.snapshot.eachTermWithPrefix(prefix, fn)
		return
	}
	for n := range s.termCount() {
		if t := s.termCountsAt(n); strings.HasPrefix(t.text, prefix) &&
			!fn(t.text, t.docFrequency-t.deletedElsewhereCount) {
			return
		}
	}
}
