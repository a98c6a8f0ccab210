// This file stores a term's documents, either as a list of postings or, if the term is frequent, in
// columns.

package index

import (
	"math"
	"math/bits"
	"slices"
)

// A posting is a document that has a term, with the term's frequency in sixteenths and the
// maximum of its contribution.
type posting struct {
	doc    uint32
	tf     uint16
	impact uint8 // see scale.impact
}

// postings are the documents of a term. They are immutable.
type postings struct {
	list []posting // in ascending order of documents (nil if the term has columns)
	cols *columns  // used instead of list (may be nil)
}

// columns store the postings of a term that many documents have. The impacts are stored
// together, because a search mostly looks for large impacts.
//
//	index      0    1    2    3  …
//	impacts   90   12   55   31  …   padded with zeros to a multiple of impactBlock
//	docs       3   17   64    2  …   lower half of document numbers: 65,538 is 2
//	tfs       16   16   32   16  …
//
//	starts    by number >> shift: index of the first posting from that number on
//
// A document is looked up with starts. If at least one in bitsShare documents has the term,
// the term also has a bit for each document. If at least one in denseShare documents has
// the term, a byte for each document replaces tfs.
type columns struct {
	impacts []uint8
	docs    []uint16
	tfs     []uint16
	// starts[i] is the index of the first posting with a document number of at least i << shift;
	// the last element is the number of postings
	starts []uint32
	shift  uint8 // at most 16, or 6 if the term has bits and tfs
	bits   []uint64
	dense  []uint8   // TF of each document in units, or 0 if it does not have the term
	tenth  uint8     // impact of the tenth-strongest posting
	unit   uint16    // unit of dense (One if all TFs are multiples of One, otherwise 1)
	large  []posting // postings with a TF of at least largeTF units, for which dense has largeTF
}

const (
	columnsLeast = 64  // minimum number of postings for columns, which must be greater than ten
	ten          = 10  // see columns.tenth
	bitsShare    = 32  // see columns
	denseShare   = 8   // see columns
	slotPostings = 4   // approximate number of postings for each element of starts, if the term has no bits
	largeTF      = 255 // see columns.large
	impactBlock  = 32  // number of impacts that are compared at a time
)

// newPostings returns the postings of a list in a segment with docs documents. It may keep
// the list.
func newPostings(list []posting, docs int) postings {
	if len(list) < columnsLeast {
		return postings{list: list}
	}
	w := newColumns(len(list), docs)
	if w.dense != nil && !slices.ContainsFunc(list, func(p posting) bool { return p.tf%One != 0 }) {
		w.unit = One
	}
	for _, p := range list {
		w.push(p)
	}
	w.finish()
	return postings{cols: w}
}

// newColumns returns empty columns with capacity for the postings.
func newColumns(postings, docs int) *columns {
	w := &columns{
		impacts: make([]uint8, 0, (postings+impactBlock-1)&^(impactBlock-1)),
		docs:    make([]uint16, 0, postings+lanes),
	}
	switch {
	case postings*denseShare >= docs:
		w.shift = 16
		w.dense = make([]uint8, docs)
		w.unit = 1
	case postings*bitsShare >= docs:
		w.shift = 6
	default:
		w.shift = uint8(min(bits.Len(uint(docs*slotPostings/postings))-1, 16))
	}
	if w.dense == nil {
		w.tfs = make([]uint16, 0, postings)
	}
	if postings*bitsShare >= docs {
		w.bits = make([]uint64, (docs+63)/64)
	}
	w.starts = make([]uint32, (docs-1)>>w.shift+2)
	return w
}

// push appends a posting. Document numbers must ascend.
func (w *columns) push(p posting) {
	w.starts[p.doc>>w.shift]++
	w.impacts, w.docs = append(w.impacts, p.impact), append(w.docs, uint16(p.doc))
	if w.bits != nil {
		w.bits[p.doc/64] |= 1 << (p.doc % 64)
	}
	if w.dense == nil {
		w.tfs = append(w.tfs, p.tf)
		return
	}
	w.dense[p.doc] = uint8(min(p.tf/w.unit, largeTF))
	if p.tf/w.unit >= largeTF {
		w.large = append(w.large, p)
	}
}

// finish completes the columns after the last push. Until then, starts has counts of
// postings.
func (w *columns) finish() {
	sum := uint32(0)
	for i, n := range w.starts {
		w.starts[i] = sum
		sum += n
	}
	var with [impactSteps + 1]int // number of postings with each impact
	for _, i := range w.impacts {
		with[i]++
	}
	w.tenth = impactSteps
	for n := with[w.tenth]; n < ten; n += with[w.tenth] {
		w.tenth--
	}
	w.impacts = w.impacts[:cap(w.impacts)]
}

// upTo returns the index after the last posting whose document number has the same upper
// half as number.
func (w *columns) upTo(number uint32) int {
	return int(w.starts[min(int(number>>16+1)<<(16-w.shift), len(w.starts)-1)])
}

// find returns the index of a document's posting, and whether the document has
// the term.
func (w *columns) find(number uint32) (int, bool) {
	i := number >> w.shift
	if w.shift == 6 && w.bits != nil {
		set, bit := w.bits[i], uint64(1)<<(number%64)
		return int(w.starts[i]) + bits.OnesCount64(set&(bit-1)), set&bit != 0
	}
	at, ok := findLow(w.docs, w.starts[i], w.starts[i+1], uint16(number))
	return int(at), ok
}

// findLow searches docs between two indexes for low, and returns the position and whether
// low was found. It compares several numbers at a time, to avoid branches.
func findLow(docs []uint16, at, to uint32, low uint16) (uint32, bool) {
	pattern := uint64(low) * everyPair
	for {
		some := docs[at : at+lanes]
		a := uint64(some[0]) | uint64(some[1])<<16 | uint64(some[2])<<32 | uint64(some[3])<<48
		b := uint64(some[4]) | uint64(some[5])<<16 | uint64(some[6])<<32 | uint64(some[7])<<48
		a, b = a^pattern, b^pattern // two zero bytes mark the position of the number that is searched
		a, b = (a-everyPair)&^a&topOfPairs, (b-everyPair)&^b&topOfPairs
		bit := bits.TrailingZeros64(a)
		if a == 0 {
			bit = 64 + bits.TrailingZeros64(b)
		}
		if i := at + uint32(bit)/16; to-at <= lanes || bit < 128 {
			return i, i < to && bit < 128
		}
		at += lanes
	}
}

const (
	lanes      = 8 // number of values that are compared at a time (docs has as much spare capacity)
	everyPair  = 0x0001000100010001
	topOfPairs = 0x8000 * everyPair
)

// tf returns the frequency of the term in a document, or 0.
func (w *columns) tf(number uint32) uint16 {
	if w.dense != nil {
		return w.denseTF(number)
	}
	if at, ok := w.find(number); ok {
		return w.tfs[at]
	}
	return 0
}

// hasDocument reports whether a document has the term.
func (w *columns) hasDocument(number uint32) bool {
	if w.bits != nil {
		return w.bits[number/64]>>(number%64)&1 != 0
	}
	_, found := w.find(number)
	return found
}

// denseTF is like tf, for columns with dense.
func (w *columns) denseTF(number uint32) uint16 {
	tf := uint16(w.dense[number])
	if tf < largeTF {
		return tf * w.unit
	}
	return w.largeTF(number)
}

// largeTF returns the frequency for a document in large.
func (w *columns) largeTF(number uint32) uint16 {
	at, _ := slices.BinarySearchFunc(w.large, number, func(p posting, number uint32) int {
		return int(int64(p.doc) - int64(number))
	})
	return w.large[at].tf
}

// at returns the posting with this index. Columns store only the lower 16 bits of a document number. *upper contains
// the upper bits, from which the search for the posting's upper bits begins. They must not be greater than the
// posting's upper bits, and at sets *upper to these. If a caller reads postings in order, it passes the same *upper
// each time.
func (w *columns) at(index int, upper *uint32) posting {
	for index >= w.upTo(*upper) {
		*upper += 1 << 16
	}
	p := posting{doc: *upper&^math.MaxUint16 | uint32(w.docs[index]), impact: w.impacts[index]}
	if w.dense != nil {
		p.tf = w.denseTF(p.doc)
	} else {
		p.tf = w.tfs[index]
	}
	return p
}

// setBits sets the bits of all documents that have the term.
func (w *columns) setBits(set []uint64) {
	for i, held := range w.bits {
		set[i] |= held
	}
	if w.bits != nil {
		return
	}
	for i, upper := 0, uint32(0); i < len(w.docs); upper += 1 << 16 {
		for end := w.upTo(upper); i < end; i++ {
			doc := upper | uint32(w.docs[i])
			set[doc/64] |= 1 << (doc % 64)
		}
	}
}

// count returns the number of postings.
func (t *postings) count() int {
	if t.cols != nil {
		return len(t.cols.docs)
	}
	return len(t.list)
}

// all returns the postings in order. They may be stored in room.
func (t *postings) all(room *[]posting) []posting {
	if t.cols == nil {
		return t.list
	}
	*room = slices.Grow((*room)[:0], t.count())
	for i, upper := 0, uint32(0); i < t.count(); i++ {
		*room = append(*room, t.cols.at(i, &upper))
	}
	return *room
}

// tf returns the frequency of the term in a document, or 0.
func (t *postings) tf(number uint32) uint16 {
	if t.cols != nil {
		return t.cols.tf(number)
	}
	if i := t.find(number); i < len(t.list) && t.list[i].doc == number {
		return t.list[i].tf
	}
	return 0
}

// hasDocument reports whether a document has the term.
func (t *postings) hasDocument(number uint32) bool {
	if t.cols != nil {
		return t.cols.hasDocument(number)
	}
	i := t.find(number)
	return i < len(t.list) && t.list[i].doc == number
}

// find returns the index of a document's posting in the list. If the document is not in
// the list, it returns an arbitrary index. The code does not branch on the list's content,
// because such branches are mispredicted.
func (t *postings) find(number uint32) int {
	from := 0
	for n := len(t.list); n > 1; {
		half := n / 2
		from += half & int((int64(t.list[from+half].doc)-int64(number)-1)>>63)
		n -= half
	}
	return from
}

// window is the number of documents that are scored together. Their sums must fit into the
// processor's L1 cache, and the cost of switching between terms must stay small. It is a
// multiple of 64.
const window = 1 << 11
