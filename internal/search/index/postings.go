// This file stores the documents that contain a term: as a list of postings or, if the term is frequent, in columns.

package index

import (
	"math"
	"math/bits"
	"slices"
)

// A posting says that a document contains a term. The field termFrequency is the term's frequency in the document, in
// sixteenths of an occurrence in plain text. The impact is an upper bound of the posting's contribution to a score.
type posting struct {
	docNumber     uint32
	termFrequency uint16
	scoreImpact   uint8 // see bm25Scale.scoreImpact
}

// postings are all postings of a term in a segment. They never change.
type postings struct {
	list    []posting       // documents that contain the term, in ascending order (nil if columns is used instead)
	columns *postingColumns // postings of a frequent term in another arrangement, used instead of list (may be nil)
}

// addDocsToBitSet sets, in docBitSet, the bit of each document that contains the term.
func (p postings) addDocsToBitSet(docBitSet []uint64) {
	for _, q := range p.list {
		docBitSet[q.docNumber/64] |= 1 << (q.docNumber % 64)
	}
	if p.columns != nil {
		p.columns.addDocsToBitSet(docBitSet)
	}
}

// postingColumns store the postings of a frequent term. The impacts of all postings are together in memory, because a
// search mostly looks for large impacts. The other parts of the postings are in further arrays:
//
//	index              0    1    2    3  …
//	scoreImpacts      90   12   55   31  …   padded with zeros to a multiple of scoreImpactBlockSize
//	docNumberLowBits   3   17   64    2  …   lower half of document numbers: 65,538 is 2
//	termFrequencies   16   16   32   16  …
//
// The array firstPostingIndexes finds the posting of a document. If at least one in bitmapShareDivisor documents
// contains the term, docBitSet also has a bit for each document. If at least one in frequencyBytesShareDivisor
// documents contains the term, frequencyBytes has a byte for each document and replaces termFrequencies.
type postingColumns struct {
	scoreImpacts     []uint8
	docNumberLowBits []uint16
	termFrequencies  []uint16
	// firstPostingIndexes[i] is the index of the first posting whose document number is at least i <<
	// firstPostingIndexShift. The last element is the number of postings.
	firstPostingIndexes []uint32
	// firstPostingIndexes has an element for each 1<<firstPostingIndexShift documents. firstPostingIndexShift is at
	// most 16, or 6 if both docBitSet and termFrequencies are used.
	firstPostingIndexShift uint8
	docBitSet              []uint64
	// For each document, how often it contains the term, or 0 if it does not. The number is divided by
	// frequencyBytesUnit.
	frequencyBytes []uint8
	// impact of the tenth posting if the term's postings are ordered by impact, largest first
	tenthHighestScoreImpact uint8
	// FrequencyPerOccurrence if the term's frequencies in all documents are multiples of FrequencyPerOccurrence,
	// otherwise 1
	frequencyBytesUnit     uint16
	largeFrequencyPostings []posting // postings whose frequency is too large for a byte in frequencyBytes
}

const (
	// minimum number of a term's postings for which postingColumns is used. The number must be greater than ten because
	// tenthHighestScoreImpact is the impact of the tenth posting.
	minPostingsForColumns = 64
	// position of the posting whose impact is tenthHighestScoreImpact, if the postings are ordered by impact
	tenthHighestRank = 10
	// if at least 1 in bitmapShareDivisor documents contains the term, docBitSet has a bit for each document
	bitmapShareDivisor = 32
	// if at least 1 in frequencyBytesShareDivisor documents contains the term, frequencyBytes has a byte for each
	// document
	frequencyBytesShareDivisor = 8
	// approximate number of postings between two elements of firstPostingIndexes, for a term without docBitSet
	postingsPerIndexEntry = 4
	// value in frequencyBytes that refers to largeFrequencyPostings. Smaller values are frequencies.
	largeFrequencyByte = 255
	// number of elements of impacts that a search checks in one step; an impact is an upper bound for a posting's
	// contribution to a score
	scoreImpactBlockSize = 32
)

// newPostings returns the documents that contain a term, in the layout for searches. docs is the number of all
// documents in this part of the index. list must not be changed afterwards, because the result may use the same
// memory.
func newPostings(list []posting, docs int) postings {
	if len(list) < minPostingsForColumns {
		return postings{list: list}
	}
	w := newColumns(len(list), docs)
	if w.frequencyBytes != nil &&
		!slices.ContainsFunc(list, func(p posting) bool { return p.termFrequency%FrequencyPerOccurrence != 0 }) {
		w.frequencyBytesUnit = FrequencyPerOccurrence
	}
	for _, p := range list {
		w.pushPosting(p)
	}
	w.finishColumns()
	return postings{columns: w}
}

// newColumns returns empty columns for the postings of one term. The argument postings is the number of postings that
// will be added. The argument docs is the number of documents in the segment. The more documents contain the term, the
// more columns are used, because they make lookups faster.
func newColumns(postings, docs int) *postingColumns {
	w := &postingColumns{
		scoreImpacts:     make([]uint8, 0, (postings+scoreImpactBlockSize-1)&^(scoreImpactBlockSize-1)),
		docNumberLowBits: make([]uint16, 0, postings+docNumbersPerStep),
	}
	switch {
	case postings*frequencyBytesShareDivisor >= docs:
		w.firstPostingIndexShift = 16
		w.frequencyBytes = make([]uint8, docs)
		w.frequencyBytesUnit = 1
	case postings*bitmapShareDivisor >= docs:
		w.firstPostingIndexShift = 6
	default:
		w.firstPostingIndexShift = uint8(min(bits.Len(uint(docs*postingsPerIndexEntry/postings))-1, 16))
	}
	if w.frequencyBytes == nil {
		w.termFrequencies = make([]uint16, 0, postings)
	}
	if postings*bitmapShareDivisor >= docs {
		w.docBitSet = make([]uint64, (docs+63)/64)
	}
	w.firstPostingIndexes = make([]uint32, (docs-1)>>w.firstPostingIndexShift+2)
	return w
}

// pushPosting appends a posting to the columns. Document numbers must ascend.
func (w *postingColumns) pushPosting(p posting) {
	w.firstPostingIndexes[p.docNumber>>w.firstPostingIndexShift]++
	w.scoreImpacts, w.docNumberLowBits = append(
		w.scoreImpacts,
		p.scoreImpact,
	), append(
		w.docNumberLowBits,
		uint16(p.docNumber),
	)
	if w.docBitSet != nil {
		w.docBitSet[p.docNumber/64] |= 1 << (p.docNumber % 64)
	}
	if w.frequencyBytes == nil {
		w.termFrequencies = append(w.termFrequencies, p.termFrequency)
		return
	}
	w.frequencyBytes[p.docNumber] = uint8(min(p.termFrequency/w.frequencyBytesUnit, largeFrequencyByte))
	if p.termFrequency/w.frequencyBytesUnit >= largeFrequencyByte {
		w.largeFrequencyPostings = append(w.largeFrequencyPostings, p)
	}
}

// finishColumns completes the columns of a frequent term after the last call of pushPosting. Until then,
// firstPostingIndexes contains the number of postings in each range of document numbers. finishColumns replaces these
// counts by the index of the first posting in each range. It also sets tenthHighestScoreImpact to the tenth highest
// impact of the term, and extends the slice scoreImpacts to its capacity.
func (w *postingColumns) finishColumns() {
	sum := uint32(0)
	for i, n := range w.firstPostingIndexes {
		w.firstPostingIndexes[i] = sum
		sum += n
	}
	var with [maxScoreImpact + 1]int // by impact: number of the term's postings with this impact
	for _, i := range w.scoreImpacts {
		with[i]++
	}
	w.tenthHighestScoreImpact = maxScoreImpact
	for n := with[w.tenthHighestScoreImpact]; n < tenthHighestRank; n += with[w.tenthHighestScoreImpact] {
		w.tenthHighestScoreImpact--
	}
	w.scoreImpacts = w.scoreImpacts[:cap(w.scoreImpacts)]
}

// findUpperBitsRangeEnd returns the end of a range of postings. The range contains the postings whose document numbers
// have the same upper 16 bits as the parameter docNumber. The result is the index of the first posting after the range.
func (w *postingColumns) findUpperBitsRangeEnd(docNumber uint32) int {
	return int(
		w.firstPostingIndexes[min(int(docNumber>>16+1)<<(16-w.firstPostingIndexShift), len(w.firstPostingIndexes)-1)],
	)
}

// findPostingIndex returns the index of a document's posting. It returns false if the document does not contain the
// term.
func (w *postingColumns) findPostingIndex(docNumber uint32) (int, bool) {
	i := docNumber >> w.firstPostingIndexShift
	if w.firstPostingIndexShift == 6 && w.docBitSet != nil {
		set, bit := w.docBitSet[i], uint64(1)<<(docNumber%64)
		return int(w.firstPostingIndexes[i]) + bits.OnesCount64(set&(bit-1)), set&bit != 0
	}
	at, ok := findLowDocNumber(
		w.docNumberLowBits,
		w.firstPostingIndexes[i],
		w.firstPostingIndexes[i+1],
		uint16(docNumber),
	)
	return int(at), ok
}

// findLowDocNumber searches the elements docs[startIndex] to docs[endIndex-1] for the value low. If an element has this
// value, findLowDocNumber returns its index and true. Otherwise the bool is false. It compares eight elements at once,
// so that the processor need not predict a branch for each element.
func findLowDocNumber(docs []uint16, startIndex, endIndex uint32, low uint16) (uint32, bool) {
	pattern := uint64(low) * lowBitOfEachUint16
	for {
		some := docs[startIndex : startIndex+docNumbersPerStep]
		a := uint64(some[0]) | uint64(some[1])<<16 | uint64(some[2])<<32 | uint64(some[3])<<48
		b := uint64(some[4]) | uint64(some[5])<<16 | uint64(some[6])<<32 | uint64(some[7])<<48
		a, b = a^pattern, b^pattern // in a and b, the two bytes of each value that is equal to low become zero
		a, b = (a-lowBitOfEachUint16)&^a&topBitOfEachUint16, (b-lowBitOfEachUint16)&^b&topBitOfEachUint16
		bit := bits.TrailingZeros64(a)
		if a == 0 {
			bit = 64 + bits.TrailingZeros64(b)
		}
		if i := startIndex + uint32(bit)/16; endIndex-startIndex <= docNumbersPerStep || bit < 128 {
			return i, i < endIndex && bit < 128
		}
		startIndex += docNumbersPerStep
	}
}

const (
	// How many document numbers are compared at once. Arrays of document numbers have this much unused capacity, so
	// that reading after the end is allowed.
	docNumbersPerStep  = 8
	lowBitOfEachUint16 = 0x0001000100010001
	topBitOfEachUint16 = 0x8000 * lowBitOfEachUint16
)

// termFrequency returns a number that grows with the term's occurrences in a document: each occurrence in plain text
// adds 16 ([FrequencyPerOccurrence]). The result is 0 if the document does not contain the term.
func (w *postingColumns) termFrequency(number uint32) uint16 {
	if w.frequencyBytes != nil {
		return w.decodeFrequencyByte(number)
	}
	if at, ok := w.findPostingIndex(number); ok {
		return w.termFrequencies[at]
	}
	return 0
}

// hasDocument reports whether the document with this number contains the term of these columns.
func (w *postingColumns) hasDocument(number uint32) bool {
	if w.docBitSet != nil {
		return w.docBitSet[number/64]>>(number%64)&1 != 0
	}
	_, found := w.findPostingIndex(number)
	return found
}

// decodeFrequencyByte returns the same as termFrequency. Call it only if the columns have frequencyBytes.
func (w *postingColumns) decodeFrequencyByte(docNumber uint32) uint16 {
	tf := uint16(w.frequencyBytes[docNumber])
	if tf < largeFrequencyByte {
		return tf * w.frequencyBytesUnit
	}
	return w.findLargeFrequency(docNumber)
}

// findLargeFrequency returns how often a document contains the term. The frequency must be too large for
// frequencyBytes, so that the document has a posting in largeFrequencyPostings.
func (w *postingColumns) findLargeFrequency(docNumber uint32) uint16 {
	at, _ := slices.BinarySearchFunc(w.largeFrequencyPostings, docNumber, func(p posting, number uint32) int {
		return int(int64(p.docNumber) - int64(number))
	})
	return w.largeFrequencyPostings[at].termFrequency
}

// postingAt returns the posting with the given index. A column stores only the lower 16 bits of each document number,
// so postingAt must find the upper bits. It begins with *docNumberUpperBits, which must not be greater than the upper
// bits of the posting, and sets *docNumberUpperBits to the upper bits that it found. A caller that reads postings in
// ascending order should pass the same pointer each time, so that the search continues where it ended.
func (w *postingColumns) postingAt(index int, docNumberUpperBits *uint32) posting {
	for index >= w.findUpperBitsRangeEnd(*docNumberUpperBits) {
		*docNumberUpperBits += 1 << 16
	}
	p := posting{
		docNumber:   *docNumberUpperBits&^math.MaxUint16 | uint32(w.docNumberLowBits[index]),
		scoreImpact: w.scoreImpacts[index],
	}
	if w.frequencyBytes != nil {
		p.termFrequency = w.decodeFrequencyByte(p.docNumber)
	} else {
		p.termFrequency = w.termFrequencies[index]
	}
	return p
}

// addDocsToBitSet sets the bits of all documents that contain the term.
func (w *postingColumns) addDocsToBitSet(docBitSet []uint64) {
	for i, held := range w.docBitSet {
		docBitSet[i] |= held
	}
	if w.docBitSet != nil {
		return
	}
	for i, upper := 0, uint32(0); i < len(w.docNumberLowBits); upper += 1 << 16 {
		for end := w.findUpperBitsRangeEnd(upper); i < end; i++ {
			doc := upper | uint32(w.docNumberLowBits[i])
			docBitSet[doc/64] |= 1 << (doc % 64)
		}
	}
}

// count returns the number of postings.
func (t *postings) count() int {
	if t.columns != nil {
		return len(t.columns.docNumberLowBits)
	}
	return len(t.list)
}

// allPostings returns all postings in order of the documents. If the postings are in columns, it decodes them into
// *postingBuffer, whose memory is reused and enlarged if necessary.
func (t *postings) allPostings(postingBuffer *[]posting) []posting {
	if t.columns == nil {
		return t.list
	}
	*postingBuffer = slices.Grow((*postingBuffer)[:0], t.count())
	for i, upper := 0, uint32(0); i < t.count(); i++ {
		*postingBuffer = append(*postingBuffer, t.columns.postingAt(i, &upper))
	}
	return *postingBuffer
}

// termFrequency returns how often a document contains the term, or 0 if the document does not contain it. The result is
// in sixteenths, so that an occurrence in a special field can count more or less than an occurrence in the text, which
// counts sixteen.
func (t *postings) termFrequency(docNumber uint32) uint16 {
	if t.columns != nil {
		return t.columns.termFrequency(docNumber)
	}
	if i := t.findPostingIndex(docNumber); i < len(t.list) && t.list[i].docNumber == docNumber {
		return t.list[i].termFrequency
	}
	return 0
}

// hasDocument reports whether a document contains the term.
func (t *postings) hasDocument(number uint32) bool {
	if t.columns != nil {
		return t.columns.hasDocument(number)
	}
	i := t.findPostingIndex(number)
	return i < len(t.list) && t.list[i].docNumber == number
}

// findPostingIndex returns the index in t.list of the posting for the document with this number. If this document does
// not contain the term, the result is the index of another document's posting. Therefore the caller must compare the
// document number of the posting with docNumber. The code does not branch on the contents of the list, because such
// branches are mispredicted.
func (t *postings) findPostingIndex(docNumber uint32) int {
	from := 0
	for n := len(t.list); n > 1; {
		half := n / 2
		from += half & int((int64(t.list[from+half].docNumber)-int64(docNumber)-1)>>63)
		n -= half
	}
	return from
}

// docsPerScoreWindow is the number of documents that are scored together. For each window, the search processes one
// query term after the other. A larger window makes it switch between terms less often. But the scores of the window's
// documents must fit into the processor's L1 cache. The number is a multiple of 64.
const docsPerScoreWindow = 1 << 11
