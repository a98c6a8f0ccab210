// Snapshots: an index as bytes.
//
// All numbers are little-endian; a check is the CRC-32C of what stands before
// it in the same piece, or of the bytes it is said to be of.
//
//	head, 64 bytes:
//	     0    4 documents, N
//	     4    4 terms
//	     8    8 sum of dl over the documents that have terms
//	    16    8 k1, float64
//	    24    8 b, float64
//	    32    4 1 when documents without terms count, else 0
//	    36    4 blocks
//	    40    8 offset of the table, from the first byte of the snapshot
//	    48    8 length of the snapshot
//	    56    4 0
//	    60    4 check
//	documents, 28·N + 4 bytes: N ids, rising (8 bytes each), N updated (8),
//	    N created (8), N dl (4; 2³²−1 for a document that does not count), check
//	blocks, each of 64 terms but the last, rising by text:
//	    the lists of its terms, one after another
//	    for each term: length of the text (4), df (4), length of its list (4),
//	        check of its list (4); then the texts
//	table: for each block: offset (8), bytes of lists (4), bytes of terms (4),
//	    check of those (4), length of the first term (4); then the first
//	    terms, and a check
//
// A list is a varint for each posting: twice the distance to the number before,
// less one (the first is counted from -1), plus 1 when the TF is not [One];
// then the TF follows as another. An example: a term that stands once in the
// documents 0 and 2, and 2 sixteenths of a time in 3, is 00 02 01 02.
//
// Deleted documents are not written. A piece is believed when its check holds,
// and examined all the same: no number in it may lead outside. So a query reads
// the documents, the table, a block's terms and a list for each of its own
// terms, however many there are.

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
	start := len(b)
	w := snapshotWriter{v: &v, b: append(b, make([]byte, headSize)...), start: start}
	w.documents()
	terms, err := w.allTerms(x.Err)
	if err = cmp.Or(err, x.Err()); err != nil {
		return b, err
	}
	le := binary.LittleEndian
	at := len(w.b) - start
	table := append(w.table, w.firsts...)
	b = le.AppendUint32(append(w.b, table...), crc32.Checksum(table, castagnoli))
	h := b[start : start+headSize]
	le.PutUint32(h[0:], uint32(v.live()))
	le.PutUint32(h[4:], uint32(terms))
	le.PutUint64(h[8:], x.total)
	le.PutUint64(h[16:], math.Float64bits(x.params.K1))
	le.PutUint64(h[24:], math.Float64bits(x.params.B))
	if x.params.CountEmpty {
		le.PutUint32(h[32:], 1)
	}
	le.PutUint32(h[36:], uint32(len(w.table)/blockSize))
	le.PutUint64(h[40:], uint64(at))
	le.PutUint64(h[48:], uint64(len(b)-start))
	le.PutUint32(h[60:], crc32.Checksum(h[:60], castagnoli))
	return b, nil
}

// snapshotWriter writes a view.
type snapshotWriter struct {
	v      *view
	b      []byte
	start  int
	number []uint32 // of documents, old to new; dropped for those that are deleted

	table, firsts []byte
	room, sorted  []posting
}

// documents writes the documents, rising by id.
func (w *snapshotWriter) documents() {
	le, v := binary.LittleEndian, w.v
	live := make([]uint32, 0, v.live())
	for n := range v.ids {
		if !v.isDeleted(uint32(n)) {
			live = append(live, uint32(n))
		}
	}
	if !v.rising {
		slices.SortFunc(live, func(m, n uint32) int { return cmp.Compare(v.ids[m], v.ids[n]) })
	}
	w.number = make([]uint32, len(v.ids))
	for i := range w.number {
		w.number[i] = dropped
	}
	from := len(w.b)
	for i, n := range live {
		w.number[n] = uint32(i)
		w.b = le.AppendUint64(w.b, v.ids[n])
	}
	for _, n := range live {
		w.b = le.AppendUint64(w.b, uint64(v.updated[n]))
	}
	for _, n := range live {
		w.b = le.AppendUint64(w.b, uint64(v.created[n]))
	}
	for _, n := range live {
		w.b = le.AppendUint32(w.b, v.lens[n])
	}
	w.b = le.AppendUint32(w.b, crc32.Checksum(w.b[from:], castagnoli))
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

// OpenSnapshot opens the index in the size bytes of r, which is read later on and
// must not change as long as the index is used. The parameters are those of the
// snapshot, and it is refused when they are others. Errors match errSnapshot or
// are those of r.
func OpenSnapshot(r io.ReaderAt, size int64, p Params) (*Index, error) {
	x := New(p)
	le := binary.LittleEndian
	h, err := piece(r, 0, headSize, size)
	if err != nil {
		return nil, err
	}
	n, terms := int64(le.Uint32(h)), int64(le.Uint32(h[4:]))
	blocks, at := int64(le.Uint32(h[36:])), int64(le.Uint64(h[40:]))
	switch {
	case crc32.Checksum(h[:60], castagnoli) != le.Uint32(h[60:]):
		return nil, fmt.Errorf("%w: its head does not match its checksum", errSnapshot)
	case int64(le.Uint64(h[48:])) != size, at < headSize || at > size, le.Uint32(h[56:]) != 0,
		blocks != (terms+blockTerms-1)/blockTerms, n == math.MaxUint32:
		return nil, fmt.Errorf("%w: its head has an unknown form", errSnapshot)
	case math.Float64frombits(le.Uint64(h[16:])) != x.params.K1, math.Float64frombits(le.Uint64(h[24:])) != x.params.B, le.Uint32(h[32:]) == 1 != x.params.CountEmpty:
		return nil, fmt.Errorf("%w: it is of other parameters", errSnapshot)
	}
	docs, err := checked(r, headSize, n*docSize+4, size)
	if err != nil {
		return nil, err
	}
	s, err := readDocs(docs, int(n))
	if err != nil {
		return nil, err
	}
	if s.total != le.Uint64(h[8:]) {
		return nil, fmt.Errorf("%w: its lengths do not add up", errSnapshot)
	}
	table, err := checked(r, at, size-at, size)
	if err != nil {
		return nil, err
	}
	to := &Searcher{params: x.params, seed: x.seed, live: s.counted, total: s.total}
	img := &image{r: r, lens: s.lens, sc: to.scale(), terms: int(terms)}
	if img.blocks, err = readTable(table, blocks, at); err != nil {
		return nil, err
	}
	s.image, s.slope = img, img.sc.slope
	to.views = []view{{segment: s}}
	x.current.Store(to)
	return x, nil
}

// readDocs returns a segment of the documents of a snapshot.
func readDocs(b []byte, n int) (*segment, error) {
	le := binary.LittleEndian
	s := &segment{ids: make([]uint64, n), updated: make([]int64, n), created: make([]int64, n), lens: make([]uint32, n)}
	updated, created, lens := b[8*n:], b[16*n:], b[24*n:]
	for i := range n {
		s.ids[i], s.updated[i], s.created[i], s.lens[i] = le.Uint64(b[8*i:]), int64(le.Uint64(updated[8*i:])), int64(le.Uint64(created[8*i:])), le.Uint32(lens[4*i:])
		if s.lens[i] != unscored {
			s.counted++
			s.total += uint64(s.lens[i])
		}
	}
	if s.indexDocs(); !s.rising {
		return nil, fmt.Errorf("%w: its documents are not in order", errSnapshot)
	}
	return s, nil
}

func readTable(b []byte, blocks, end int64) ([]block, error) {
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
		if k.lists < headSize || k.lists > end || int64(k.size)+int64(k.rest) > end-k.lists || n > int64(len(firsts)) {
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
