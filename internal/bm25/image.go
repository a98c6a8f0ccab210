// This file holds an index as bytes: how it is written, and what of an image is
// read when it is opened. load.go reads the rest as it is asked for.
//
// All numbers are little-endian; a check is the CRC-32C of what stands before
// it in the same piece, or of the bytes it is said to be of.
//
//	head, 64 bytes:
//	     0    4 documents, N
//	     4    4 terms
//	     8    8 sum of dl over the documents
//	    16    8 k1, float64
//	    24    8 b, float64
//	    32    4 1 when documents without terms count, else 0
//	    36    4 blocks
//	    40    8 offset of the table, from the first byte of the image
//	    48    8 length of the image
//	    56    4 0
//	    60    4 check
//	documents, 32·N + 4 bytes: N ids (8 bytes each), N newer (8), N times (8), N
//	    dl (4), the numbers of the documents in the order of their ids (4), check
//	blocks, each of up to 64 terms, rising by text:
//	    the lists of its terms, one after another
//	    for each term: length of the text (4), df (4), length of its list (4),
//	        check of its list (4); then the texts
//	table: for each block: offset (8), bytes of lists (4), bytes behind them (4),
//	    check of those (4), length of the first term (4); then the first
//	    terms, and a check
//
// A list is a varint for each posting: twice the distance to the number before,
// less one (the first is counted from -1), plus 1 when the TF is not [One];
// then the TF follows as another.
//
// The dead are not written, and the living are numbered anew in their order.
// A piece is believed when its check holds, and looked at all the same: no
// number in it may lead outside. So a query reads the documents, the table, a
// block's terms and a list for each of its own terms, however many there are.

package bm25

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
)

const (
	imageHead  = 64
	imageDoc   = 32 // bytes of a document
	imageEntry = 16 // bytes of a term, without its text
	imageBlock = 24 // bytes of a block in the table, without its first term
	blockTerms = 64
)

// ErrImage is matched by the errors that say that an image is damaged.
var ErrImage = errors.New("the index image is damaged")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// AppendImage appends the image of the index to b. The error is that of the
// image that the index itself was opened from.
func (x *Index) AppendImage(b []byte) ([]byte, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.readAll()
	if x.err != nil {
		return b, x.err
	}
	le := binary.LittleEndian
	start := len(b)
	b = append(b, make([]byte, imageHead)...)

	number := make([]uint32, len(x.docs)) // old to new
	living := make([]uint32, 0, x.living)
	for i, dl := range x.lens {
		if number[i] = dead; dl != dead {
			number[i] = uint32(len(living))
			living = append(living, uint32(i))
		}
	}
	docs := len(b)
	for _, n := range living {
		b = le.AppendUint64(b, x.docs[n].id)
	}
	for _, n := range living {
		b = le.AppendUint64(b, uint64(x.docs[n].newer))
	}
	for _, n := range living {
		b = le.AppendUint64(b, uint64(x.times[n]))
	}
	for _, n := range living {
		b = le.AppendUint32(b, x.lens[n])
	}
	slices.SortFunc(living, func(m, n uint32) int { return cmp.Compare(x.docs[m].id, x.docs[n].id) })
	for _, n := range living {
		b = le.AppendUint32(b, number[n])
	}
	b = le.AppendUint32(b, crc32.Checksum(b[docs:], castagnoli))

	terms := make([]*term, 0, len(x.terms))
	for i := range x.terms {
		if x.terms[i].df > 0 {
			terms = append(terms, &x.terms[i])
		}
	}
	slices.SortFunc(terms, func(s, t *term) int { return strings.Compare(x.text(s), x.text(t)) })
	var table, firsts []byte
	blocks := 0
	var room []posting
	for block := range slices.Chunk(terms, blockTerms) {
		lists := len(b)
		var entries []byte
		for _, t := range block {
			from := len(b)
			b = appendList(b, x.postings(t, &room), number)
			entries = le.AppendUint32(entries, uint32(len(x.text(t))))
			entries = le.AppendUint32(entries, t.df)
			entries = le.AppendUint32(entries, uint32(len(b)-from))
			entries = le.AppendUint32(entries, crc32.Checksum(b[from:], castagnoli))
		}
		for _, t := range block {
			entries = append(entries, x.text(t)...)
		}
		if uint64(len(b)-lists) > math.MaxUint32 || uint64(len(entries)) > math.MaxUint32 {
			return b[:start], fmt.Errorf("writing the index image: a block of %d bytes is too large", len(b)-lists)
		}
		table = le.AppendUint64(table, uint64(lists-start))
		table = le.AppendUint32(table, uint32(len(b)-lists))
		table = le.AppendUint32(table, uint32(len(entries)))
		table = le.AppendUint32(table, crc32.Checksum(entries, castagnoli))
		table = le.AppendUint32(table, uint32(len(x.text(block[0]))))
		firsts = append(firsts, x.text(block[0])...)
		b = append(b, entries...)
		blocks++
	}
	at := len(b) - start
	table = append(table, firsts...)
	b = le.AppendUint32(append(b, table...), crc32.Checksum(table, castagnoli))

	h := b[start : start+imageHead]
	le.PutUint32(h[0:], uint32(len(living)))
	le.PutUint32(h[4:], uint32(len(terms)))
	le.PutUint64(h[8:], x.total)
	le.PutUint64(h[16:], math.Float64bits(x.k1))
	le.PutUint64(h[24:], math.Float64bits(x.b))
	if x.countEmpty {
		le.PutUint32(h[32:], 1)
	}
	le.PutUint32(h[36:], uint32(blocks))
	le.PutUint64(h[40:], uint64(at))
	le.PutUint64(h[48:], uint64(len(b)-start))
	le.PutUint32(h[60:], crc32.Checksum(h[:60], castagnoli))
	return b, nil
}

func appendList(b []byte, list []posting, number []uint32) []byte {
	next := uint32(0)
	for _, p := range list {
		n := number[p.doc]
		if n == dead {
			continue
		}
		if v := uint64(n-next) << 1; p.tf == One {
			b = binary.AppendUvarint(b, v)
		} else {
			b = binary.AppendUvarint(binary.AppendUvarint(b, v|1), uint64(p.tf))
		}
		next = n + 1
	}
	return b
}

// Image is an image that was opened: what is known of it without its terms.
type Image struct {
	r      io.ReaderAt
	blocks []block // as opened; never written to

	mu    sync.Mutex
	terms map[int][]imageTerm // those read of each block, rising; guarded by mu
}

// block is a stretch of the dictionary.
type block struct {
	first  string // its first term
	lists  int64  // offset of its lists in the image
	size   uint32 // bytes of its lists
	behind uint32 // bytes of its terms
	check  uint32
}

// imageTerm is a term of an image.
type imageTerm struct {
	text  string
	df    uint32
	at    int64 // offset of its list
	size  uint32
	check uint32
}

// OpenImage opens the index in the size bytes of r, which is read later on and
// must not change as long as the index is used. Of the parameters only
// CountEmpty, K1 and B are those of the image, and it is refused when they
// are others. Errors match [ErrImage] or are those of r.
func OpenImage(r io.ReaderAt, size int64, p Params) (*Index, error) {
	x := New(p)
	le := binary.LittleEndian
	h, err := piece(r, 0, imageHead, size)
	if err != nil {
		return nil, err
	}
	n, terms := int64(le.Uint32(h)), int64(le.Uint32(h[4:]))
	blocks, at := int64(le.Uint32(h[36:])), int64(le.Uint64(h[40:]))
	switch {
	case crc32.Checksum(h[:60], castagnoli) != le.Uint32(h[60:]):
		return nil, fmt.Errorf("%w: its head does not match its checksum", ErrImage)
	case int64(le.Uint64(h[48:])) != size, at < imageHead || at > size, le.Uint32(h[56:]) != 0,
		blocks != (terms+blockTerms-1)/blockTerms, n == math.MaxUint32:
		return nil, fmt.Errorf("%w: its head has an unknown form", ErrImage)
	case math.Float64frombits(le.Uint64(h[16:])) != x.k1, math.Float64frombits(le.Uint64(h[24:])) != x.b,
		le.Uint32(h[32:]) == 1 != x.countEmpty:
		return nil, fmt.Errorf("%w: it is of other parameters", ErrImage)
	}
	docs, err := checked(r, imageHead, n*imageDoc+4, size)
	if err != nil {
		return nil, err
	}
	if err := x.readDocs(docs, int(n)); err != nil {
		return nil, err
	}
	if x.total != le.Uint64(h[8:]) {
		return nil, fmt.Errorf("%w: its lengths do not add up", ErrImage)
	}
	table, err := checked(r, at, size-at, size)
	if err != nil {
		return nil, err
	}
	img := &Image{r: r, terms: map[int][]imageTerm{}}
	if img.blocks, err = readTable(table, blocks, at); err != nil {
		return nil, err
	}
	x.image, x.opened = img, true
	x.settle()
	return x, nil
}

// piece returns n bytes of r, which has size of them, from that offset on.
func piece(r io.ReaderAt, off, n, size int64) ([]byte, error) {
	if n < 0 || off < 0 || n > size-off {
		return nil, fmt.Errorf("%w: it is cut short", ErrImage)
	}
	b := make([]byte, n)
	if got, err := r.ReadAt(b, off); int64(got) < n {
		if err == io.EOF {
			return nil, fmt.Errorf("%w: it is cut short", ErrImage)
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
		return nil, fmt.Errorf("%w: %d bytes at %d do not match their checksum", ErrImage, n, off)
	}
	return b[:n-4], nil
}

// readDocs takes in the documents of an image.
func (x *Index) readDocs(b []byte, n int) error {
	le := binary.LittleEndian
	x.docs, x.lens, x.loaded = make([]doc, n), make([]uint32, n), make([]uint32, n)
	newer, times, lens, order := b[8*n:], b[16*n:], b[24*n:], b[28*n:]
	for i := range n {
		x.docs[i].id, x.docs[i].newer = le.Uint64(b[8*i:]), int64(le.Uint64(newer[8*i:]))
		x.date(int64(le.Uint64(times[8*i:])))
		dl := le.Uint32(lens[4*i:])
		if dl == dead {
			return fmt.Errorf("%w: a document is dead", ErrImage)
		}
		x.lens[i] = dl
		x.total += uint64(dl)
	}
	for i := range n {
		k := le.Uint32(order[4*i:])
		// Ids that rise prove that no number comes twice.
		if int64(k) >= int64(n) || i > 0 && x.docs[k].id <= x.docs[x.loaded[i-1]].id {
			return fmt.Errorf("%w: its documents are not in order", ErrImage)
		}
		x.loaded[i] = k
	}
	x.living, x.unnoted = n, n
	return nil
}

func readTable(b []byte, blocks, end int64) ([]block, error) {
	le := binary.LittleEndian
	if int64(len(b)) < blocks*imageBlock {
		return nil, fmt.Errorf("%w: its table is cut short", ErrImage)
	}
	firsts := string(b[blocks*imageBlock:])
	bs := make([]block, blocks)
	for i := range bs {
		e := b[i*imageBlock:]
		k := &bs[i]
		k.lists, k.size, k.behind, k.check = int64(le.Uint64(e)), le.Uint32(e[8:]), le.Uint32(e[12:]), le.Uint32(e[16:])
		n := int64(le.Uint32(e[20:]))
		if k.lists < imageHead || k.lists > end || int64(k.size)+int64(k.behind) > end-k.lists || n > int64(len(firsts)) {
			return nil, fmt.Errorf("%w: a block of its table leads outside", ErrImage)
		}
		k.first, firsts = firsts[:n], firsts[n:]
		if i > 0 && k.first <= bs[i-1].first {
			return nil, fmt.Errorf("%w: its table does not rise", ErrImage)
		}
	}
	if firsts != "" {
		return nil, fmt.Errorf("%w: its table has an unknown form", ErrImage)
	}
	return bs, nil
}
