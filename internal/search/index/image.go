// This file reads terms of an open snapshot, when a query needs them or all at once.

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

// fail records an error of reading the snapshot. The index must not be used afterwards.
func (img *image) fail(err error) { img.docs.Fail(err) }

// find returns the term with this text.
func (img *image) find(text string) (*imageTerm, bool) {
	lo, hi := 0, len(img.blocks) // the last block whose first term is not greater than text
	for lo < hi {
		if half := (lo + hi) / 2; img.blocks[half].first <= text {
			lo = half + 1
		} else {
			hi = half
		}
	}
	if lo == 0 {
		return nil, false
	}
	ts := img.block(lo - 1)
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

// term returns the term with this number.
func (img *image) term(n int) *imageTerm {
	if ts := img.block(n / blockTerms); n%blockTerms < len(ts) {
		return &ts[n%blockTerms]
	}
	return new(imageTerm) // the block cannot be read
}

// load returns a term with its postings, from a cache after the first call.
func (img *image) load(text string) (foundTerm, bool) {
	t, ok := img.find(text)
	if !ok {
		return foundTerm{}, false
	}
	if f := t.found.Load(); f != nil {
		return *f, true
	}
	f := new(foundTerm)
	if err := img.readTerm(t, f); err != nil {
		img.fail(err)
		*f = foundTerm{}
	}
	t.found.Store(f)
	return *f, true
}

// readTerm reads the postings of a term into f. A long list is converted to columns while it is
// decoded, because the whole list would need several times the memory.
func (img *image) readTerm(t *imageTerm, f *foundTerm) error {
	if err := img.docs.Err(); err != nil {
		return err
	}
	b, err := readPiece(img.r, t.at, int64(t.size), math.MaxInt64)
	if err != nil {
		return err
	}
	r, err := img.list(t, b)
	defer r.release()
	if err != nil {
		return err
	}
	f.df = int(t.df)
	if t.df < columnsLeast {
		list, err := r.appendPostings(make([]posting, 0, t.df))
		for _, p := range list {
			f.most = max(f.most, p.impact)
		}
		f.list = list
		return err
	}
	f.cols = newColumns(f.df, len(img.lens))
	f.most, err = r.fillColumns(f.cols)
	return err
}

// eachTerm calls fn with the text and df of each term with this prefix, in order, until fn returns
// false. Unlike term, eachTerm caches nothing, because it usually reads many terms, of which few
// are needed again.
func (img *image) eachTerm(prefix string, fn func(text string, df int) bool) {
	first, last := img.prefixRange(prefix)
	var b []byte
	for i := first / blockTerms; i*blockTerms < last && img.docs.Err() == nil; i++ {
		k := &img.blocks[i]
		if ts := k.terms.Load(); ts != nil {
			for j := range *ts {
				if t := &(*ts)[j]; strings.HasPrefix(t.text, prefix) && !fn(t.text, int(t.df)) {
					return
				}
			}
			continue
		}
		b = slices.Grow(b[:0], int(k.rest))[:k.rest]
		if err := img.readBlockBytes(k, b); err != nil {
			img.fail(err)
			return
		}
		n, err := countTerms(b)
		if err != nil {
			img.fail(err)
			return
		}
		texts := string(b[n*entrySize:])
		for j := range n {
			size := binary.LittleEndian.Uint32(b[j*entrySize:])
			text := texts[:size]
			texts = texts[size:]
			df := binary.LittleEndian.Uint32(b[j*entrySize+4:])
			if strings.HasPrefix(text, prefix) && !fn(text, int(df)) {
				return
			}
		}
	}
}

// prefixRange returns the numbers of the terms that may have this prefix. last is
// exclusive.
func (img *image) prefixRange(prefix string) (first, last int) {
	at := sort.Search(len(img.blocks), func(i int) bool { return img.blocks[i].first >= prefix })
	from := max(at-1, 0)
	to := from
	for to < len(img.blocks) && (img.blocks[to].first <= prefix || strings.HasPrefix(img.blocks[to].first, prefix)) {
		to++
	}
	return from * blockTerms, min(to*blockTerms, img.terms)
}

// block returns the terms of a block, and caches them.
func (img *image) block(i int) []imageTerm {
	k := &img.blocks[i]
	if ts := k.terms.Load(); ts != nil {
		return *ts
	}
	ts, err := img.readBlock(k)
	if err != nil {
		img.fail(err)
		return nil
	}
	k.terms.CompareAndSwap(nil, &ts)
	return *k.terms.Load()
}

func (img *image) readBlock(k *block) ([]imageTerm, error) {
	b := make([]byte, k.rest)
	if err := img.readBlockBytes(k, b); err != nil {
		return nil, err
	}
	return readTerms(b, k)
}

// readBlockBytes fills b with the encoded terms of a block, and verifies their checksum.
func (img *image) readBlockBytes(k *block, b []byte) error {
	at := k.lists + int64(k.size)
	if n, err := img.r.ReadAt(b, at); n < len(b) {
		if err == io.EOF {
			err = fmt.Errorf("%w: it is cut short", errSnapshot)
		}
		return err
	}
	if crc32.Checksum(b, castagnoli) != k.check {
		return fmt.Errorf("%w: %d bytes at %d do not match their checksum", errSnapshot, len(b), at)
	}
	return nil
}

// countTerms returns the number of terms in an encoded block. All blocks except the last have
// [blockTerms] terms. In the last block, the terms end where the sum of their text lengths
// reaches the block's end.
func countTerms(b []byte) (n int, err error) {
	texts := 0 // total size of their texts
	for n < blockTerms && (n+1)*entrySize <= len(b) && n*entrySize+texts < len(b) {
		texts += int(min(binary.LittleEndian.Uint32(b[n*entrySize:]), math.MaxInt32))
		n++
		if n*entrySize+texts == len(b) {
			break
		}
	}
	if n == 0 || n*entrySize+texts != len(b) {
		return 0, fmt.Errorf("%w: the terms of a block have an unknown form", errSnapshot)
	}
	return n, nil
}

// readTerms decodes a block's terms.
func readTerms(b []byte, k *block) ([]imageTerm, error) {
	le := binary.LittleEndian
	n, err := countTerms(b)
	if err != nil {
		return nil, err
	}
	rest := string(b[n*entrySize:])
	ts := make([]imageTerm, n)
	at, end := k.lists, k.lists+int64(k.size)
	for i := range ts {
		e := b[i*entrySize:]
		t := &ts[i]
		t.df = le.Uint32(e[4:])
		t.at = at
		t.size = le.Uint32(e[8:])
		t.check = le.Uint32(e[12:])
		size := le.Uint32(e)
		t.text, rest = rest[:size], rest[size:]
		at += int64(t.size)
		isInOrder := t.text == k.first
		if i > 0 {
			isInOrder = t.text > ts[i-1].text
		}
		// each posting has at least one byte
		hasPostings := t.df > 0 && t.df <= t.size
		switch {
		case at > end, !hasPostings, !isInOrder:
			return nil, fmt.Errorf("%w: a term of a block has an unknown form", errSnapshot)
		}
	}
	if at != end {
		return nil, fmt.Errorf("%w: the lists of a block have an unknown form", errSnapshot)
	}
	return ts, nil
}

// lists contains the posting lists of a block, encoded.
type lists struct {
	block int
	b     []byte
}

// decodeAt appends the postings of the term with this number to list. It reads all lists of
// the term's block, because the next terms are usually requested next.
func (img *image) decodeAt(n int, list []posting) []posting {
	t, i := img.term(n), n/blockTerms
	if t.df == 0 || img.docs.Err() != nil {
		return list
	}
	k, last := &img.blocks[i], img.last.Load()
	if last == nil || last.block != i {
		b, err := readPiece(img.r, k.lists, int64(k.size), math.MaxInt64)
		if err != nil {
			img.fail(err)
			return list
		}
		last = &lists{i, b}
		img.last.Store(last)
	}
	return img.decodeBytes(t, last.b[t.at-k.lists:], list)
}

// decodeBytes appends the postings of a term to list. The term's encoded list is at the
// start of b. If the list cannot be read, nothing is appended.
func (img *image) decodeBytes(t *imageTerm, b []byte, list []posting) []posting {
	before := len(list)
	r, err := img.list(t, b)
	defer r.release()
	if err == nil {
		list, err = r.appendPostings(slices.Grow(list, int(t.df)))
	}
	if err != nil {
		img.fail(err)
		return list[:before]
	}
	return list
}

// image gives access to the terms in an open snapshot, which it reads when they are needed.
type image struct {
	r      io.ReaderAt
	docs   *pagefile.Reader
	sum    uint32   // checksum of the rows in docs
	lens   []uint32 // lengths of the documents
	sc     scale    // scale of the impacts
	terms  int
	blocks []block
	last   atomic.Pointer[lists] // lists of the block that was read last

	blocksOfTimes atomic.Pointer[[]timeBlock] // nil until they are read
	latestUpdates atomic.Pointer[[]int64]     // nil until they are read (see segment.latest)
}

// block is a part of the dictionary.
type block struct {
	first string // its first term
	lists int64  // offset of its posting lists in the snapshot
	size  uint32 // size of its posting lists in bytes
	rest  uint32 // size of its terms in bytes
	check uint32
	terms atomic.Pointer[[]imageTerm] // nil until they are read
}

// imageTerm is a term of a snapshot.
type imageTerm struct {
	text  string
	df    uint32
	at    int64 // offset of its posting list
	size  uint32
	check uint32
	found atomic.Pointer[foundTerm] // nil until its posting list is read
}

// foundTerm is a term with its postings in a segment.
type foundTerm struct {
	postings
	df   int
	lost int
	most uint8
}

const (
	footSize   = 32
	entrySize  = 16 // size of a term in bytes, without its text
	blockSize  = 24 // size of a block's row in the table, without its first term
	blockTerms = 64
)

// errSnapshot is the error of damaged snapshots.
var errSnapshot = errors.New("the index snapshot is damaged")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// readPiece reads n bytes from r at this offset. size is the size of r. The result has a
// spare capacity of listMargin bytes.
func readPiece(r io.ReaderAt, off, n, size int64) ([]byte, error) {
	switch {
	case n < 0, off < 0, n > size-off:
		return nil, fmt.Errorf("%w: it is cut short", errSnapshot)
	}
	b := make([]byte, n, n+listMargin)
	if got, err := r.ReadAt(b, off); int64(got) < n {
		if err == io.EOF {
			return nil, fmt.Errorf("%w: it is cut short", errSnapshot)
		}
		return nil, err
	}
	return b, nil
}

// readChecked reads a piece that ends with a checksum, verifies it, and returns the piece
// without the checksum.
func readChecked(r io.ReaderAt, off, n, size int64) ([]byte, error) {
	b, err := readPiece(r, off, n, size)
	if err != nil {
		return nil, err
	}
	if n < 4 || crc32.Checksum(b[:n-4], castagnoli) != binary.LittleEndian.Uint32(b[n-4:]) {
		return nil, fmt.Errorf("%w: %d bytes at %d do not match their checksum", errSnapshot, n, off)
	}
	return b[:n-4], nil
}
