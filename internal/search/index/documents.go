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

// These are the numbers of the tables in a snapshot file's first part, which contains the documents.
const (
	documentTableNumber = iota
	docLengthTableNumber
	longDocLengthTableNumber
	timeTableNumber
	tableNumberSignatureSizes
	tableNumberSignatures
)

const (
	// size in bytes of a row in documentTableNumber. The next constants are the sizes for longDocLengthTableNumber and
	// timeTableNumber.
	documentRowBytes      = 24
	longDocLengthRowBytes = 8
	timeRowBytes          = 24
	// size in bytes of a row in tableNumberSignatureSizes, and of a row in tableNumberSignatures
	signatureSizeRowBytes = 2
	signatureRowBytes     = signatureUnitBits / 8

	// The table of document lengths contains two values that are not lengths: unscoredLengthMark for a document without
	// terms that is not counted, and longDocLengthMark for a length that is in the table for long lengths.
	unscoredLengthMark = math.MaxUint16
	longDocLengthMark  = math.MaxUint16 - 1
)

// docsHeader is the content of page 0, which describes a snapshot's documents part.
type docsHeader struct {
	docCount, longDocLengthCount int
	totalLength                  uint64
	params                       Params
	rowsChecksum                 uint32 // checksum of all rows in the document table
	signatureUnitCount           int    // number of units in the signatures of all documents
	pageChecksum                 uint32 // checksum of page 0
}

func (h *docsHeader) tableSizes() []pagefile.TableSize {
	return []pagefile.TableSize{
		{RowSize: documentRowBytes, RowCount: h.docCount},
		{RowSize: 2, RowCount: h.docCount},
		{RowSize: longDocLengthRowBytes, RowCount: h.longDocLengthCount},
		{RowSize: timeRowBytes, RowCount: (h.docCount + 63) / 64},
		{RowSize: signatureSizeRowBytes, RowCount: h.docCount},
		{RowSize: signatureRowBytes, RowCount: h.signatureUnitCount},
	}
}

func (h *docsHeader) encode() []byte {
	le := binary.LittleEndian
	b := le.AppendUint32(le.AppendUint32(nil, uint32(h.docCount)), uint32(h.longDocLengthCount))
	b = le.AppendUint64(b, h.totalLength)
	b = le.AppendUint64(le.AppendUint64(b, math.Float64bits(h.params.K1)), math.Float64bits(h.params.B))
	empty := uint32(0)
	if h.params.CountEmptyDocuments {
		empty = 1
	}
	b = le.AppendUint32(le.AppendUint32(b, empty), h.rowsChecksum)
	return le.AppendUint32(b, uint32(h.signatureUnitCount))
}

// readDocsHeader decodes page 0 of a snapshot with the given size in bytes. It returns an error if the snapshot was
// written with other parameters than p, or if the numbers in the header do not fit the size.
func readDocsHeader(page []byte, size int64, p Params) (docsHeader, error) {
	le := binary.LittleEndian
	h := docsHeader{
		docCount:           int(le.Uint32(page)),
		longDocLengthCount: int(le.Uint32(page[4:])),
		totalLength:        le.Uint64(page[8:]),
		rowsChecksum:       le.Uint32(page[36:]),
		signatureUnitCount: int(le.Uint32(page[40:])),
		pageChecksum:       le.Uint32(page[pagefile.PageDataBytes:]),
		params: Params{
			K1:                  math.Float64frombits(le.Uint64(page[16:])),
			B:                   math.Float64frombits(le.Uint64(page[24:])),
			CountEmptyDocuments: le.Uint32(page[32:]) == 1,
		},
	}
	switch {
	case h.params != p:
		return docsHeader{}, fmt.Errorf("%w: it is of other parameters", errDamagedSnapshot)
	case uint32(h.docCount) == math.MaxUint32,
		h.longDocLengthCount > h.docCount,
		h.signatureUnitCount < 0, // more than an int can hold on a 32-bit system
		int64(pagefile.CountPages(h.tableSizes()))*pagefile.PageSize > size:
		return docsHeader{}, fmt.Errorf("%w: it claims %d documents", errDamagedSnapshot, h.docCount)
	}
	return h, nil
}

// writeDocs writes a snapshot's first part, which contains the documents, to the writer out. It returns the checksum of
// page 0.
//
// The function doc must return the fields of document i. The IDs that doc returns must ascend. The function signature
// must return the column that contains the document's signature, and the document's number in this column. Both
// functions may be called several times for a document.
//
// writeDocs sets longDocLengthCount, signatureUnitCount and the checksum of the rows in h. It ignores write errors.
// Therefore the writer out must store its first error, and the caller must check this error afterwards.
func writeDocs(
	out io.Writer,
	h docsHeader,
	doc func(i int) (id uint64, updated, created int64, dl uint32),
	signature func(i int) (column *signatureColumn, number uint32),
) (checksum uint32) {
	le := binary.LittleEndian
	var row [documentRowBytes]byte
	for i := range h.docCount {
		id, updated, created, dl := doc(i)
		le.PutUint64(row[:], id)
		le.PutUint64(row[8:], uint64(updated))
		le.PutUint64(row[16:], uint64(created))
		h.rowsChecksum = crc32.Update(h.rowsChecksum, castagnoli, row[:])
		if encodeDocLength(dl) == longDocLengthMark {
			h.longDocLengthCount++
		}
		column, number := signature(i)
		h.signatureUnitCount += column.unitCount(number)
	}
	w := pagefile.NewWriter(out)
	w.Write(h.encode())
	w.FinishPage()
	for i := range h.docCount {
		id, updated, created, _ := doc(i)
		w.AppendRow(id, uint64(updated), uint64(created))
	}
	w.FinishPage()
	for i := range h.docCount {
		_, _, _, dl := doc(i)
		w.Write(le.AppendUint16(row[:0], encodeDocLength(dl)))
	}
	w.FinishPage()
	for i := range h.docCount {
		if _, _, _, dl := doc(i); encodeDocLength(dl) == longDocLengthMark {
			w.Write(le.AppendUint32(le.AppendUint32(row[:0], uint32(i)), dl))
		}
	}
	w.FinishPage()
	for from := 0; from < h.docCount; from += 64 {
		_, latestUpdate, first, _ := doc(from)
		t := blockTimeRange{first, first}
		for i := from + 1; i < min(from+64, h.docCount); i++ {
			_, updated, created, _ := doc(i)
			t = blockTimeRange{min(t.firstTime, created), max(t.lastTime, created)}
			latestUpdate = max(latestUpdate, updated)
		}
		w.AppendRow(uint64(t.firstTime), uint64(t.lastTime), uint64(latestUpdate))
	}
	w.FinishPage()
	for i := range h.docCount {
		column, number := signature(i)
		w.AppendEncodedRow(le.AppendUint16(row[:0], uint16(column.unitCount(number))))
	}
	w.FinishPage()
	var units []uint32
	for i := range h.docCount {
		column, number := signature(i)
		units = column.appendUnits(units[:0], number)
		for _, unit := range units {
			w.AppendUint32Row(unit)
		}
	}
	w.FinishPage()
	return w.FirstPageChecksum()
}

// encodeDocLength returns the number that represents a document length in the table of lengths.
func encodeDocLength(docLength uint32) uint16 {
	if docLength == unscoredDocumentLength {
		return unscoredLengthMark
	}
	return uint16(min(docLength, longDocLengthMark))
}

// newSegment returns a segment that contains the documents but no terms.
func (h *docsHeader) newSegment(docs *pagefile.Reader) (*segment, error) {
	s := &segment{isAscending: true}
	s.ids.snapshotColumn = &storedColumn[uint64]{docs: docs}
	s.updated.snapshotColumn = &storedColumn[int64]{docs: docs, fieldOffset: 8}
	s.created.snapshotColumn = &storedColumn[int64]{docs: docs, fieldOffset: 16}
	s.signatures.snapshot = &storedSignatures{docs: docs}
	err := s.readDocumentLengths(docs)
	if err == nil && s.totalDocumentLength != h.totalLength {
		err = fmt.Errorf("%w: its lengths do not add up", errDamagedSnapshot)
	}
	return s, err
}

// readDocumentLengths reads the length of each document into s.docLengths.
func (s *segment) readDocumentLengths(docs *pagefile.Reader) error {
	le := binary.LittleEndian
	s.docLengths = make([]uint32, 0, docs.RowCount(docLengthTableNumber))
	long := 0
	err := docs.EachTablePage(docLengthTableNumber, func(rows []byte) {
		from := len(s.docLengths)
		s.docLengths = s.docLengths[:from+len(rows)/2]
		lens := s.docLengths[from:]
		unscoreds := 0
		total := uint64(0)
		for i := range lens {
			switch dl := le.Uint16(rows[2*i:]); dl {
			case unscoredLengthMark:
				lens[i] = unscoredDocumentLength
				unscoreds++
			case longDocLengthMark:
				lens[i] = longDocLengthMark
				long++
			default:
				lens[i] = uint32(dl)
				total += uint64(dl)
			}
		}
		s.scoredDocumentCount += len(lens) - unscoreds
		s.totalDocumentLength += total
	})
	if err != nil {
		return err
	}
	fits, next := long == docs.RowCount(longDocLengthTableNumber), 0
	err = docs.EachTablePage(longDocLengthTableNumber, func(rows []byte) {
		for ; len(rows) > 0; rows = rows[longDocLengthRowBytes:] {
			n, dl := int(le.Uint32(rows)), le.Uint32(rows[4:])
			if n < next || n >= len(s.docLengths) {
				fits = false
				return
			}
			isLongLen := dl >= longDocLengthMark && dl != unscoredDocumentLength
			if s.docLengths[n] != longDocLengthMark || !isLongLen {
				fits = false
				return
			}
			s.docLengths[n], next = dl, n+1
			s.totalDocumentLength += uint64(dl)
		}
	})
	if err == nil && !fits {
		err = fmt.Errorf("%w: its lengths have an unknown form", errDamagedSnapshot)
	}
	return err
}

// blockTimes returns the times of each block with 64 documents. They are cached after the first call.
func (img *snapshotTerms) blockTimes() *documentBlockTimes {
	if ts := img.cachedBlockTimestamps.Load(); ts != nil {
		return ts
	}
	count := img.docs.RowCount(timeTableNumber)
	ts := &documentBlockTimes{make([]blockTimeRange, 0, count), make([]int64, 0, count)}
	err := img.docs.EachTablePage(timeTableNumber, func(rows []byte) {
		le := binary.LittleEndian
		for ; len(rows) > 0; rows = rows[timeRowBytes:] {
			created := blockTimeRange{int64(le.Uint64(rows)), int64(le.Uint64(rows[8:]))}
			ts.creationTimeRanges = append(ts.creationTimeRanges, created)
			ts.latestUpdateTimes = append(ts.latestUpdateTimes, int64(le.Uint64(rows[16:])))
		}
	})
	if err != nil { // docs.Err returns the error, so the results of the search will be discarded.
		return &documentBlockTimes{ts.creationTimeRanges[:count], ts.latestUpdateTimes[:count]}
	}
	img.cachedBlockTimestamps.CompareAndSwap(nil, ts)
	return img.cachedBlockTimestamps.Load()
}

// checkDocumentTables reads the whole first part of a snapshot, which contains the documents. It returns an error if
// the tables are inconsistent or cannot be read.
func (img *snapshotTerms) checkDocumentTables() error {
	sum := uint32(0)
	n := 0
	next := uint64(0)
	fits := true
	ts := img.blockTimes()
	var created blockTimeRange // of the documents in the present block that were read
	var latestUpdate int64     // latest update time of these documents
	err := img.docs.EachTablePage(documentTableNumber, func(rows []byte) {
		sum = crc32.Update(sum, castagnoli, rows)
		for ; len(rows) > 0; rows = rows[documentRowBytes:] {
			le := binary.LittleEndian
			id := le.Uint64(rows)
			updated := int64(le.Uint64(rows[8:]))
			time := int64(le.Uint64(rows[16:]))
			if n%64 == 0 {
				created, latestUpdate = blockTimeRange{time, time}, updated
			}
			created = blockTimeRange{min(created.firstTime, time), max(created.lastTime, time)}
			latestUpdate = max(latestUpdate, updated)
			fits = fits && (n == 0 || (id >= next && next > 0))
			next, n = id+1, n+1
			if n%64 == 0 || n == len(img.docLengths) {
				block := (n - 1) / 64
				fits = fits && ts.creationTimeRanges[block] == created && ts.latestUpdateTimes[block] == latestUpdate
			}
		}
	})
	if err == nil {
		err = img.docs.EachTablePage(tableNumberSignatures, func([]byte) {})
	}
	(&storedSignatures{docs: img.docs}).loadUnitEnds()
	err = cmp.Or(err, img.docs.Err())
	fits = fits && sum == img.rowsChecksum
	if err == nil && !fits {
		err = fmt.Errorf("%w: its documents do not fit together", errDamagedSnapshot)
	}
	return err
}
