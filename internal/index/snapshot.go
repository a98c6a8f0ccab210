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
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/pagefile"
)

// FileSuffix ends the name of a file, next to what was indexed, that holds a snapshot.
const FileSuffix = ".idx"

// AppendSnapshot appends the snapshot of the index to b. The error is that of the
// snapshot that the index itself was opened from.
func (x *Searcher) AppendSnapshot(b []byte) ([]byte, error) {
	v := view{segment: new(segment)}
	if len(x.views) == 1 && x.views[0].mem == nil {
		v = x.views[0]
	} else if len(x.views) > 0 {
		if v.segment = x.merge(x.views); v.segment == nil {
			return b, x.Err()
		}
	}
	w := snapshotWriter{v: &v, b: b, start: len(b)}
	w.documents(x)
	terms, err := w.allTerms(x.Err)
	if err = cmp.Or(err, x.Err()); err != nil {
		return b, err
	}
	le := binary.LittleEndian
	f := foot{terms: int64(terms), blocks: int64(len(w.table) / blockSize), table: int64(len(w.b) - w.start), docs: w.docs}
	table := append(w.table, w.firsts...)
	w.b = le.AppendUint32(append(w.b, table...), crc32.Checksum(table, castagnoli))
	f.size = int64(len(w.b)-w.start) + footSize
	return f.append(w.b), nil
}

// snapshotWriter writes a view.
type snapshotWriter struct {
	v      *view
	b      []byte
	start  int
	docs   uint32   // check of page 0
	number []uint32 // of documents, old to new; dropped for those that are deleted

	table, firsts []byte
	room, sorted  []posting
}

// documents writes the documents of the searcher, rising by id.
func (w *snapshotWriter) documents(x *Searcher) {
	v := w.v
	ids, updated, created := v.ids.all(), v.updated.all(), v.created.all()
	live := make([]uint32, 0, v.live())
	for n := range ids {
		if !v.isDeleted(uint32(n)) {
			live = append(live, uint32(n))
		}
	}
	if !v.rising {
		slices.SortFunc(live, func(m, n uint32) int { return cmp.Compare(ids[m], ids[n]) })
	}
	w.number = make([]uint32, len(ids))
	for i := range w.number {
		w.number[i] = dropped
	}
	for i, n := range live {
		w.number[n] = uint32(i)
	}
	w.b, w.docs = appendDocs(w.b, docsHead{n: len(live), total: x.total, params: x.params}, func(i int) (uint64, int64, int64, uint32) {
		n := live[i]
		return ids[n], updated[n], created[n], v.lens[n]
	})
}

// allTerms writes the blocks, and returns the number of terms. It stops when what
// it reads has failed.
func (w *snapshotWriter) allTerms(failed func() error) (int, error) {
	type sortedTerm struct {
		text string
		n    int
	}
	var terms []sortedTerm
	for n := range w.v.numTerms() {
		if n%blockTerms == 0 && failed() != nil {
			return 0, failed()
		}
		if t := w.v.term(n); t.df > 0 {
			terms = append(terms, sortedTerm{t.text, n})
		}
	}
	byText := func(s, t sortedTerm) int { return strings.Compare(s.text, t.text) }
	if !slices.IsSortedFunc(terms, byText) {
		slices.SortFunc(terms, byText)
	}
	le := binary.LittleEndian
	written := 0
	var entries, texts []byte
	lists, first, inBlock := len(w.b), "", 0
	flush := func() error {
		if inBlock == 0 {
			return nil
		}
		size := len(w.b) - lists
		entries = append(entries, texts...)
		if uint64(size) > math.MaxUint32 || uint64(len(entries)) > math.MaxUint32 {
			return fmt.Errorf("writing the index snapshot: a block of %d bytes is too large", size)
		}
		w.table = le.AppendUint64(w.table, uint64(lists-w.start))
		w.table = le.AppendUint32(w.table, uint32(size))
		w.table = le.AppendUint32(w.table, uint32(len(entries)))
		w.table = le.AppendUint32(w.table, crc32.Checksum(entries, castagnoli))
		w.table = le.AppendUint32(w.table, uint32(len(first)))
		w.firsts = append(w.firsts, first...)
		w.b = append(w.b, entries...)
		entries, texts, lists, inBlock = entries[:0], texts[:0], len(w.b), 0
		return nil
	}
	for i, t := range terms {
		if i%blockTerms == 0 && failed() != nil {
			return 0, failed()
		}
		from := len(w.b)
		df := w.list(w.v.postingsOf(t.n, &w.room))
		if df == 0 {
			continue // all that held it are deleted
		}
		if inBlock == 0 {
			first = t.text
		}
		entries = le.AppendUint32(entries, uint32(len(t.text)))
		entries = le.AppendUint32(entries, uint32(df))
		entries = le.AppendUint32(entries, uint32(len(w.b)-from))
		entries = le.AppendUint32(entries, crc32.Checksum(w.b[from:], castagnoli))
		texts = append(texts, t.text...)
		written++
		if inBlock++; inBlock == blockTerms {
			if err := flush(); err != nil {
				return 0, err
			}
		}
	}
	return written, flush()
}

// list writes a list, and returns how many postings it has.
func (w *snapshotWriter) list(list []posting) (df int) {
	if !w.v.rising { // the documents stand in another order now
		w.sorted = w.sorted[:0]
		for _, p := range list {
			if p.doc = w.number[p.doc]; p.doc != dropped {
				w.sorted = append(w.sorted, p)
			}
		}
		slices.SortFunc(w.sorted, func(p, q posting) int { return cmp.Compare(p.doc, q.doc) })
		list = w.sorted
	}
	next := uint32(0)
	for _, p := range list {
		n := p.doc
		if w.v.rising {
			if n = w.number[n]; n == dropped {
				continue
			}
		}
		if v := uint64(n-next) << 1; p.tf == One {
			w.b = binary.AppendUvarint(w.b, v)
		} else {
			w.b = binary.AppendUvarint(binary.AppendUvarint(w.b, v|1), uint64(p.tf))
		}
		next = n + 1
		df++
	}
	return df
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
	if img.blocks, err = readTable(table, f.blocks, from, f.table); err != nil {
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
		k.lists, k.size, k.rest, k.check = int64(le.Uint64(e)), le.Uint32(e[8:]), le.Uint32(e[12:]), le.Uint32(e[16:])
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
