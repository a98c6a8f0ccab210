// This file implements columns, which store a number for each document, in memory or in a
// snapshot file.

package index

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/oxbow-memory/oxbow/internal/base/pagefile"
)

// column stores a number for each document of a segment, indexed by document
// number.
type column[T int64 | uint64] struct {
	values []T
	file   *fileColumn[T] // used instead of values in a snapshot's segment
}

// at returns the number of a document. If the number cannot be read, it returns 0,
// and the searcher's Err returns the error.
func (c *column[T]) at(number uint32) T {
	if int(number) < len(c.values) {
		return c.values[number]
	}
	return c.file.at(number)
}

// all returns the numbers of all documents. Numbers read from a file are cached.
func (c *column[T]) all() []T {
	if c.file == nil {
		return c.values
	}
	return c.file.all()
}

// add appends the number of the next document.
func (c *column[T]) add(v T) { c.values = append(c.values, v) }

// fit releases spare capacity after the last document was added.
func (c *column[T]) fit() { c.values = trimCapacity(c.values) }

// fileColumn is a field of the documents in a snapshot file.
type fileColumn[T int64 | uint64] struct {
	docs  *pagefile.Reader
	field int // byte offset of the field in a row
	whole atomic.Pointer[[]T]
}

func (c *fileColumn[T]) at(number uint32) T {
	const perPage = pagefile.Data / docSize
	page := c.docs.Page(tableDocs, int(number/perPage))
	return T(binary.LittleEndian.Uint64(page[int(number%perPage)*docSize+c.field:]))
}

func (c *fileColumn[T]) all() []T {
	if whole := c.whole.Load(); whole != nil {
		return *whole
	}
	values := make([]T, 0, c.docs.Count(tableDocs))
	err := c.docs.EachPage(tableDocs, func(rows []byte) {
		for ; len(rows) > 0; rows = rows[docSize:] {
			values = append(values, T(binary.LittleEndian.Uint64(rows[c.field:])))
		}
	})
	if err != nil {
		return values[:cap(values)]
	}
	c.whole.CompareAndSwap(nil, &values)
	return *c.whole.Load()
}
