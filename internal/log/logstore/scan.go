// This file reads most entries of a snapshot in the order of their rows, with bounded memory.

package logstore

import (
	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/store"
)

const (
	// scanBatchIDs is the number of IDs whose entries a scan decodes from a record at once. A record may contain more
	// entries than fit into memory.
	scanBatchIDs = 8192

	// maxScanBytes is the maximum size of the entries that a scan decodes in advance.
	maxScanBytes = 16 << 20

	// A scan adds entries to the cache only until 1/scanCacheDivisor of the cache is used. Otherwise a scan of a large
	// memory would fill the cache with entries that are read only once.
	scanCacheDivisor = 8
)

// rowScan reads a table's entries in ascending row order. It is not safe for concurrent use.
type rowScan struct {
	table        rowTable
	cache        *snapshot // the snapshot that is read, if it caches entries (nil otherwise)
	reader       *wal.Reader
	decodedAhead map[int]*store.Entry // entries that were decoded in advance, by row
	aheadSize    int                  // size of decodedAhead in bytes
	addsNothing  bool                 // the scan uses cached entries, but adds none to the cache
}

// newRowScan returns a scan of a snapshot's entries.
func newRowScan(s *snapshot) *rowScan {
	return &rowScan{table: s, cache: s, reader: s.log.NewReader(), decodedAhead: map[int]*store.Entry{}}
}

// readEntry returns the entry of a row, or nil if the row's record does not contain it.
func (c *rowScan) readEntry(row int) (*store.Entry, error) {
	if e := c.decodedAhead[row]; e != nil {
		delete(c.decodedAhead, row)
		c.aheadSize -= EntryBytes(e)
		return e, nil
	}
	if c.cache != nil {
		if e, ok := c.cache.cachedEntries.Get(row); ok {
			return e, nil
		}
	}
	id := c.table.entryID(row)
	_, offset := c.table.entryPosition(row)
	r, err := c.reader.RecordAt(offset)
	if err != nil {
		return nil, err
	}
	decoded, err := decodeRows(c.table, &r, func(op uint64) bool { return op >= id && op-id < scanBatchIDs })
	if c.hasCacheRoom() {
		c.cache.cacheRows(decoded)
	} else {
		c.keepDecodedAhead(decoded, row)
	}
	return decoded[row], err
}

// keepDecodedAhead keeps the decoded entries whose rows come after currentRow, because the scan will need them later.
func (c *rowScan) keepDecodedAhead(decoded map[int]*store.Entry, currentRow int) {
	if c.aheadSize > maxScanBytes {
		clear(c.decodedAhead)
		c.aheadSize = 0
	}
	for row, e := range decoded {
		if row > currentRow && c.decodedAhead[row] == nil {
			c.decodedAhead[row] = e
			c.aheadSize += EntryBytes(e)
		}
	}
}

// hasCacheRoom reports whether the scan may add entries to the cache.
func (c *rowScan) hasCacheRoom() bool {
	if c.cache == nil || c.addsNothing {
		return false
	}
	room := c.cache.cacheBudget
	return room.UsedBytes() < room.MaxBytes()/scanCacheDivisor
}
