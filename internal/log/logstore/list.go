// This file lists and counts the entries of a store.

package logstore

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"hash/maphash"
	"iter"
	"math"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/base/logpos"
	"github.com/oxbow-memory/oxbow/internal/base/pagefile"
	"github.com/oxbow-memory/oxbow/internal/log/keydir"
	"github.com/oxbow-memory/oxbow/store"
)

// singleReadShareDivisor limits how many entries are read one by one: fewer than 1 in 16 of all. If more are needed,
// the log is read sequentially, which needs fewer system calls.
const singleReadShareDivisor = 16

// entryListing contains all entries that a store had at one moment.
type entryListing struct {
	base                 *snapshot
	hiddenRows           bitmap
	selectedRows         []int // rows of the snapshot that a filter may select, ascending (nil means all rows)
	entriesNotInSnapshot []*store.Entry
	lastSeq              uint64   // number of the last change
	sequentialScan       *rowScan // scan that reads most rows of base in order (nil before its first use)
	bypassesCache        bool     // listing the entries does not add entries or rows to caches
}

// openListing returns a listing of the entries that a filter may select. The listing may contain further entries, so
// the caller must still check each entry with the filter. The caller must close the listing.
func (d *DB) openListing(ctx context.Context, f store.Filter) (l *entryListing, err error) {
	err = d.withState(ctx, func(st *state) {
		if l != nil {
			l.close() // This is a second call, because the snapshot of the first call is damaged.
		}
		p, _ := logpos.DecodePosition(d.recentDeltas.newestPosition)
		l = &entryListing{base: st.base.keepFilesOpen(), hiddenRows: slices.Clone(st.hiddenRows), lastSeq: p.Seq}
		if selectsOnlyByRareLabel(f) {
			l.entriesNotInSnapshot = slices.Clone(st.rareLabelEntries)
		} else {
			l.entriesNotInSnapshot = slices.Clone(st.entriesNotInSnapshotByID)
		}
	})
	if err != nil {
		if l != nil {
			l.close()
		}
		return nil, err
	}
	l.excludeUnselectedRows(f)
	return l, nil
}

func (l *entryListing) close() { l.base.release() }

// excludeUnselectedRows removes from the listing those snapshot rows whose entries the filter cannot select.
func (l *entryListing) excludeUnselectedRows(f store.Filter) {
	if l.base == nil {
		return
	}
	if i := slices.IndexFunc(f.Terms, func(t store.Term) bool { return t.Key == "name" && !t.Not }); i >= 0 {
		l.selectedRows = l.findRowsByName(f.Terms[i].Values)
		return
	}
	if part, _ := snapshotFilterPart(f); !part.IsZero() {
		l.selectedRows = []int{}
		// First find out whether the filter can select a row at all. A set of rows for a large snapshot is large.
		if isFormSelected, isPossible := l.base.selectForms(part); isPossible {
			l.selectedRows = slices.AppendSeq(l.selectedRows, l.base.selectRowsOfForms(part, isFormSelected).all)
		}
	}
}

// findRowsByName returns the snapshot rows of the entries whose name or alias occurs in the list words. It compares
// only hashes, so it may also return rows of other entries.
func (l *entryListing) findRowsByName(words []string) []int {
	rows := []int{}
	for _, w := range store.AllNameForms(words) {
		ids := l.base.findNumbersByTextHash(sectionEntryNames, w)
		ids = append(ids, l.base.findNumbersByTextHash(sectionAliases, w)...)
		for _, id := range ids {
			if row, ok := l.base.findRow(id); ok {
				rows = append(rows, row)
			}
		}
	}
	slices.Sort(rows)
	return slices.Compact(rows)
}

// selectRows returns the set of the rows whose entries a filter selects. The filter must use only facts that the
// snapshot contains: the kind, the times, and the labels in the entries' label sets.
func (s *snapshot) selectRows(f store.Filter) bitmap {
	isFormSelected, isPossible := s.selectForms(f)
	if !isPossible {
		return newBitmap(s.len())
	}
	return s.selectRowsOfForms(f, isFormSelected)
}

// selectForms returns, for each label set, whether the filter selects entries with this label set. The result
// isFormSelected is nil if the filter selects all label sets. The result isPossible is false if the filter certainly
// selects no row of the snapshot.
func (s *snapshot) selectForms(f store.Filter) (isFormSelected []bool, isPossible bool) {
	if !s.mayHaveKinds(f) {
		return nil, false
	}
	if len(f.Terms) == 0 {
		return nil, true // The label sets need not be loaded.
	}
	isFormSelected = s.selectLabelSets(f)
	if !slices.Contains(isFormSelected, true) {
		return nil, false
	}
	if !slices.Contains(isFormSelected, false) {
		return nil, true
	}
	return isFormSelected, true
}

// selectRowsOfForms returns the set of the rows whose entries a filter selects. The argument isFormSelected is the
// result of selectForms.
func (s *snapshot) selectRowsOfForms(f store.Filter, isFormSelected []bool) bitmap {
	rows := newBitmap(s.len())
	hasRow := s.len() > 0
	if isFormSelected == nil {
		rows.setFirstBits(s.len())
	} else {
		hasRow = s.addRowsWithLabelSets(rows, isFormSelected)
	}
	if hasRow && !(f.After.IsZero() && f.Before.IsZero()) {
		s.removeRowsOutsideTimes(rows, f)
	}
	return rows
}

// addRowsWithLabelSets adds the rows whose label sets are selected to a set of rows. It returns whether it added a row.
func (s *snapshot) addRowsWithLabelSets(rows bitmap, isFormSelected []bool) (hasAdded bool) {
	row := 0
	s.tables.EachCachedPage(sectionEntrySummaries, func(heads []byte) {
		for ; len(heads) > 0; heads = heads[keydir.RowSize[sectionEntrySummaries]:] {
			number := int(binary.LittleEndian.Uint32(heads))
			switch {
			case number >= len(isFormSelected):
				s.recordLabelSetError(row)
			case isFormSelected[number]:
				rows.setBit(row)
				hasAdded = true
			}
			row++
		}
	})
	return hasAdded
}

// removeRowsOutsideTimes removes the rows whose entries were not created in the filter's time range from a set of rows.
// It reads the table of entries page by page and does not cache the pages, because the table is large.
func (s *snapshot) removeRowsOutsideTimes(rows bitmap, f store.Filter) {
	after, before := clampedNanoseconds(f.After), int64(math.MaxInt64)
	if !f.Before.IsZero() {
		before = clampedNanoseconds(f.Before)
	}
	row := 0
	// Ignore the error, because the caller gets it from snapshotReadError.
	_ = s.tables.EachTablePage(sectionEntries, func(entries []byte) {
		for ; len(entries) > 0; entries = entries[keydir.RowSize[sectionEntries]:] {
			const createdField = 8 * 3
			created := int64(binary.LittleEndian.Uint64(entries[createdField:]))
			if created < after || created >= before {
				rows.clearBit(row)
			}
			row++
		}
	})
}

// mayHaveKinds reports whether the snapshot may have entries with the kinds that a filter requires.
func (s *snapshot) mayHaveKinds(f store.Filter) bool {
	kinds, ok := s.readKindNames()
	if !ok {
		return true
	}
	isPresent := func(value string) bool { return slices.Contains(kinds, value) }
	return !slices.ContainsFunc(f.Terms, func(t store.Term) bool {
		isRequired := t.Key == "kind" && !t.Not
		return isRequired && !slices.ContainsFunc(t.Values, isPresent)
	})
}

// readKindNames returns the kinds of the snapshot's entries. It reads only the first page of the section with entry
// counts, because this section begins with the counts for each kind. If the section is empty, if the counts for the
// kinds do not fit into one page, or if they cannot be decoded, ok is false.
func (s *snapshot) readKindNames() (kinds []string, ok bool) {
	const contentSize = 8
	size := s.head.sectionCounts[sectionEntryTotals]
	if size < contentSize {
		return nil, false
	}
	rest := string(s.tables.Page(sectionEntryTotals, 0)[contentSize:min(pagefile.PageDataBytes, size)])
	for len(rest) > 0 {
		key, afterKey, hasKey := keydir.CutLengthAndText(rest)
		if hasKey && key != "kind" {
			return kinds, true
		}
		value, afterValue, hasValue := keydir.CutLengthAndText(afterKey)
		if !hasValue || len(afterValue) < 8 {
			return nil, false
		}
		kinds, rest = append(kinds, value), afterValue[8:]
	}
	return kinds, size <= pagefile.PageDataBytes
}

// eachEntry yields the entries in order of ID. At an entry that cannot be read, it yields nil and ends.
func (l *entryListing) eachEntry(yield func(*store.Entry) bool) {
	order := l.entriesNotInSnapshot
	for row := range l.eachSnapshotRow() {
		if l.hiddenRows.hasBit(row) {
			continue
		}
		for id := l.base.entryID(row); len(order) > 0 && order[0].ID < id; order = order[1:] {
			if !yield(order[0]) {
				return
			}
		}
		e := l.readRow(row)
		if !yield(e) || e == nil {
			return
		}
	}
	for _, e := range order {
		if !yield(e) {
			return
		}
	}
}

// readRow returns the entry in a row, or nil if it cannot be read.
func (l *entryListing) readRow(row int) *store.Entry {
	if l.selectedRows != nil && len(l.selectedRows) < l.base.len()/singleReadShareDivisor {
		return l.base.readEntry(row)
	}
	if l.sequentialScan == nil {
		l.sequentialScan = newRowScan(l.base)
		l.sequentialScan.skipsCacheWrites = l.bypassesCache
	}
	e, err := l.sequentialScan.readEntry(row)
	return l.base.entryOrRecordError(row, e, err)
}

func (l *entryListing) eachSnapshotRow() iter.Seq[int] {
	switch {
	case l.base == nil:
		return func(func(int) bool) {}
	case l.selectedRows != nil:
		return slices.Values(l.selectedRows)
	case l.bypassesCache:
		return l.eachRowWithoutCache
	}
	return func(yield func(int) bool) {
		l.base.tables.LoadTable(sectionEntries)
		for row := range l.base.len() {
			if !yield(row) {
				return
			}
		}
	}
}

// eachRowWithoutCache yields the numbers of all rows of the snapshot. It loads the pages of the entry table in small
// groups, and releases each group after use, so that the pages do not fill the memory.
func (l *entryListing) eachRowWithoutCache(yield func(int) bool) {
	const rowsAtOnce = 1 << 14
	for start := 0; start < l.base.len(); start += rowsAtOnce {
		end := min(start+rowsAtOnce, l.base.len())
		l.base.tables.LoadRows(sectionEntries, start, end)
		for row := start; row < end; row++ {
			if !yield(row) {
				return
			}
		}
		l.base.tables.ReleaseRows(sectionEntries, start, end)
	}
}

// Entries implements [store.Store].
func (d *DB) Entries(ctx context.Context, f store.Filter) iter.Seq2[store.Entry, error] {
	return func(yield func(store.Entry, error) bool) {
		l, err := d.openListing(ctx, f)
		if err != nil {
			yield(store.Entry{}, err)
			return
		}
		defer l.close()
		d.yieldListedEntries(ctx, l, f, yield)
	}
}

// hashEntries returns a hash of each entry in the listing, ordered by ID (see hashEntry).
func (l *entryListing) hashEntries(ctx context.Context, d *DB, seed maphash.Seed) (hashes []uint64, err error) {
	l.bypassesCache = true
	hashes = make([]uint64, 0, l.base.len()+len(l.entriesNotInSnapshot))
	d.yieldListedEntries(ctx, l, store.Filter{}, func(e store.Entry, yerr error) bool {
		err = yerr
		if err == nil {
			hashes = append(hashes, hashEntry(seed, &e))
		}
		return err == nil
	})
	return hashes, err
}

// EachVersion calls fn with the ID and the version of each entry, ordered by ID, until fn returns false.
func (d *DB) EachVersion(ctx context.Context, fn func(id, version uint64) bool) error {
	l, err := d.openListing(ctx, store.Filter{})
	if err != nil {
		return err
	}
	defer l.close()
	last, more := uint64(0), true
	use := func(id, version uint64) {
		if more {
			last, more = id, fn(id, version)
		}
	}
	changed := l.entriesNotInSnapshot
	row := 0
	if l.base != nil {
		err = l.base.tables.EachTablePage(sectionEntries, func(rows []byte) {
			for ; more && len(rows) > 0; rows, row = rows[keydir.RowSize[sectionEntries]:], row+1 {
				id := binary.LittleEndian.Uint64(rows)
				if l.hiddenRows.hasBit(row) {
					continue
				}
				for ; len(changed) > 0 && changed[0].ID < id; changed = changed[1:] {
					use(changed[0].ID, changed[0].Version)
				}
				use(id, binary.LittleEndian.Uint64(rows[8:]))
			}
		})
	}
	if err != nil {
		// The snapshot could not be read, so read the remaining entries from the whole log.
		st, err := d.stateAtForReader(l.lastSeq)
		if err != nil {
			return err
		}
		i, _ := st.searchChangedEntry(last + 1)
		changed = st.entriesNotInSnapshotByID[i:]
	}
	for _, e := range changed {
		use(e.ID, e.Version)
	}
	return nil
}

// yieldListedEntries yields the entries of a listing that the filter selects. If the snapshot of the listing cannot be
// read, it reads the remaining entries from the whole log.
func (d *DB) yieldListedEntries(
	ctx context.Context,
	l *entryListing,
	f store.Filter,
	yield func(store.Entry, error) bool,
) {
	readStateFromLog := func() (*state, error) { return d.stateAtForReader(l.lastSeq) }
	yieldListedEntries(ctx, l, f, readStateFromLog, yield)
}

// yieldListedEntries yields the entries of a listing that the filter selects. If the snapshot of the listing cannot be
// read, yieldListedEntries yields the remaining entries of the state that the function readStateFromLog returns. This
// state must be the state of the listing, without a snapshot.
func yieldListedEntries(
	ctx context.Context,
	l *entryListing,
	f store.Filter,
	readStateFromLog func() (*state, error),
	yield func(store.Entry, error) bool,
) {
	last, stopped := uint64(0), false
	yieldEntries(ctx, l.eachEntry, f, func(e store.Entry, err error) bool {
		last = e.ID
		stopped = !yield(e, err) || err != nil
		return !stopped
	})
	if stopped || l.base.snapshotReadError() == nil {
		return
	}
	st, err := readStateFromLog()
	if err != nil {
		yield(store.Entry{}, err)
		return
	}
	i, found := st.searchChangedEntry(last)
	if found {
		i++
	}
	yieldEntries(ctx, slices.Values(st.entriesNotInSnapshotByID[i:]), f, yield)
}

// Stats implements [store.Counter].
func (d *DB) Stats(ctx context.Context) (store.Stats, error) {
	if err := d.Refresh(ctx); err != nil {
		return store.Stats{}, err
	}
	d.logmu.RLock() // Holding logmu keeps the log and the state from changing.
	defer d.logmu.RUnlock()
	chain := d.log.LastChainHash()
	return store.Stats{
		Path:    d.path,
		Entries: d.st.len(),
		Bytes:   d.log.Size(),
		Used:    d.log.EndOffset(),
		First:   d.lastDroppedChange + 1,
		Last:    d.log.LastSeq(),
		Head:    hex.EncodeToString(chain[:]),
	}, nil
}

// Summary returns the number of entries, their contents' total size in bytes, the entry count for each label, and the
// first and the last creation time. It does not read all entries, because most of the numbers are in the snapshot.
func (d *DB) Summary(ctx context.Context) (out store.Summary, err error) {
	err = d.withState(ctx, func(st *state) {
		sum := st.computeEntryTotals()
		out = store.Summary{Entries: st.len(), Content: sum.contentBytes, Counts: sum.entryCountsByLabel}
		for _, e := range st.entriesNotInSnapshotByID {
			extendCreationRange(&out, e.Created)
		}
		if st.base == nil {
			return
		}
		st.base.tables.LoadTable(sectionEntries)
		first := -1
		last := -1
		low := int64(math.MaxInt64)
		high := int64(math.MinInt64)
		for row := range st.base.len() {
			if st.hiddenRows.hasBit(row) {
				continue
			}
			created := st.base.entryField(row, 3)
			if created <= low {
				first, low = row, created
			}
			if created >= high {
				last, high = row, created
			}
		}
		for _, row := range []int{first, last} {
			if row >= 0 {
				if e := st.base.readEntry(row); e != nil {
					extendCreationRange(&out, e.Created)
				}
			}
		}
	})
	return out, err
}

// entryIDAndWriteTime is the ID of an entry, and the time when its present version was written.
type entryIDAndWriteTime struct {
	writeUnixNano int64
	id            uint64
}

func (a entryIDAndWriteTime) compare(b entryIDAndWriteTime) int {
	return cmp.Or(cmp.Compare(b.writeUnixNano, a.writeUnixNano), cmp.Compare(b.id, a.id))
}

// Newest is like [store.Newest]. If the filter has only conditions on kind, project, tag and creation time, it reads
// only the entries of the page.
func (d *DB) Newest(
	ctx context.Context,
	f store.Filter,
	offset, limit int,
) (page []store.Entry, total int, err error) {
	if !IsSnapshotFilter(f) {
		return store.Newest(ctx, d, f, offset, limit)
	}
	err = d.withState(ctx, func(st *state) {
		page, total = nil, 0
		var listed []entryIDAndWriteTime // entries on the page, and some before the page
		for _, e := range st.entriesNotInSnapshotByID {
			if f.Match(e) {
				listed = append(listed, entryIDAndWriteTime{e.Updated.UnixNano(), e.ID})
			}
		}
		total = len(listed)
		// The page is a part of the list of all matching entries, ordered from the newest to the oldest. The list
		// contains rows of the snapshot and the entries in listed, which are not in the snapshot. At most len(listed)
		// of the entries before the page are not in the snapshot, so at least offset-len(listed) rows come before the
		// page. The variable skipped is the number of these rows. They are only counted.
		skipped := max(offset-len(listed), 0)
		selectedRows, found := st.selectVisibleRows(f)
		for row := range st.snapshotRowsNewestFirst(selectedRows, skipped, min(found, offset+limit)) {
			listed = append(listed, entryIDAndWriteTime{st.base.entryField(row, 4), st.base.entryID(row)})
		}
		total += found
		slices.SortFunc(listed, entryIDAndWriteTime.compare)
		listed = listed[min(offset-skipped, len(listed)):]
		for _, w := range listed[:min(limit, len(listed))] {
			if e := st.findByID(w.id); e != nil {
				page = append(page, *e)
			}
		}
	})
	return page, total, err
}

// selectVisibleRows returns the set of the snapshot's rows that a filter selects and that no later change has hidden,
// and the number of these rows. If the filter is zero, the set is nil. The filter may contain only conditions that can
// be decided from the snapshot, without reading entries.
func (st *state) selectVisibleRows(f store.Filter) (rows bitmap, count int) {
	if f.IsZero() || st.base == nil {
		return nil, st.base.len() - st.hiddenRows.count()
	}
	rows = st.base.selectRows(f)
	rows.removeBits(st.hiddenRows)
	return rows, rows.count()
}

// snapshotRowsNewestFirst yields a part of the rows in a set, the most recently written first. It leaves out the rows
// whose index in this order is below startIndex, and ends before the row with the index endIndex. If the set is nil, it
// yields all rows that no later change has hidden.
func (st *state) snapshotRowsNewestFirst(rows bitmap, startIndex, endIndex int) iter.Seq[int] {
	return func(yield func(int) bool) {
		index := 0
		for rank := 0; rank < st.base.len() && index < endIndex; rank++ {
			row := st.base.rowAtNewestRank(rank)
			isSelected := rows == nil || rows.hasBit(row)
			if !isSelected || st.hiddenRows.hasBit(row) {
				continue
			}
			if index >= startIndex && !yield(row) {
				return
			}
			index++
		}
	}
}
