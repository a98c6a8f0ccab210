// This file reads most entries of a snapshot in order, with bounded memory.

package logstore

import (
	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/store"
)

const (
	// scanBatchIDs is the number of IDs that a scan decodes at once from a record. A record may contain
	// more entries than fit into memory.
	scanBatchIDs = 8192

	// maxScanBytes is the size of the entries that a scan decodes in advance.
	maxScanBytes = 16 << 20

	// scanCacheDivisor is the part of the cache up to which scans add entries to the cache. Otherwise a scan of
	// a large memory would fill the cache with entries that are read only once.
	scanCacheDivisor = 8
)

// rowScan reads the entries of a snapshot in ascending order of their rows. It is not safe for concurrent
// use.
type rowScan struct {
	snapshot     *snapshot
	reader       *wal.Reader
	decodedAhead map[int]*store.Entry // entries that were decoded together with an earlier row, by row
	aheadSize    int                  // size of ahead
}

func newRowScan(s *snapshot) *rowScan {
	return &rowScan{snapshot: s, reader: s.log.NewReader(), decodedAhead: map[int]*store.Entry{}}
}

// readEntry returns the entry of a row, or nil if it cannot be read.
func (c *rowScan) readEntry(row int) *store.Entry {
	if e := c.decodedAhead[row]; e != nil {
		delete(c.decodedAhead, row)
		c.aheadSize -= EntryBytes(e)
		return e
	}
	if e, ok := c.snapshot.cachedEntries.Get(row); ok {
		return e
	}
	id := c.snapshot.entryID(row)
	r, err := c.reader.RecordAt(c.snapshot.entryField(row, 2))
	if err != nil {
		return c.snapshot.entryOrFail(row, nil, err)
	}
	decoded, err := c.snapshot.decodeRows(&r, func(op uint64) bool { return op >= id && op-id < scanBatchIDs })
	if room := c.snapshot.cacheBudget; room.UsedBytes() < room.MaxBytes()/scanCacheDivisor {
		c.snapshot.cacheRows(decoded)
	} else {
		c.keepDecoded(decoded, row)
	}
	return c.snapshot.entryOrFail(row, decoded[row], err)
}

// keepDecoded stores the decoded entries of rows after the present row for later calls.
func (c *rowScan) keepDecoded(decoded map[int]*store.Entry, present int) {
	if c.aheadSize > maxScanBytes {
		clear(c.decodedAhead)
		c.aheadSize = 0
	}
	for row, e := range decoded {
		if row > present && c.decodedAhead[row] == nil {
			c.decodedAhead[row] = e
			c.aheadSize += EntryBytes(e)
		}
	}
}
