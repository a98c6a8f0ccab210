// What an opened index reads of its snapshot later on: the terms that are asked
// for, or all of them.

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

// fail notes that the snapshot cannot be read. The index is of no use any more.
func (img *image) fail(err error) { img.docs.Fail(err) }

// find returns the term of that text.
func (img *image) find(text string) (*imageTerm, bool) {
	lo, hi := 0, len(img.blocks) // the last block whose first term is not above text
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

// term returns the term of that number.
func (img *image) term(n int) *imageTerm {
	if ts := img.block(n / blockTerms); n%blockTerms < len(ts) {
		return &ts[n%blockTerms]
	}
	return new(imageTerm) // the block cannot be read
}

// load returns a term with its postings, which are kept.
func (img *image) load(text string) (found, bool) {
	t, ok := img.find(text)
	if !ok {
		return found{}, false
	}
	if f := t.found.Load(); f != nil {
		return *f, true
	}
	f := new(found)
	if err := img.read(t, f); err != nil {
		img.fail(err)
		*f = found{}
	}
	t.found.Store(f)
	return *f, true
}

// read makes the postings of a term those of f. The long ones become columns as
// they are decoded: together they take several times as much memory as the columns.
func (img *image) read(t *imageTerm, f *found) error {
	if err := img.docs.Err(); err != nil {
		return err
	}
	b, err := piece(img.r, t.at, int64(t.size), math.MaxInt64)
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
		list, err := r.postings(make([]posting, 0, t.df))
		for _, p := range list {
			f.most = max(f.most, p.impact)
		}
		f.list = list
		return err
	}
	f.cols = newColumns(f.df, len(img.lens))
	f.most, err = r.columns(f.cols)
	return err
}

// mayBegin returns between which numbers, half-open, the terms with that prefix
// are.
func (img *image) mayBegin(prefix string) (first, last int) {
	at := sort.Search(len(img.blocks), func(i int) bool { return img.blocks[i].first >= prefix })
	from := max(at-1, 0)
	to := from
	for to < len(img.blocks) && (img.blocks[to].first <= prefix || strings.HasPrefix(img.blocks[to].first, prefix)) {
		to++
	}
	return from * blockTerms, min(to*blockTerms, img.terms)
}

// block returns the terms of a block, which are kept.
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
	at := k.lists + int64(k.size)
	b, err := piece(img.r, at, int64(k.rest), math.MaxInt64)
	if err != nil {
		return nil, err
	}
	if crc32.Checksum(b, castagnoli) != k.check {
		return nil, fmt.Errorf("%w: %d bytes at %d do not match their checksum", errSnapshot, len(b), at)
	}
	return readTerms(b, k)
}

// readTerms reads the entries of a block. All but the last block have
// [blockTerms] of them; how many the last one has shows where its texts end.
func readTerms(b []byte, k *block) ([]imageTerm, error) {
	le := binary.LittleEndian
	n, texts := 0, 0 // entries, and the bytes of their texts
	for n < blockTerms && (n+1)*entrySize <= len(b) && n*entrySize+texts < len(b) {
		texts += int(min(le.Uint32(b[n*entrySize:]), math.MaxInt32))
		n++
		if n*entrySize+texts == len(b) {
			break
		}
	}
	if n == 0 || n*entrySize+texts != len(b) {
		return nil, fmt.Errorf("%w: the terms of a block have an unknown form", errSnapshot)
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
		// Each posting has a byte at least.
		if at > end || t.df == 0 || t.df > t.size || (i == 0 && t.text != k.first) || (i > 0 && t.text <= ts[i-1].text) {
			return nil, fmt.Errorf("%w: a term of a block has an unknown form", errSnapshot)
		}
	}
	if at != end {
		return nil, fmt.Errorf("%w: the lists of a block have an unknown form", errSnapshot)
	}
	return ts, nil
}

// lists is the bytes of the lists of a block.
type lists struct {
	block int
	b     []byte
}

// decodeAt appends the postings of the term of that number to list. It reads all
// the lists of its block: those of the next terms are asked for next.
func (img *image) decodeAt(n int, list []posting) []posting {
	t, i := img.term(n), n/blockTerms
	if t.df == 0 || img.docs.Err() != nil {
		return list
	}
	k, last := &img.blocks[i], img.last.Load()
	if last == nil || last.block != i {
		b, err := piece(img.r, k.lists, int64(k.size), math.MaxInt64)
		if err != nil {
			img.fail(err)
			return list
		}
		last = &lists{i, b}
		img.last.Store(last)
	}
	return img.decodeBytes(t, last.b[t.at-k.lists:], list)
}

// decodeBytes appends the postings of a term, with the list of which b begins, to list: all
// of them, or none when they cannot be read.
func (img *image) decodeBytes(t *imageTerm, b []byte, list []posting) []posting {
	before := len(list)
	r, err := img.list(t, b)
	defer r.release()
	if err == nil {
		list, err = r.postings(slices.Grow(list, int(t.df)))
	}
	if err != nil {
		img.fail(err)
		return list[:before]
	}
	return list
}

// image is the terms of a snapshot that was opened.
type image struct {
	r      io.ReaderAt
	docs   *pagefile.Reader
	sum    uint32   // check of the rows of docs
	lens   []uint32 // of the documents
	sc     scale    // of the impacts
	terms  int
	blocks []block
	last   atomic.Pointer[lists] // of the block that was read last as a whole

	blocksOfTimes atomic.Pointer[[]timeBlock] // once they were read
}

// block is a part of the dictionary.
type block struct {
	first string // its first term
	lists int64  // offset of its lists in the snapshot
	size  uint32 // bytes of its lists
	rest  uint32 // bytes of its terms
	check uint32
	terms atomic.Pointer[[]imageTerm] // once they were read
}

// imageTerm is a term of a snapshot.
type imageTerm struct {
	text  string
	df    uint32
	at    int64 // offset of its list
	size  uint32
	check uint32
	found atomic.Pointer[found] // once its list was read
}

// found is a term as a query needs it.
type found struct {
	postings
	df   int
	lost int
	most uint8
}

const (
	footSize   = 32
	entrySize  = 16 // bytes of a term, without its text
	blockSize  = 24 // bytes of a block in the table, without its first term
	blockTerms = 64
)

// errSnapshot is matched by the errors that say that a snapshot is damaged.
var errSnapshot = errors.New("the index snapshot is damaged")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// piece returns n bytes of r, which has size of them, from that offset on, with room for
// listMargin more.
func piece(r io.ReaderAt, off, n, size int64) ([]byte, error) {
	if n < 0 || off < 0 || n > size-off {
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

// checked returns the bytes of a piece that ends with its check, without it.
func checked(r io.ReaderAt, off, n, size int64) ([]byte, error) {
	b, err := piece(r, off, n, size)
	if err != nil {
		return nil, err
	}
	if n < 4 || crc32.Checksum(b[:n-4], castagnoli) != binary.LittleEndian.Uint32(b[n-4:]) {
		return nil, fmt.Errorf("%w: %d bytes at %d do not match their checksum", errSnapshot, n, off)
	}
	return b[:n-4], nil
}
