// Where a term stands: a list of postings or, in many documents, columns.

package index

import (
	"math"
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
	list []posting // rising by document number; nil when there are columns
	cols *columns  // instead of list, or nil
}

// columns is the postings of a term that stands in many documents. The impacts
// lie close together: most of a search is to look for large ones.
//
//	index      0    1    2    3  …
//	impacts   90   12   55   31  …   filled up with zeros to a multiple of impactBlock
//	docs       3   17   64    2  …   the lower half of the numbers: 65,538 is 2
//	tfs       16   16   32   16  …
//
//	starts    by number >> shift: the index of the first posting from there on
//
// A document is looked up by starts. The postings of a term that stands in at
// least one document in bitsShare have a bit for each document, too; in at least
// one in denseShare they have, instead of tfs, a byte for each document.
type columns struct {
	impacts []uint8
	docs    []uint16
	tfs     []uint16
	starts  []uint32 // of all documents, and the number of postings
	shift   uint8    // at most 16; 6 when there are bits and tfs
	bits    []uint64
	dense   []uint8   // the TF of each document by unit, 0 when it does not hold the term
	tenth   uint8     // the impact of the tenth of the strongest postings
	unit    uint16    // of dense: One when all TFs are multiples of it, else 1
	large   []posting // those whose TF is at least largeTF units, which is what dense says then
}

const (
	columnsLeast = 64  // postings that a term with columns has at least, more than ten
	ten          = 10  // see columns.tenth
	bitsShare    = 32  // see columns
	denseShare   = 8   // see columns
	slotPostings = 4   // about so many postings of a term without bits are between two of its starts
	largeTF      = 255 // see columns.large
	impactBlock  = 32  // so many impacts are compared at a time
)

// newPostings returns the postings of a list, which is theirs from now on, among
// so many documents.
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

// newColumns makes room for so many postings among so many documents.
func newColumns(postings, docs int) *columns {
	w := &columns{impacts: make([]uint8, 0, (postings+impactBlock-1)&^(impactBlock-1)), docs: make([]uint16, 0, postings+lanes)}
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

// push appends a posting of a larger number than all before.
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

// finish is called after the last push. Until then starts counts postings.
func (w *columns) finish() {
	sum := uint32(0)
	for i, n := range w.starts {
		w.starts[i] = sum
		sum += n
	}
	var with [impactSteps + 1]int // postings, by impact
	for _, i := range w.impacts {
		with[i]++
	}
	w.tenth = impactSteps
	for n := with[w.tenth]; n < ten; n += with[w.tenth] {
		w.tenth--
	}
	w.impacts = w.impacts[:cap(w.impacts)]
}

// upTo returns the index after that of the last posting of a document with the
// upper half of that number.
func (w *columns) upTo(number uint32) int {
	return int(w.starts[min(int(number>>16+1)<<(16-w.shift), len(w.starts)-1)])
}

// find returns the index of the posting of a document, and whether there is one.
func (w *columns) find(number uint32) (int, bool) {
	i := number >> w.shift
	if w.shift == 6 && w.bits != nil {
		set, bit := w.bits[i], uint64(1)<<(number%64)
		return int(w.starts[i]) + bits.OnesCount64(set&(bit-1)), set&bit != 0
	}
	at, ok := findLow(w.docs, w.starts[i], w.starts[i+1], uint16(number))
	return int(at), ok
}

// findLow returns where between two indexes a number is, and whether it is there. It
// compares some at a time, without a branch on each.
func findLow(docs []uint16, at, to uint32, low uint16) (uint32, bool) {
	pattern := uint64(low) * everyPair
	for {
		some := docs[at : at+lanes]
		a := uint64(some[0]) | uint64(some[1])<<16 | uint64(some[2])<<32 | uint64(some[3])<<48
		b := uint64(some[4]) | uint64(some[5])<<16 | uint64(some[6])<<32 | uint64(some[7])<<48
		a, b = a^pattern, b^pattern // two bytes of zeros are what is looked for
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
	lanes      = 8 // so many numbers are compared at a time; docs has room for as many more
	everyPair  = 0x0001000100010001
	topOfPairs = 0x8000 * everyPair
)

// tf returns how often the term stands in a document, 0 when it does not.
func (w *columns) tf(number uint32) uint16 {
	if w.dense != nil {
		return w.denseTF(number)
	}
	if at, ok := w.find(number); ok {
		return w.tfs[at]
	}
	return 0
}

// denseTF is tf where a byte says it.
func (w *columns) denseTF(number uint32) uint16 {
	tf := uint16(w.dense[number])
	if tf < largeTF {
		return tf * w.unit
	}
	return w.largeTF(number)
}

// largeTF is denseTF of one of the large.
func (w *columns) largeTF(number uint32) uint16 {
	at, _ := slices.BinarySearchFunc(w.large, number, func(p posting, number uint32) int { return int(int64(p.doc) - int64(number)) })
	return w.large[at].tf
}

// at returns the posting of an index. upper is a number that is not larger than
// the document's, of which the upper half counts, and becomes the document's.
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

// setBits sets the bits of all documents that hold the term.
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

// all returns the postings, rising: the list, or what it wrote to the room.
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

// tf returns how often the term stands in a document, 0 when it does not.
func (t *postings) tf(number uint32) uint16 {
	if t.cols != nil {
		return t.cols.tf(number)
	}
	if i := t.find(number); i < len(t.list) && t.list[i].doc == number {
		return t.list[i].tf
	}
	return 0
}

// find returns the index of the posting of a document in the list, or of
// another when there is none. It has no branch that depends on what it reads.
func (t *postings) find(number uint32) int {
	from := 0
	for n := len(t.list); n > 1; {
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
