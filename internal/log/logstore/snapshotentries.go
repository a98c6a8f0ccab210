// This file reads from the log the entries whose positions are in a snapshot.

package logstore

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/store"
)

// findRowByName returns the row of the entry with this name. ok is false if the snapshot does not contain such an
// entry.
func (s *snapshot) findRowByName(name string) (row int, ok bool) {
	if s == nil {
		return 0, false
	}
	if row, ok := s.rowsByName.Load(name); ok {
		return row.(int), true
	}
	for _, id := range s.findNumbersByTextHash(sectionEntryNames, name) {
		row, ok := s.findRow(id)
		if !ok {
			s.recordError(
				fmt.Errorf("%w: it lists a name of entry %d, which it does not have", errUnusableSnapshot, id),
			)
			break
		}
		if e := s.readEntry(row); e != nil && e.Name == name {
			if s.nameLookups.Add(1)%maxCachedNames == 0 {
				s.rowsByName.Clear()
			}
			s.rowsByName.Store(name, row)
			return row, true
		}
	}
	return 0, false
}

// readEntry returns the entry in a row, or nil if it cannot be read.
func (s *snapshot) readEntry(row int) *store.Entry {
	if e, ok := s.cachedEntries.Get(row); ok {
		return e
	}
	id, offset := s.entryID(row), s.entryField(row, 2)
	if e := s.readSingleEntry(row); e != nil {
		return s.cachedEntries.Put(row, e, EntryMemorySize(e))
	}
	var es map[int]*store.Entry
	r, err := s.log.RecordAt(offset)
	if err == nil {
		// The entries of one change often have consecutive rows in the snapshot. Therefore the variable next contains
		// the row after the row that was found last, and this row is tried first.
		next := 0
		p := findOpPositions(&r, func(id uint64) (int, bool) {
			at, ok := next, next < s.len() && s.entryID(next) == id
			if !ok {
				at, ok = s.findRow(id)
			}
			next = at + 1
			return at, ok && s.entryField(at, 2) == offset
		})
		if p != nil {
			s.opPositions.Store(offset, p)
		}
		es, err = s.decodeAndCache(&r, func(op uint64) bool { return op == id })
	}
	return s.entryOrRecordError(row, es[row], err)
}

// readSingleEntry returns the entry in a row by reading only the bytes of the entry. It returns nil if the position
// of these bytes is not known, or if they do not contain the entry version that the row describes.
func (s *snapshot) readSingleEntry(row int) *store.Entry {
	p, ok := s.opPositions.Load(s.entryField(row, 2))
	if !ok {
		return nil
	}
	e := p.(*opPositions).readEntry(s.log, row)
	if e == nil {
		return nil
	}
	if e.ID != s.entryID(row) || e.Version != uint64(s.entryField(row, 1)) {
		return nil
	}
	return e
}

// readEntriesByID returns the entries with these IDs, each of which must have a row. It reads each record only once.
func (s *snapshot) readEntriesByID(ids []uint64) []*store.Entry {
	rows, es := make([]int, len(ids)), map[int]*store.Entry{}
	wanted := map[int64]map[uint64]bool{} // IDs, by the offset of the record with the entry
	for i, id := range ids {
		rows[i], _ = s.findRow(id)
		if e, ok := s.cachedEntries.Get(rows[i]); ok {
			es[rows[i]] = e
			continue
		}
		offset := s.entryField(rows[i], 2)
		if wanted[offset] == nil {
			wanted[offset] = map[uint64]bool{}
		}
		wanted[offset][id] = true
	}
	rd := s.log.NewReader()
	for _, offset := range slices.Sorted(maps.Keys(wanted)) {
		if r, err := rd.RecordAt(offset); err == nil {
			some, _ := s.decodeAndCache(&r, func(id uint64) bool { return wanted[offset][id] })
			maps.Copy(es, some)
		}
	}
	found := make([]*store.Entry, len(ids))
	for i, row := range rows {
		found[i] = s.entryOrRecordError(row, es[row], nil)
	}
	return found
}

// entryOrRecordError returns the entry e, which was read for a row of the snapshot. If e is nil, the log does not
// contain the entry where the row says. entryOrRecordError then records an error, together with err, and returns nil.
func (s *snapshot) entryOrRecordError(row int, e *store.Entry, err error) *store.Entry {
	if e == nil {
		s.recordError(errors.Join(
			fmt.Errorf(
				"%w: entry %d is not at byte %d of the log",
				errUnusableSnapshot,
				s.entryID(row),
				s.entryField(row, 2),
			),
			err,
		))
	}
	return e
}

// decodeAndCache is like decodeRows, but also caches the entries.
func (s *snapshot) decodeAndCache(r *wal.Record, isWanted func(id uint64) bool) (map[int]*store.Entry, error) {
	taken, err := decodeRows(s, r, isWanted)
	s.cacheRows(taken)
	return taken, err
}

// rowTable has a row for each entry, ordered by ID, that says where the entry is in the log.
type rowTable interface {
	entryID(row int) uint64
	entryPosition(row int) (version uint64, offset int64) // the entry's version, and the offset of its record
	findRow(id uint64) (row int, ok bool)
}

// decodeRows decodes the entries in a record of the log, and returns them by their row in the table t. It leaves out
// entries that t expects in another record. It decodes only entries with an ID for which isWanted returns true, or all
// entries if isWanted is nil.
func decodeRows(t rowTable, r *wal.Record, isWanted func(id uint64) bool) (map[int]*store.Entry, error) {
	es, err := decodeEntries(r, isWanted)
	decoded := make(map[int]*store.Entry, len(es))
	for _, e := range slices.Backward(es) { // If a record has several versions of an entry, use the last version.
		row, ok := t.findRow(e.ID)
		if !ok || decoded[row] != nil {
			continue
		}
		if version, offset := t.entryPosition(row); offset == r.FileOffset && version == e.Version {
			decoded[row] = e
		}
	}
	return decoded, err
}

// cacheRows adds decoded entries to the cache. The keys of decodedEntries are rows of the snapshot. If the cache
// already contains the entry of a row, cacheRows replaces the entry in decodedEntries by the cached one, so that the
// entry is only once in memory.
func (s *snapshot) cacheRows(decodedEntries map[int]*store.Entry) {
	for row, e := range decodedEntries {
		decodedEntries[row] = s.cachedEntries.Put(row, e, EntryMemorySize(e))
	}
}

// EntryMemorySize returns the approximate number of bytes that an entry needs in memory.
func EntryMemorySize(e *store.Entry) int {
	n := 320 + len(e.Name) + len(e.Content)
	for _, a := range e.Aliases {
		n += 16 + len(a)
	}
	for _, l := range e.Labels {
		n += 32 + len(l.Key) + len(l.Value)
	}
	return n
}
