// Snapshots: an index as bytes.
//
// All numbers are little-endian; a check is the CRC-32C of what stands before
// it in the same piece, or of the bytes it is said to be of.
//
//	documents: a file of package pagefile, that is, pages of 4,096 bytes with a
//	    check each. Page 0:
//	         0    4 documents, N
//	         4    4 long documents, L
//	         8    8 sum of dl over the documents that have terms
//	        16    8 k1, float64
//	        24    8 b, float64
//	        32    4 1 when documents without terms count, else 0
//	        36    4 check of the rows of table 1, one after another
//	        40      zeros
//	    tables:
//	         1 documents  24 bytes, rising by id: id, updated, created
//	         2 lengths    2 bytes: dl; 2¹⁶−1 for a document that does not count,
//	                      2¹⁶−2 for one that is long
//	         3 long       8 bytes, rising: number of a document (4), its dl (4), which
//	                      is 2¹⁶−2 or more, and at most 2³²−2
//	         4 times      16 bytes for 64 documents: the earliest created, the latest
//	blocks, each of 64 terms but the last, rising by text:
//	    the lists of its terms, one after another
//	    for each term: length of the text (4), df (4), length of its list (4),
//	        check of its list (4); then the texts
//	table: for each block: offset (8), bytes of lists (4), bytes of terms (4),
//	    check of those (4), length of the first term (4); then the first
//	    terms, and a check
//	foot, 32 bytes:
//	     0    4 terms
//	     4    4 blocks
//	     8    8 offset of the table, from the first byte of the snapshot
//	    16    8 length of the snapshot
//	    24    4 check of page 0
//	    28    4 check
//
// A list is a varint for each posting: twice the distance to the number before,
// less one (the first is counted from -1), plus 1 when the TF is not [One];
// then the TF follows as another. An example: a term that stands once in the
// documents 0 and 2, and 2 sixteenths of a time in 3, is 00 02 01 02.
//
// Deleted documents are not written. A piece is believed when its check holds,
// and examined all the same: no number in it may lead outside. Opening reads page
// 0, the lengths, the table and the foot; a query then a block's terms and a list
// for each of its own terms, and a page of documents for what it finds. Lengths
// are apart because each posting of a query needs one.

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

// FileSuffix ends the name of a file, next to what was indexed, that holds a snapshot.
const FileSuffix = ".idx"

// WriteSnapshot writes the snapshot of the index to w, from an offset on, and
// returns how many bytes it has. Of the terms it keeps a block of each segment in
// memory, of the documents some bytes. The error is that of w, or of the snapshot that the
// index itself was opened from; what was written is of no use then.
func (x *Searcher) WriteSnapshot(w io.WriterAt, at int64) (size int64, err error) {
	s := snapshotWriter{x: x, out: bufio.NewWriterSize(io.NewOffsetWriter(w, at), writeBytes)}
	s.documents()
	if err := s.allTerms(); err != nil {
		return 0, err
	}
	f := foot{terms: int64(s.terms), blocks: int64(len(s.table) / blockSize), table: s.size, docs: s.docs}
	s.write(s.table)
	s.write(s.firsts)
	s.write(binary.LittleEndian.AppendUint32(nil, crc32.Update(crc32.Checksum(s.table, castagnoli), castagnoli, s.firsts)))
	f.size = s.size + footSize
	s.write(f.append(nil))
	return s.size, cmp.Or(s.out.Flush(), x.Err())
}

// writeBytes is how many bytes of a snapshot are written at once.
const writeBytes = 1 << 18

// snapshotWriter writes the snapshot of a searcher. An error of out stays there
// until it is flushed.
type snapshotWriter struct {
	x       *Searcher
	out     *bufio.Writer
	size    int64  // bytes written
	docs    uint32 // check of page 0
	terms   int
	numbers [][]uint32 // of the documents in the snapshot, by view and number; dropped for those that are deleted

	block         termBlock
	table, firsts []byte
	list          []byte // scratch
}

// termBlock is a block in the making.
type termBlock struct {
	at             int64 // where its lists begin
	first          string
	terms          int
	entries, texts []byte
}

func (w *snapshotWriter) write(b []byte) { _, _ = w.Write(b) }

// Write implements [io.Writer].
func (w *snapshotWriter) Write(b []byte) (int, error) {
	w.size += int64(len(b))
	return w.out.Write(b)
}

// docRef is a document of a searcher: its view, and its number there.
type docRef struct{ view, number uint32 }

// documents writes the documents, rising by id, and sets their numbers.
func (w *snapshotWriter) documents() {
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
	w.docs = writeDocs(w, docsHead{n: len(docs), total: w.x.total, params: w.x.params}, func(i int) (uint64, int64, int64, uint32) {
		d := docs[i]
		return ids[d.view][d.number], updated[d.view][d.number], created[d.view][d.number], views[d.view].lens[d.number]
	})
}

// allTerms writes the blocks: the terms of all views, rising by text. It stops when
// what it reads has failed.
func (w *snapshotWriter) allTerms() error {
	w.block.at = w.size
	var list, room []posting
	cursors := cursors(w.x.views, w.numbers)
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
		if len(list) > 0 { // else all that held it are deleted
			if err := w.term(text, list); err != nil {
				return err
			}
		}
		cursors = advance(cursors, same)
	}
	return w.endBlock()
}

// term writes the list of a term, the text of which is larger than all before.
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

// endBlock writes what follows the lists of a block, if it has any.
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

// appendList makes the list of postings.
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

// readFoot reads the foot of a snapshot of so many bytes, the documents of which are
// the first from.
func readFoot(r io.ReaderAt, size, from int64, docs uint32) (foot, error) {
	b, err := checked(r, size-footSize, footSize, size)
	if err != nil {
		return foot{}, err
	}
	le := binary.LittleEndian
	f := foot{int64(le.Uint32(b)), int64(le.Uint32(b[4:])), int64(le.Uint64(b[8:])), int64(le.Uint64(b[16:])), le.Uint32(b[24:])}
	if f.size != size || f.docs != docs || f.table < from || f.table > size-footSize || f.blocks != (f.terms+blockTerms-1)/blockTerms {
		return f, fmt.Errorf("%w: its foot has an unknown form", errSnapshot)
	}
	return f, nil
}

// OpenSnapshot opens the index in the size bytes of r, which is read later on and
// must not change as long as the index is used. The parameters are those of the
// snapshot, and it is refused when they are others. Errors match errSnapshot, or
// are those of package pagefile or of r.
func OpenSnapshot(r io.ReaderAt, size int64, p Params) (*Index, error) {
	x := New(p)
	var h docsHead
	docs, err := pagefile.Open(r, func(page []byte) (_ []pagefile.Table, err error) {
		h, err = readDocsHead(page, size, x.params)
		return h.tables(), err
	})
	if err != nil {
		return nil, err
	}
	from := int64(pagefile.Pages(h.tables())) * pagefile.Size
	f, err := readFoot(r, size, from, h.check)
	if err != nil {
		return nil, err
	}
	s, err := h.segment(docs)
	if err != nil {
		return nil, err
	}
	table, err := checked(r, f.table, size-footSize-f.table, size)
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

// readTable reads the table of the blocks that stand between two offsets.
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
		if k.lists < from || k.lists > end || int64(k.size)+int64(k.rest) > end-k.lists || n > int64(len(firsts)) {
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
