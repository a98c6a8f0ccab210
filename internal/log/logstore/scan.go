// This file reads most entries of a snapshot in order, with bounded memory.

package logstore

import (
	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/store"
)

const (
	// scanIDs is the number of IDs that a scan decodes at once from a record. A record may contain
	// more entries than fit into memory.
	scanIDs = 8192

	// scanBytes is the size of the entries that a scan decodes in advance.
	scanBytes = 16 << 20

	// scanShare is the part of the cache up to which scans add entries to the cache. Otherwise a scan of
	// a large memory would fill the cache with entries that are read only once.
	scanShare = 8
)

// scan reads the entries of a snapshot in ascending order of their rows. It is not safe for concurrent
// use.
type scan struct {
	snap   *snapshot
	reader *wal.Reader
	ahead  map[int]*store.Entry // entries that were decoded together with an earlier row, by row
	bytes  int                  // size of ahead
}

func newScan(s *snapshot) *scan {
	return &scan{snap: s, reader: s.log.NewReader(), ahead: map[int]*store.Entry{}}
}

// entry returns the entry of a row, or nil if it cannot be read.
func (c *scan) entry(row int) *store.Entry {
	if e := c.ahead[row]; e != nil {
		delete(c.ahead, row)
		c.bytes -= EntryBytes(e)
		return e
	}
	if e, ok := c.snap.entries.Get(row); ok {
		return e
	}
	id := c.snap.id(row)
	r, err := c.reader.At(c.snap.field(row, 2))
	if err != nil {
		return c.snap.entryOrFail(row, nil, err)
	}
	decoded, err := c.snap.decodeRows(&r, func(op uint64) bool { return op >= id && op-id < scanIDs })
	if room := c.snap.room; room.UsedBytes() < room.MaxBytes()/scanShare {
		c.snap.cacheRows(decoded)
	} else {
		c.keepDecoded(decoded, row)
	}
	return c.snap.entryOrFail(row, decoded[row], err)
}

// keepDecoded stores the decoded entries of rows after the present row for later calls.
func (c *scan) keepDecoded(decoded map[int]*store.Entry, present int) {
	if c.bytes > scanBytes {
		clear(c.ahead)
		c.bytes = 0
	}
	for row, e := range decoded {
		if row > present && c.ahead[row] == nil {
			c.ahead[row] = e
			c.bytes += EntryBytes(e)
		}
	}
}
