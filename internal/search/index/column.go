// This file implements columns, which store one number for each document, in memory or in a snapshot file.

package index

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/oxbow-memory/oxbow/internal/base/pagefile"
)

// column stores one number for each document of a segment. The index is the document's number.
type column[T int64 | uint64] struct {
	values         []T
	snapshotColumn *storedColumn[T] // reads the values from a snapshot file, and is then used instead of values.
}

// valueAt returns the value of a document. If it cannot be read from the snapshot, valueAt returns 0, and the
// searcher's Err returns the error.
func (c *column[T]) valueAt(number uint32) T {
	if int(number) < len(c.values) {
		return c.values[number]
	}
	return c.snapshotColumn.valueAt(number)
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
	page := c.docs.Page(tableNumberDocuments, int(number/perPage))
	return T(binary.LittleEndian.Uint64(page[int(number%perPage)*documentRowBytes+c.fieldOffset:]))
}

func (c *storedColumn[T]) allValues() []T {
	if whole := c.cachedValues.Load(); whole != nil {
		return *whole
	}
	values := make([]T, 0, c.docs.RowCount(tableNumberDocuments))
	err := c.docs.EachTablePage(tableNumberDocuments, func(rows []byte) {
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
