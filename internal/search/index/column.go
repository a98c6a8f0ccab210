// This file implements columns, which store one number or one signature for each document, in memory or in a snapshot
// file.

package index

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/oxbow-memory/oxbow/internal/base/pagefile"
)

// column stores one number for each document of a segment. The index is the document's number.
type column[T int64 | uint64] struct {
	values         []T
	snapshotColumn *storedColumn[T] // reads the values from a snapshot file, and is then used instead of values.
}

// valueAt returns the column's value for the document with the number docNumber. If the value cannot be read from the
// snapshot, valueAt returns 0. The error is then available from the method Err of the Searcher.
func (c *column[T]) valueAt(docNumber uint32) T {
	if int(docNumber) < len(c.values) {
		return c.values[docNumber]
	}
	return c.snapshotColumn.valueAt(docNumber)
}

// allValues returns the values of all documents. Values from a snapshot are cached.
func (c *column[T]) allValues() []T {
	if c.snapshotColumn == nil {
		return c.values
	}
	return c.snapshotColumn.allValues()
}

// appendValue appends the value of the next document.
func (c *column[T]) appendValue(v T) { c.values = append(c.values, v) }

// releaseUnusedMemory releases the unused capacity of the slice. Call it after the last document was added.
func (c *column[T]) releaseUnusedMemory() { c.values = trimCapacity(c.values) }

// storedColumn reads one field of the documents in a snapshot.
type storedColumn[T int64 | uint64] struct {
	docs         *pagefile.Reader
	fieldOffset  int // offset of the field in a document's row, in bytes
	cachedValues atomic.Pointer[[]T]
}

func (c *storedColumn[T]) valueAt(number uint32) T {
	const perPage = pagefile.PageDataBytes / documentRowBytes
	page := c.docs.Page(documentTableNumber, int(number/perPage))
	return T(binary.LittleEndian.Uint64(page[int(number%perPage)*documentRowBytes+c.fieldOffset:]))
}

func (c *storedColumn[T]) allValues() []T {
	if whole := c.cachedValues.Load(); whole != nil {
		return *whole
	}
	values := make([]T, 0, c.docs.RowCount(documentTableNumber))
	err := c.docs.EachTablePage(documentTableNumber, func(rows []byte) {
		for ; len(rows) > 0; rows = rows[documentRowBytes:] {
			values = append(values, T(binary.LittleEndian.Uint64(rows[c.fieldOffset:])))
		}
	})
	if err != nil {
		return values[:cap(values)]
	}
	c.cachedValues.CompareAndSwap(nil, &values)
	return *c.cachedValues.Load()
}

// signatureColumn contains the signatures of a segment's documents. A document whose pairs of words are not known has
// an empty signature.
type signatureColumn struct {
	units    []uint32 // the signatures of all documents, one after the other
	unitEnds []uint32 // for each document, the index in units after the last unit of its signature
	snapshot *storedSignatures
}

// appendPairs appends the signature of the next document, which contains these pairs of words.
func (c *signatureColumn) appendPairs(pairHashes []uint32) {
	c.units = appendSignature(c.units, pairHashes)
	c.unitEnds = append(c.unitEnds, uint32(len(c.units)))
}

// appendCopy copies a signature from the column from of another segment, and appends it to c. The argument number is
// the number of the signature's document in from. In c, the signature belongs to the next document.
func (c *signatureColumn) appendCopy(from *signatureColumn, number uint32) {
	c.units = from.appendUnits(c.units, number)
	c.unitEnds = append(c.unitEnds, uint32(len(c.units)))
}

// releaseUnusedMemory releases the unused capacity of the slices. Call it after the last document was added.
func (c *signatureColumn) releaseUnusedMemory() {
	c.units, c.unitEnds = trimCapacity(c.units), trimCapacity(c.unitEnds)
}

// unitRange returns the part of the column that contains the signature of the document with this number. A signature
// takes some units of memory, and the units of all documents follow each other. The part contains the units from the
// index from to the index to, without the unit at to.
func (c *signatureColumn) unitRange(number uint32) (from, to uint32) {
	ends := c.unitEnds
	if c.snapshot != nil {
		ends = c.snapshot.loadUnitEnds()
	}
	if number > 0 {
		from = ends[number-1]
	}
	return from, ends[number]
}

// unitCount returns the number of units in the signature of the document with the given number. A signature is a list
// of units that represent the document's pairs of words.
func (c *signatureColumn) unitCount(number uint32) int {
	from, to := c.unitRange(number)
	return int(to - from)
}

// appendUnits appends the units (the parts of a signature) of a document to the slice units. The argument number is the
// number of the document. After a read from a snapshot, the memory of the pages is released. Callers should read the
// documents in ascending order, because a page would otherwise be read several times.
func (c *signatureColumn) appendUnits(units []uint32, number uint32) []uint32 {
	from, to := c.unitRange(number)
	if c.snapshot == nil {
		return append(units, c.units[from:to]...)
	}
	for i := from; i < to; i++ {
		units = append(units, c.snapshot.unitAt(i))
	}
	c.snapshot.docs.ReleaseRows(tableNumberSignatures, int(from), int(to))
	return units
}

// mayContain reports whether the text of a document may contain all these pairs of words. It returns true if the
// document's pairs are unknown, or if the signature cannot be read from the snapshot. In the second case, the
// searcher's Err returns the error.
func (c *signatureColumn) mayContain(number uint32, pairHashes []uint32) bool {
	if len(pairHashes) == 0 {
		return true
	}
	from, to := c.unitRange(number)
	if from == to {
		return true
	}
	var units []uint32
	var storedUnits []byte // the units in the snapshot, if all of them are on one page
	if c.snapshot == nil {
		units = c.units[from:to]
	} else {
		storedUnits = c.snapshot.unitsOnOnePage(from, to)
	}
	for _, hash := range pairHashes {
		for _, bit := range signatureBitNumbers(hash, int(to-from)) {
			i := bit / signatureUnitBits
			var unit uint32
			switch {
			case units != nil:
				unit = units[i]
			case storedUnits != nil:
				unit = binary.LittleEndian.Uint32(storedUnits[i*signatureRowBytes:])
			default:
				unit = c.snapshot.unitAt(from + i)
			}
			if unit>>(bit%signatureUnitBits)&1 == 0 {
				return false
			}
		}
	}
	return true
}

// isSignatureOf reports whether the signature of a document is the signature with these pairs.
func (c *signatureColumn) isSignatureOf(number uint32, pairHashes []uint32) bool {
	return slices.Equal(c.appendUnits(nil, number), appendSignature(nil, pairHashes))
}

// storedSignatures reads the signatures of the documents in a snapshot.
type storedSignatures struct {
	docs           *pagefile.Reader
	cachedUnitEnds atomic.Pointer[[]uint32] // see signatureColumn.unitEnds (nil until they are read)
}

func (s *storedSignatures) unitAt(i uint32) uint32 {
	return binary.LittleEndian.Uint32(s.docs.Row(tableNumberSignatures, int(i)))
}

// unitsOnOnePage returns the bytes of the units from the index from to the index to, without the unit at to. It returns
// nil if the units are on more than one page of the snapshot.
func (s *storedSignatures) unitsOnOnePage(from, to uint32) []byte {
	const perPage = pagefile.PageDataBytes / signatureRowBytes
	if from/perPage != (to-1)/perPage {
		return nil
	}
	units := s.docs.Page(tableNumberSignatures, int(from/perPage))[from%perPage*signatureRowBytes:]
	return units[:(to-from)*signatureRowBytes]
}

// loadUnitEnds returns, for each document, the index after the last unit of its signature. The result is cached. If the
// sizes of the signatures cannot be read, all signatures are empty, and the searcher's Err returns the error.
func (s *storedSignatures) loadUnitEnds() []uint32 {
	if ends := s.cachedUnitEnds.Load(); ends != nil {
		return *ends
	}
	ends := make([]uint32, 0, s.docs.RowCount(tableNumberSignatureSizes))
	sum := uint64(0)
	err := s.docs.EachTablePage(tableNumberSignatureSizes, func(rows []byte) {
		for ; len(rows) > 0; rows = rows[signatureSizeRowBytes:] {
			sum += uint64(binary.LittleEndian.Uint16(rows))
			ends = append(ends, uint32(sum))
		}
	})
	if err == nil && sum != uint64(s.docs.RowCount(tableNumberSignatures)) {
		err = fmt.Errorf("%w: its signatures have other sizes", errDamagedSnapshot)
	}
	if err != nil {
		s.docs.RecordError(err)
		ends = make([]uint32, cap(ends))
	}
	s.cachedUnitEnds.CompareAndSwap(nil, &ends)
	return *s.cachedUnitEnds.Load()
}
