// This file reads the terms of an open snapshot: single terms when a query needs them, or all terms.

package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"sort"
	"strings"
	"sync/atomic"

	"github.com/oxbow-memory/oxbow/internal/base/pagefile"
)

// recordReadError records that the snapshot could not be read. The index must not be used afterwards.
func (img *snapshotTerms) recordReadError(err error) { img.docs.RecordError(err) }

// findTerm returns the term with this text. It returns false if the term is missing or if the snapshot cannot be read.
func (img *snapshotTerms) findTerm(text string) (*snapshotTerm, bool) {
	// Find the last block of 64 terms in the snapshot file whose first term is not greater than text.
	lo, hi := 0, len(img.blocks)
	for lo < hi {
		if half := (lo + hi) / 2; img.blocks[half].firstTerm <= text {
			lo = half + 1
		} else {
			hi = half
		}
	}
	if lo == 0 {
		return nil, false
	}
	ts := img.loadBlock(lo - 1)
	lo, hi = 0, len(ts)
	for lo < hi {
		if half := (lo + hi) / 2; ts[half].text < text {
			lo = half + 1
		} else {
			hi = half
		}
	}
	if lo == len(ts) || ts[lo].text != text {
		return nil, false
	}
	return &ts[lo], true
}

// termAt returns the term with number n in the snapshot file. If the part of the file with this term cannot be read,
// it returns an empty term.
func (img *snapshotTerms) termAt(n int) *snapshotTerm {
	if ts := img.loadBlock(n / termsPerBlock); n%termsPerBlock < len(ts) {
		return &ts[n%termsPerBlock]
	}
	// The block of the snapshot with this term could not be read. Searcher.Err returns the error.
	return new(snapshotTerm)
}

// loadTermByText returns the term with this text and its postings. They are cached after the first call.
func (img *snapshotTerms) loadTermByText(text string) (foundTerm, bool) {
	t, ok := img.findTerm(text)
	if !ok {
		return foundTerm{}, false
	}
	if f := t.cachedPostings.Load(); f != nil {
		return *f, true
	}
	f := new(foundTerm)
	if err := img.readTerm(t, f); err != nil {
		img.recordReadError(err)
		*f = foundTerm{}
	}
	t.cachedPostings.Store(f)
	return *f, true
}

// readTerm reads the postings of a term into f. A long list is converted to columns while it is decoded, because the
// decoded list would need several times the memory.
func (img *snapshotTerms) readTerm(t *snapshotTerm, f *foundTerm) error {
	if err := img.docs.Err(); err != nil {
		return err
	}
	b, err := readBytesAt(img.reader, t.listOffset, int64(t.listSize), math.MaxInt64)
	if err != nil {
		return err
	}
	r, err := img.openPostingList(t, b)
	defer r.returnToPool()
	if err != nil {
		return err
	}
	f.docFrequency = int(t.docFrequency)
	if t.docFrequency < minPostingsForColumns {
		list, err := r.appendPostings(make([]posting, 0, t.docFrequency))
		for _, p := range list {
			f.maxScoreImpact = max(f.maxScoreImpact, p.scoreImpact)
		}
		f.list = list
		return err
	}
	f.columns = newColumns(f.docFrequency, len(img.docLengths))
	f.maxScoreImpact, err = r.fillPostingColumns(f.columns)
	return err
}

// loadDocuments returns the documents that have the term. It is meant for a filter, which does not need the rest of the
// postings. It takes a third of the time that loadTermByText takes. The documents are cached.
func (img *snapshotTerms) loadDocuments(termText string) docSet {
	t, ok := img.findTerm(termText)
	if !ok {
		return docSet{}
	}
	if f := t.cachedPostings.Load(); f != nil {
		return docSet{postings: f.postings}
	}
	if d := t.cachedDocuments.Load(); d != nil {
		return *d
	}
	d := new(docSet)
	if err := img.readTermDocuments(t, d); err != nil {
		img.recordReadError(err)
		*d = docSet{}
	}
	t.cachedDocuments.Store(d)
	return *d
}

// readTermDocuments reads the documents of a term into d, as numbers if the term is rare, otherwise as bits.
func (img *snapshotTerms) readTermDocuments(t *snapshotTerm, d *docSet) error {
	if err := img.docs.Err(); err != nil {
		return err
	}
	b, err := readBytesAt(img.reader, t.listOffset, int64(t.listSize), math.MaxInt64)
	if err != nil {
		return err
	}
	r, err := img.openPostingList(t, b)
	defer r.returnToPool()
	if err != nil {
		return err
	}
	if int(t.docFrequency)*bitmapShareDivisor < len(img.docLengths) {
		d.docNumbers = make([]uint32, 0, t.docFrequency)
	} else {
		d.docBitSet = make([]uint64, (len(img.docLengths)+63)/64)
	}
	for r.remainingPostings > 0 {
		n := int(min(r.remainingPostings, decodeBatchSize))
		if err := r.decodePostings(n); err != nil {
			return err
		}
		if d.docBitSet == nil {
			d.docNumbers = append(d.docNumbers, r.batchDocNumbers[:n]...)
			continue
		}
		for _, number := range r.batchDocNumbers[:n] {
			d.docBitSet[number/64] |= 1 << (number % 64)
		}
	}
	return nil
}

// docSet contains the documents that have a term. Only one of the fields is set.
type docSet struct {
	postings
	docNumbers []uint32
	docBitSet  []uint64 // for each document of the segment, one bit that says whether the document contains the term
}

// hasDocument reports whether the set contains the document with this number.
func (d docSet) hasDocument(number uint32) bool {
	if d.docBitSet != nil {
		return d.docBitSet[number/64]>>(number%64)&1 != 0
	}
	if _, found := slices.BinarySearch(d.docNumbers, number); found {
		return true
	}
	return d.postings.hasDocument(number)
}

// addDocBits sets, in docBits, the bit of each document in the set d.
func (d docSet) addDocBits(docBits []uint64) {
	d.postings.addDocsToBitSet(docBits)
	for _, number := range d.docNumbers {
		docBits[number/64] |= 1 << (number % 64)
	}
	for i, set := range d.docBitSet {
		docBits[i] |= set
	}
}

// eachTermWithPrefix calls fn with each term that begins with prefix, and the number of documents with the term. It
// continues in the order of the texts until fn returns false. eachTermWithPrefix caches no terms, because it usually
// reads many terms that are needed only once.
func (img *snapshotTerms) eachTermWithPrefix(prefix string, fn func(text string, df int) bool) {
	first, last := img.findPrefixTermRange(prefix)
	var b []byte
	for i := first / termsPerBlock; i*termsPerBlock < last && img.docs.Err() == nil; i++ {
		k := &img.blocks[i]
		if ts := k.cachedTerms.Load(); ts != nil {
			for j := range *ts {
				if t := &(*ts)[j]; strings.HasPrefix(t.text, prefix) && !fn(t.text, int(t.docFrequency)) {
					return
				}
			}
			continue
		}
		b = slices.Grow(b[:0], int(k.termsSize))[:k.termsSize]
		if err := img.readBlockBytes(k, b); err != nil {
			img.recordReadError(err)
			return
		}
		n, err := countTerms(b)
		if err != nil {
			img.recordReadError(err)
			return
		}
		texts := string(b[n*termEntrySize:])
		for j := range n {
			size := binary.LittleEndian.Uint32(b[j*termEntrySize:])
			text := texts[:size]
			texts = texts[size:]
			df := binary.LittleEndian.Uint32(b[j*termEntrySize+4:])
			if strings.HasPrefix(text, prefix) && !fn(text, int(df)) {
				return
			}
		}
	}
}

// findPrefixTermRange returns the range of the numbers that terms with this prefix can have. last is not in the range.
func (img *snapshotTerms) findPrefixTermRange(prefix string) (first, last int) {
	at := sort.Search(len(img.blocks), func(i int) bool { return img.blocks[i].firstTerm >= prefix })
	from := max(at-1, 0)
	to := from
	for to < len(img.blocks) && (img.blocks[to].firstTerm <= prefix || strings.HasPrefix(img.blocks[to].firstTerm,
		prefix)) {
		to++
	}
	return from * termsPerBlock, min(to*termsPerBlock, img.termCount)
}

// loadBlock returns the terms of block i, and caches them.
func (img *snapshotTerms) loadBlock(i int) []snapshotTerm {
	k := &img.blocks[i]
	if ts := k.cachedTerms.Load(); ts != nil {
		return *ts
	}
	ts, err := img.readBlock(k)
	if err != nil {
		img.recordReadError(err)
		return nil
	}
	k.cachedTerms.CompareAndSwap(nil, &ts)
	return *k.cachedTerms.Load()
}

func (img *snapshotTerms) readBlock(block *dictBlock) ([]snapshotTerm, error) {
	b := make([]byte, block.termsSize)
	if err := img.readBlockBytes(block, b); err != nil {
		return nil, err
	}
	return readTerms(b, block)
}

// readBlockBytes reads the encoded terms of a block from the snapshot file. It fills b with them. It fails if the
// checksum is wrong.
func (img *snapshotTerms) readBlockBytes(block *dictBlock, b []byte) error {
	at := block.listsOffset + int64(block.listsSize)
	if n, err := img.reader.ReadAt(b, at); n < len(b) {
		if err == io.EOF {
			err = fmt.Errorf("%w: it is cut short", errDamagedSnapshot)
		}
		return err
	}
	if crc32.Checksum(b, castagnoli) != block.checksum {
		return newChecksumError(len(b), at)
	}
	return nil
}

// newChecksumError returns the error for bytes of a snapshot whose checksum is wrong.
func newChecksumError(byteCount int, offset int64) error {
	return fmt.Errorf("%w: %d bytes at %d do not match their checksum", errDamagedSnapshot, byteCount, offset)
}

// countTerms returns the number of terms in the encoded block b. The block begins with one entry of termEntrySize bytes
// for each term. These entries contain the lengths of the terms' texts, which follow after the last entry. Each block
// except the last has [termsPerBlock] terms. For the last block, countTerms finds the number for which the entries and
// the texts fill the block exactly. If no number fits, the error matches errDamagedSnapshot.
func countTerms(b []byte) (n int, err error) {
	texts := 0 // total length of the texts of the terms that were counted so far
	for n < termsPerBlock && (n+1)*termEntrySize <= len(b) && n*termEntrySize+texts < len(b) {
		texts += int(min(binary.LittleEndian.Uint32(b[n*termEntrySize:]), math.MaxInt32))
		n++
		if n*termEntrySize+texts == len(b) {
			break
		}
	}
	if n == 0 || n*termEntrySize+texts != len(b) {
		return 0, fmt.Errorf("%w: the terms of a block have an unknown form", errDamagedSnapshot)
	}
	return n, nil
}

// readTerms decodes all terms in an encoded block of a snapshot's dictionary.
func readTerms(b []byte, k *dictBlock) ([]snapshotTerm, error) {
	le := binary.LittleEndian
	n, err := countTerms(b)
	if err != nil {
		return nil, err
	}
	rest := string(b[n*termEntrySize:])
	ts := make([]snapshotTerm, n)
	at, end := k.listsOffset, k.listsOffset+int64(k.listsSize)
	for i := range ts {
		e := b[i*termEntrySize:]
		t := &ts[i]
		t.docFrequency = le.Uint32(e[4:])
		t.listOffset = at
		t.listSize = le.Uint32(e[8:])
		t.checksum = le.Uint32(e[12:])
		size := le.Uint32(e)
		t.text, rest = rest[:size], rest[size:]
		at += int64(t.listSize)
		isInOrder := t.text == k.firstTerm
		if i > 0 {
			isInOrder = t.text > ts[i-1].text
		}
		// A term's docFrequency is the number of documents with the term. The term's posting list has at least one byte
		// for each document.
		hasPostings := t.docFrequency > 0 && t.docFrequency <= t.listSize
		switch {
		case at > end, !hasPostings, !isInOrder:
			return nil, fmt.Errorf("%w: a term of a block has an unknown form", errDamagedSnapshot)
		}
	}
	if at != end {
		return nil, fmt.Errorf("%w: the lists of a block have an unknown form", errDamagedSnapshot)
	}
	return ts, nil
}

// encodedBlockPostings contains encoded lists of documents. Each of the 64 terms from a block in the snapshot has a
// list.
type encodedBlockPostings struct {
	termBlockNumber int
	encodedPostings []byte
}

// decodeTermPostings appends the postings of the term with the number termNumber to list. It reads the lists of the
// whole block, because callers usually request the following terms next.
func (img *snapshotTerms) decodeTermPostings(termNumber int, list []posting) []posting {
	t, i := img.termAt(termNumber), termNumber/termsPerBlock
	if t.docFrequency == 0 || img.docs.Err() != nil {
		return list
	}
	k, last := &img.blocks[i], img.lastBlockPostings.Load()
	if last == nil || last.termBlockNumber != i {
		b, err := readBytesAt(img.reader, k.listsOffset, int64(k.listsSize), math.MaxInt64)
		if err != nil {
			img.recordReadError(err)
			return list
		}
		last = &encodedBlockPostings{i, b}
		img.lastBlockPostings.Store(last)
	}
	return img.decodePostingListBytes(t, last.encodedPostings[t.listOffset-k.listsOffset:], list)
}

// decodePostingListBytes decodes the documents that contain a term, and appends them to list. b begins with the
// encoded data. If decoding fails, nothing is appended, and Searcher.Err returns the error.
func (img *snapshotTerms) decodePostingListBytes(t *snapshotTerm, b []byte, list []posting) []posting {
	before := len(list)
	r, err := img.openPostingList(t, b)
	defer r.returnToPool()
	if err == nil {
		list, err = r.appendPostings(slices.Grow(list, int(t.docFrequency)))
	}
	if err != nil {
		img.recordReadError(err)
		return list[:before]
	}
	return list
}

// snapshotTerms reads the terms of an open snapshot file. It reads a term when the term is needed.
type snapshotTerms struct {
	reader       io.ReaderAt
	docs         *pagefile.Reader
	rowsChecksum uint32   // checksum of the documents' rows
	docLengths   []uint32 // length of each document, in sixteenths of a word
	// The impact of a posting is an upper bound for what the posting can add to a score. scoreImpactScale is the
	// version of the scoring formula for which impacts are computed.
	scoreImpactScale bm25Scale
	termCount        int
	blocks           []dictBlock
	textBatches      []textBatch // the texts of all terms
	// posting lists that decodeTermPostings read last, all from one block of terms
	lastBlockPostings atomic.Pointer[encodedBlockPostings]

	cachedBlockTimestamps atomic.Pointer[documentBlockTimes] // nil until they are read
}

// dictBlock is a part of the dictionary: up to [termsPerBlock] terms in ascending order.
type dictBlock struct {
	firstTerm   string // text of the first term in this block
	listsOffset int64  // offset in the snapshot file of the first posting list of a term in this block
	listsSize   uint32 // total size in bytes of the posting lists of all terms in this block
	termsSize   uint32 // size of the encoded terms in bytes
	checksum    uint32
	cachedTerms atomic.Pointer[[]snapshotTerm] // the decoded terms (nil until they are read)
}

// textBatch is a part of the snapshot file with the texts of successive terms.
type textBatch struct {
	offset   int64 // offset in the snapshot file
	size     uint32
	checksum uint32
}

type snapshotTerm struct {
	text           string
	docFrequency   uint32
	listOffset     int64 // offset of the list with the documents that contain the term
	listSize       uint32
	checksum       uint32
	cachedPostings atomic.Pointer[foundTerm] // documents that contain the term (nil until they are read from the file)
	// The documents with the term, without the term's frequencies. Conditions of a query need only these. The pointer
	// is nil until the documents are read.
	cachedDocuments atomic.Pointer[docSet]
}

// foundTerm is a query term that a segment contains, with its postings.
type foundTerm struct {
	postings
	docFrequency          int
	deletedElsewhereCount int
	maxScoreImpact        uint8
}

const (
	footerSize    = 32
	termEntrySize = 16 // size in bytes of an encoded term without the term's text
	// entry size in bytes, in the table that describes all term blocks, without the text of the block's first term
	termBlockRowBytes = 24
	termsPerBlock     = 64
)

// errDamagedSnapshot is the error if a snapshot is damaged.
var errDamagedSnapshot = errors.New("the index snapshot is damaged")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// readBytesAt reads byteCount bytes from r at offset off. It fails if these bytes are not within the first fileSize
// bytes. The result has postingListPaddingBytes bytes of unused capacity.
func readBytesAt(r io.ReaderAt, off, byteCount, fileSize int64) ([]byte, error) {
	return readBytesInto(nil, r, off, byteCount, fileSize)
}

// readBytesInto is like readBytesAt, but uses the memory of b if it is large enough.
func readBytesInto(b []byte, r io.ReaderAt, off, byteCount, fileSize int64) ([]byte, error) {
	switch {
	case byteCount < 0, off < 0, byteCount > fileSize-off:
		return nil, fmt.Errorf("%w: it is cut short", errDamagedSnapshot)
	}
	if int64(cap(b)) < byteCount+postingListPaddingBytes {
		b = make([]byte, byteCount, byteCount+postingListPaddingBytes)
	}
	b = b[:byteCount]
	if got, err := r.ReadAt(b, off); int64(got) < byteCount {
		if err == io.EOF {
			return nil, fmt.Errorf("%w: it is cut short", errDamagedSnapshot)
		}
		return nil, err
	}
	return b, nil
}

// readCheckedBytes reads byteCount bytes that end with a checksum. It verifies the checksum and returns the preceding
// bytes.
func readCheckedBytes(r io.ReaderAt, off, byteCount, fileSize int64) ([]byte, error) {
	b, err := readBytesAt(r, off, byteCount, fileSize)
	if err != nil {
		return nil, err
	}
	if byteCount < 4 || crc32.Checksum(b[:byteCount-4], castagnoli) != binary.LittleEndian.Uint32(b[byteCount-4:]) {
		return nil, newChecksumError(int(byteCount), off)
	}
	return b[:byteCount-4], nil
}
