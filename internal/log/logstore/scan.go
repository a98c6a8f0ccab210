// This file reads most entries of a snapshot in row order, with bounded memory.

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

	// A scan adds entries to the cache only until 1/scanCacheShareDivisor of the cache is used. Otherwise a scan of a
	// large memory would fill the cache with entries that are read only once.
	scanCacheShareDivisor = 8
)

// rowScan reads a table's entries in ascending row order. It is not safe for concurrent use.
type rowScan struct {
	table             rowTable
	cachingSnapshot   *snapshot // the snapshot that is read, if it caches entries (nil otherwise)
	reader            *wal.Reader
	prefetchedEntries map[int]*store.Entry // entries that were decoded in advance, by row
	prefetchedBytes   int                  // size of prefetchedEntries in bytes
	skipsCacheWrites  bool                 // the scan uses cached entries, but adds none to the cache
}

// newRowScan returns a scan of a snapshot's entries.
func newRowScan(s *snapshot) *rowScan {
	return &rowScan{table: s, cachingSnapshot: s, reader: s.log.NewReader(), prefetchedEntries: map[int]*store.Entry{}}
}

// readEntry returns the entry in a row of the table. It uses a cached entry if possible. Otherwise it reads the log
// record that contains the entry. If the record does not contain an entry for this row, readEntry returns nil.
func (c *rowScan) readEntry(row int) (*store.Entry, error) {
	if e := c.prefetchedEntries[row]; e != nil {
		delete(c.prefetchedEntries, row)
		c.prefetchedBytes -= EntryMemorySize(e)
		return e, nil
	}
	if c.cachingSnapshot != nil {
		if e, ok := c.cachingSnapshot.cachedEntries.Get(row); ok {
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
	if c.mayAddToCache() {
		c.cachingSnapshot.cacheRows(decoded)
	} else {
		c.keepPrefetchedEntries(decoded, row)
	}
	return decoded[row], err
}

// keepPrefetchedEntries stores the decoded entries whose rows come after currentRow, because the scan will need them
// later. If the stored entries have more than maxScanBytes bytes, it first deletes all of them.
func (c *rowScan) keepPrefetchedEntries(decodedEntries map[int]*store.Entry, currentRow int) {
	if c.prefetchedBytes > maxScanBytes {
		clear(c.prefetchedEntries)
		c.prefetchedBytes = 0
	}
	for row, e := range decodedEntries {
		if row > currentRow && c.prefetchedEntries[row] == nil {
			c.prefetchedEntries[row] = e
			c.prefetchedBytes += EntryMemorySize(e)
		}
	}
}

// mayAddToCache reports whether the scan may add entries to the cache.
func (c *rowScan) mayAddToCache() bool {
	if c.cachingSnapshot == nil || c.skipsCacheWrites {
		return false
	}
	room := c.cachingSnapshot.cacheBudget
	return room.UsedBytes() < room.MaxBytes()/scanCacheShareDivisor
}
