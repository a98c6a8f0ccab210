// This file reads and writes the table of documents in a snapshot.

package index

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"github.com/oxbow-memory/oxbow/internal/base/pagefile"
)

// The tables in the documents part of a snapshot.
const (
	tableDocs = iota
	tableLens
	tableLong
	tableTimes
)

const (
	docSize  = 24 // size of a row in bytes
	longSize = 8
	timeSize = 16

	// Values in the table of lengths that are not lengths.
	shortUnscored = math.MaxUint16
	shortLong     = math.MaxUint16 - 1
)

// docsHead is page 0 of a snapshot's documents part.
type docsHead struct {
	n, long int
	total   uint64
	params  Params
	sum     uint32 // checksum of the document rows
	check   uint32 // checksum of the page
}

func (h *docsHead) tableSizes() []pagefile.Table {
	return []pagefile.Table{
		{Row: docSize, Count: h.n},
		{Row: 2, Count: h.n},
		{Row: longSize, Count: h.long},
		{Row: timeSize, Count: (h.n + 63) / 64},
	}
}

func (h *docsHead) encode() []byte {
	le := binary.LittleEndian
	b := le.AppendUint32(le.AppendUint32(nil, uint32(h.n)), uint32(h.long))
	b = le.AppendUint64(b, h.total)
	b = le.AppendUint64(le.AppendUint64(b, math.Float64bits(h.params.K1)), math.Float64bits(h.params.B))
	empty := uint32(0)
	if h.params.CountEmpty {
		empty = 1
	}
	return le.AppendUint32(le.AppendUint32(b, empty), h.sum)
}

// readDocsHead parses page 0 of a snapshot with this size in bytes. It returns an error if
// the snapshot has other parameters than p.
func readDocsHead(page []byte, size int64, p Params) (docsHead, error) {
	le := binary.LittleEndian
	h := docsHead{n: int(le.Uint32(page)), long: int(le.Uint32(page[4:])), total: le.Uint64(page[8:]),
		sum: le.Uint32(page[36:]), check: le.Uint32(page[pagefile.Data:]),
		params: Params{
			K1:         math.Float64frombits(le.Uint64(page[16:])),
			B:          math.Float64frombits(le.Uint64(page[24:])),
			CountEmpty: le.Uint32(page[32:]) == 1,
		}}
	switch {
	case h.params != p:
		return docsHead{}, fmt.Errorf("%w: it is of other parameters", errSnapshot)
	case uint32(h.n) == math.MaxUint32, h.long > h.n, int64(pagefile.CountPages(h.tableSizes()))*pagefile.Size > size:
		return docsHead{}, fmt.Errorf("%w: it claims %d documents", errSnapshot, h.n)
	}
	return h, nil
}

// writeDocs writes the documents part of a snapshot and returns the checksum of page 0. doc
// must return the fields of document i, with ascending IDs, and may be called several
// times. writeDocs sets the fields of h that depend on the rows. Write errors must be
// sticky in out, because writeDocs does not check them.
func writeDocs(
	out io.Writer,
	h docsHead,
	doc func(i int) (id uint64, updated, created int64, dl uint32),
) (check uint32) {
	le := binary.LittleEndian
	var row [docSize]byte
	for i := range h.n {
		id, updated, created, dl := doc(i)
		le.PutUint64(row[:], id)
		le.PutUint64(row[8:], uint64(updated))
		le.PutUint64(row[16:], uint64(created))
		h.sum = crc32.Update(h.sum, castagnoli, row[:])
		if shortLen(dl) == shortLong {
			h.long++
		}
	}
	w := pagefile.NewWriter(out)
	w.Write(h.encode())
	w.Close()
	for i := range h.n {
		id, updated, created, _ := doc(i)
		w.Row(id, uint64(updated), uint64(created))
	}
	w.Close()
	for i := range h.n {
		_, _, _, dl := doc(i)
		w.Write(le.AppendUint16(row[:0], shortLen(dl)))
	}
	w.Close()
	for i := range h.n {
		if _, _, _, dl := doc(i); shortLen(dl) == shortLong {
			w.Write(le.AppendUint32(le.AppendUint32(row[:0], uint32(i)), dl))
		}
	}
	w.Close()
	for from := 0; from < h.n; from += 64 {
		_, _, first, _ := doc(from)
		t := timeBlock{first, first}
		for i := from + 1; i < min(from+64, h.n); i++ {
			_, _, created, _ := doc(i)
			t = timeBlock{min(t.first, created), max(t.last, created)}
		}
		w.Row(uint64(t.first), uint64(t.last))
	}
	w.Close()
	return w.HeadChecksum()
}

// shortLen returns the value for a length in the table of lengths.
func shortLen(dl uint32) uint16 {
	if dl == unscored {
		return shortUnscored
	}
	return uint16(min(dl, shortLong))
}

// segment returns a segment with the documents but without terms.
func (h *docsHead) segment(docs *pagefile.Reader) (*segment, error) {
	s := &segment{isAscending: true}
	s.ids.file = &fileColumn[uint64]{docs: docs}
	s.updated.file = &fileColumn[int64]{docs: docs, field: 8}
	s.created.file = &fileColumn[int64]{docs: docs, field: 16}
	err := s.readLens(docs)
	if err == nil && s.total != h.total {
		err = fmt.Errorf("%w: its lengths do not add up", errSnapshot)
	}
	return s, err
}

// readLens reads the lengths of all documents.
func (s *segment) readLens(docs *pagefile.Reader) error {
	le := binary.LittleEndian
	s.lens = make([]uint32, 0, docs.Count(tableLens))
	long := 0
	err := docs.EachPage(tableLens, func(rows []byte) {
		from := len(s.lens)
		s.lens = s.lens[:from+len(rows)/2]
		lens := s.lens[from:]
		unscoreds := 0
		total := uint64(0)
		for i := range lens {
			switch dl := le.Uint16(rows[2*i:]); dl {
			case shortUnscored:
				lens[i] = unscored
				unscoreds++
			case shortLong:
				lens[i] = shortLong
				long++
			default:
				lens[i] = uint32(dl)
				total += uint64(dl)
			}
		}
		s.counted += len(lens) - unscoreds
		s.total += total
	})
	if err != nil {
		return err
	}
	fits, next := long == docs.Count(tableLong), 0
	err = docs.EachPage(tableLong, func(rows []byte) {
		for ; len(rows) > 0; rows = rows[longSize:] {
			n, dl := int(le.Uint32(rows)), le.Uint32(rows[4:])
			if n < next || n >= len(s.lens) {
				fits = false
				return
			}
			isLongLen := dl >= shortLong && dl != unscored
			if s.lens[n] != shortLong || !isLongLen {
				fits = false
				return
			}
			s.lens[n], next = dl, n+1
			s.total += uint64(dl)
		}
	})
	if err == nil && !fits {
		err = fmt.Errorf("%w: its lengths have an unknown form", errSnapshot)
	}
	return err
}

// timeBlocks returns the time ranges of blocks of 64 documents, from a cache after
// the first call.
func (img *image) timeBlocks() []timeBlock {
	if ts := img.blocksOfTimes.Load(); ts != nil {
		return *ts
	}
	ts := make([]timeBlock, 0, img.docs.Count(tableTimes))
	err := img.docs.EachPage(tableTimes, func(rows []byte) {
		le := binary.LittleEndian
		for ; len(rows) > 0; rows = rows[timeSize:] {
			ts = append(ts, timeBlock{int64(le.Uint64(rows)), int64(le.Uint64(rows[8:]))})
		}
	})
	if err != nil {
		return ts[:cap(ts)]
	}
	img.blocksOfTimes.CompareAndSwap(nil, &ts)
	return *img.blocksOfTimes.Load()
}

// checkDocs reads the whole documents part and returns an error if its tables are
// inconsistent.
func (img *image) checkDocs() error {
	sum := uint32(0)
	n := 0
	next := uint64(0)
	fits := true
	ts, of := img.timeBlocks(), timeBlock{}
	err := img.docs.EachPage(tableDocs, func(rows []byte) {
		sum = crc32.Update(sum, castagnoli, rows)
		for ; len(rows) > 0; rows = rows[docSize:] {
			id, created := binary.LittleEndian.Uint64(rows), int64(binary.LittleEndian.Uint64(rows[16:]))
			if n%64 == 0 {
				of = timeBlock{created, created}
			}
			of = timeBlock{min(of.first, created), max(of.last, created)}
			fits = fits && (n == 0 || (id >= next && next > 0))
			next, n = id+1, n+1
			if n%64 == 0 || n == len(img.lens) {
				fits = fits && ts[(n-1)/64] == of
			}
		}
	})
	err = cmp.Or(err, img.docs.Err())
	fits = fits && sum == img.sum
	if err == nil && !fits {
		err = fmt.Errorf("%w: its documents do not fit together", errSnapshot)
	}
	return err
}
