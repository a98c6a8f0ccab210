// This file writes and opens snapshots, which store an index in a file.
//
// All numbers are little-endian. A checksum is the CRC-32C of the preceding bytes in the
// same piece, or of the bytes that the description names.
//
//	documents: a file of package pagefile, that is, pages of 4,096 bytes, each with
//	a checksum. Page 0, with offset and size of each field:
//	0    4 number of documents, N
//	4    4 number of long documents, L
//	8    8 sum of dl over the documents that have terms
//	16    8 k1, float64
//	24    8 b, float64
//	32    4 1 if documents without terms count, otherwise 0
//	36    4 checksum of the rows of table 1, concatenated
//	40      zeros
//	tables:
//	1 documents  24 bytes, ascending by ID: ID, updated, created
//	2 lengths    2 bytes: dl; 2¹⁶−1 for a document that does not count,
//	2¹⁶−2 for a long document
//	3 long       8 bytes, ascending: number of a document (4), its dl (4), which
//	is 2¹⁶−2 or more, and at most 2³²−2
//	4 times      16 bytes for 64 documents: the earliest created, the latest
//	blocks, each of 64 terms except the last, ascending by text:
//	the lists of its terms, concatenated
//	for each term: length of the text (4), df (4), length of its list (4),
//	checksum of its list (4); then the texts
//	table: for each block: offset (8), size of lists (4), size of terms (4),
//	checksum of the terms (4), length of the first term (4); then the first
//	terms, and a checksum
//	foot, 32 bytes:
//	0    4 number of terms
//	4    4 number of blocks
//	8    8 offset of the table, from the first byte of the snapshot
//	16    8 length of the snapshot
//	24    4 checksum of page 0
//	28    4 checksum
//
// A list has a varint for each posting. The varint is twice the distance to the previous
// document number minus one (the first distance is counted from -1), plus 1 if the TF is
// not [One]. In that case the TF follows as a second varint. For example, a term that
// occurs once in documents 0 and 2, and with TF 2 in document 3, has the list 00 02 01 02.
//
// Deleted documents are not written. Readers verify the checksum of each piece and the range of
// each value in the piece, so that a number cannot lead outside of the snapshot. Opening a snapshot
// reads page 0, the lengths, the table and the foot. A query reads a block's terms, a list for each
// query term, and a page of documents for each hit. Lengths are stored apart from the other fields
// because a query needs a length for each posting.

package index

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/base/pagefile"
)

// FileSuffix is the suffix of snapshot file names.
const FileSuffix = ".idx"

// WriteSnapshot writes the snapshot of the index to w, starting at offset, and returns its
// size. In memory it needs a block of terms for each segment, and a few bytes for each
// document. Errors are from w, or from reading the snapshot that the index was opened
// from. The written data must then be discarded.
func (x *Searcher) WriteSnapshot(w io.WriterAt, offset int64) (size int64, err error) {
	s := snapshotWriter{x: x, out: bufio.NewWriterSize(io.NewOffsetWriter(w, offset), writeBytes)}
	s.writeDocuments()
	if err := s.allTerms(); err != nil {
		return 0, err
	}
	f := foot{terms: int64(s.terms), blocks: int64(len(s.table) / blockSize), table: s.size, docs: s.docs}
	s.write(s.table)
	s.write(s.firsts)
	s.write(binary.LittleEndian.AppendUint32(
		nil,
		crc32.Update(crc32.Checksum(s.table, castagnoli), castagnoli, s.firsts),
	))
	f.size = s.size + footSize
	s.write(f.append(nil))
	return s.size, cmp.Or(s.out.Flush(), x.Err())
}

// writeBytes is the number of bytes that are written at once.
const writeBytes = 1 << 18

// snapshotWriter writes the snapshot of a searcher. Errors of out are sticky until it is
// flushed.
type snapshotWriter struct {
	x       *Searcher
	out     *bufio.Writer
	size    int64  // number of bytes written
	docs    uint32 // checksum of page 0
	terms   int
	numbers [][]uint32 // new document numbers, by view and old number (dropped for deleted documents)

	block         termBlock
	table, firsts []byte
	list          []byte // scratch
}

// termBlock is a block that is being written.
type termBlock struct {
	at             int64 // offset of its lists
	first          string
	terms          int
	entries, texts []byte
}

func (w *snapshotWriter) write(b []byte) { _, _ = w.Write(b) }

func (w *snapshotWriter) Write(b []byte) (int, error) {
	w.size += int64(len(b))
	return w.out.Write(b)
}

// docRef identifies a document in a searcher by the index of the view and by the document's number
// in this view.
type docRef struct{ view, number uint32 }

// writeDocuments writes the documents in ascending order of IDs, and sets the new number of each
// document in numbers.
func (w *snapshotWriter) writeDocuments() {
	views := w.x.views
	docs := make([]docRef, 0, w.x.Size())
	w.numbers = make([][]uint32, len(views))
	ids := make([][]uint64, len(views))
	updated := make([][]int64, len(views))
	created := make([][]int64, len(views))
	for i := range views {
		v := &views[i]
		ids[i] = v.ids.all()
		updated[i] = v.updated.all()
		created[i] = v.created.all()
		w.numbers[i] = make([]uint32, len(v.lens))
		for n := range v.lens {
			w.numbers[i][n] = dropped
			if !v.isDeleted(uint32(n)) {
				docs = append(docs, docRef{uint32(i), uint32(n)})
			}
		}
	}
	byID := func(a, b docRef) int { return cmp.Compare(ids[a.view][a.number], ids[b.view][b.number]) }
	if !slices.IsSortedFunc(docs, byID) {
		slices.SortFunc(docs, byID)
	}
	for n, d := range docs {
		w.numbers[d.view][d.number] = uint32(n)
	}
	w.docs = writeDocs(
		w,
		docsHead{n: len(docs), total: w.x.total, params: w.x.params},
		func(i int) (uint64, int64, int64, uint32) {
			d := docs[i]
			return ids[d.view][d.number], updated[d.view][d.number], created[d.view][d.number],
				views[d.view].lens[d.number]
		},
	)
}

// allTerms writes all views' terms, sorted by text. It stops if reading fails.
func (w *snapshotWriter) allTerms() error {
	w.block.at = w.size
	var list, room []posting
	cursors := openCursors(w.x.views, w.numbers)
	for n := 0; len(cursors) > 0; n++ {
		if n%blockTerms == 0 && w.x.Err() != nil {
			return w.x.Err()
		}
		text, same := cursors[0].text, 1
		for same < len(cursors) && cursors[same].text == text {
			same++
		}
		list = list[:0]
		for _, c := range cursors[:same] {
			list = c.appendPostings(list)
		}
		list, room = sortRuns(list, room)
		if len(list) > 0 { // if the list is empty, all documents with the term were deleted
			if err := w.term(text, list); err != nil {
				return err
			}
		}
		cursors = advance(cursors, same)
	}
	return w.endBlock()
}

// term writes the list of a term. Texts must ascend.
func (w *snapshotWriter) term(text string, list []posting) error {
	le, k := binary.LittleEndian, &w.block
	w.appendList(list)
	if uint64(len(w.list)) > math.MaxUint32 {
		return fmt.Errorf("writing the index snapshot: a list of %d bytes is too large", len(w.list))
	}
	w.write(w.list)
	if k.terms == 0 {
		k.first = text
	}
	k.entries = le.AppendUint32(k.entries, uint32(len(text)))
	k.entries = le.AppendUint32(k.entries, uint32(len(list)))
	k.entries = le.AppendUint32(k.entries, uint32(len(w.list)))
	k.entries = le.AppendUint32(k.entries, crc32.Checksum(w.list, castagnoli))
	k.texts = append(k.texts, text...)
	w.terms++
	k.terms++
	if k.terms == blockTerms {
		return w.endBlock()
	}
	return nil
}

// endBlock writes the terms of the current block after the block's lists, unless
// the block is empty.
func (w *snapshotWriter) endBlock() error {
	le, k := binary.LittleEndian, &w.block
	if k.terms == 0 {
		return nil
	}
	size := w.size - k.at
	k.entries = append(k.entries, k.texts...)
	if size > math.MaxUint32 || uint64(len(k.entries)) > math.MaxUint32 {
		return fmt.Errorf("writing the index snapshot: a block of %d bytes is too large", size)
	}
	w.table = le.AppendUint64(w.table, uint64(k.at))
	w.table = le.AppendUint32(w.table, uint32(size))
	w.table = le.AppendUint32(w.table, uint32(len(k.entries)))
	w.table = le.AppendUint32(w.table, crc32.Checksum(k.entries, castagnoli))
	w.table = le.AppendUint32(w.table, uint32(len(k.first)))
	w.firsts = append(w.firsts, k.first...)
	w.write(k.entries)
	*k = termBlock{at: w.size, entries: k.entries[:0], texts: k.texts[:0]}
	return nil
}

// appendList encodes the postings to w.list.
func (w *snapshotWriter) appendList(list []posting) {
	b, next := w.list[:0], uint32(0)
	for _, p := range list {
		if v := uint64(p.doc-next) << 1; p.tf == One {
			b = binary.AppendUvarint(b, v)
		} else {
			b = binary.AppendUvarint(binary.AppendUvarint(b, v|1), uint64(p.tf))
		}
		next = p.doc + 1
	}
	w.list = b
}

// foot is the foot of a snapshot.
type foot struct {
	terms, blocks int64
	table, size   int64
	docs          uint32
}

func (f *foot) append(b []byte) []byte {
	le, from := binary.LittleEndian, len(b)
	b = le.AppendUint32(le.AppendUint32(b, uint32(f.terms)), uint32(f.blocks))
	b = le.AppendUint64(le.AppendUint64(b, uint64(f.table)), uint64(f.size))
	b = le.AppendUint32(b, f.docs)
	return le.AppendUint32(b, crc32.Checksum(b[from:], castagnoli))
}

// readFoot reads the foot of a snapshot with this size. from is the end of the documents
// part and docs is its checksum.
func readFoot(r io.ReaderAt, size, from int64, docs uint32) (foot, error) {
	b, err := readChecked(r, size-footSize, footSize, size)
	if err != nil {
		return foot{}, err
	}
	le := binary.LittleEndian
	f := foot{int64(le.Uint32(b)), int64(le.Uint32(b[4:])), int64(le.Uint64(b[8:])), int64(le.Uint64(b[16:])),
		le.Uint32(b[24:])}
	isOfFile := f.size == size && f.docs == docs
	if !isOfFile || !f.hasTable(from, size-footSize) {
		return f, fmt.Errorf("%w: its foot has an unknown form", errSnapshot)
	}
	return f, nil
}

// hasTable reports whether the table begins between these offsets and has the blocks that its terms
// need.
func (f *foot) hasTable(from, to int64) bool {
	return f.table >= from && f.table <= to && f.blocks == (f.terms+blockTerms-1)/blockTerms
}

// OpenSnapshot opens the index in the first size bytes of r. Later reads also use these
// bytes, so they must not change as long as the index is used. The snapshot must have been
// written with the same parameters. Errors match errSnapshot, or come from package pagefile
// or from r.
func OpenSnapshot(r io.ReaderAt, size int64, p Params) (*Index, error) {
	x := New(p)
	var h docsHead
	docs, err := pagefile.Open(r, func(page []byte) (_ []pagefile.Table, err error) {
		h, err = readDocsHead(page, size, x.params)
		return h.tableSizes(), err
	})
	if err != nil {
		return nil, err
	}
	from := int64(pagefile.CountPages(h.tableSizes())) * pagefile.Size
	f, err := readFoot(r, size, from, h.check)
	if err != nil {
		return nil, err
	}
	s, err := h.segment(docs)
	if err != nil {
		return nil, err
	}
	table, err := readChecked(r, f.table, size-footSize-f.table, size)
	if err != nil {
		return nil, err
	}
	to := &Searcher{params: x.params, seed: x.seed, live: s.counted, total: s.total}
	img := &image{r: r, docs: docs, sum: h.sum, lens: s.lens, sc: to.scale(), terms: int(f.terms)}
	img.blocks, err = readTable(table, f.blocks, from, f.table)
	if err != nil {
		return nil, err
	}
	s.image, s.slope = img, img.sc.slope
	to.views = []view{{segment: s}}
	x.current.Store(to)
	return x, nil
}

// readTable reads the table of blocks. The blocks must be between the offsets from and end.
func readTable(b []byte, blocks, from, end int64) ([]block, error) {
	le := binary.LittleEndian
	if int64(len(b)) < blocks*blockSize {
		return nil, fmt.Errorf("%w: its table is cut short", errSnapshot)
	}
	firsts := string(b[blocks*blockSize:])
	bs := make([]block, blocks)
	for i := range bs {
		e := b[i*blockSize:]
		k := &bs[i]
		k.lists = int64(le.Uint64(e))
		k.size = le.Uint32(e[8:])
		k.rest = le.Uint32(e[12:])
		k.check = le.Uint32(e[16:])
		n := int64(le.Uint32(e[20:]))
		switch {
		case k.lists < from, k.lists > end, int64(k.size)+int64(k.rest) > end-k.lists, n > int64(len(firsts)):
			return nil, fmt.Errorf("%w: a block of its table leads outside", errSnapshot)
		}
		k.first, firsts = firsts[:n], firsts[n:]
		if i > 0 && k.first <= bs[i-1].first {
			return nil, fmt.Errorf("%w: its table does not rise", errSnapshot)
		}
	}
	if firsts != "" {
		return nil, fmt.Errorf("%w: its table has an unknown form", errSnapshot)
	}
	return bs, nil
}
