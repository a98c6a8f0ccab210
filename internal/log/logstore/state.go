// This file implements the state of a store: its entries after a certain change. A change is applied to the state in
// the same way whether it was read from the log or was just made.

package logstore

import (
	"cmp"
	"context"
	"encoding/binary"
	"iter"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/store"
)

// When work is estimated, this many bytes of content count as much as one written entry.
const contentBytesPerOp = 4096

// minRememberedOpIDs is the minimum number of op IDs that are remembered.
const minRememberedOpIDs = 4096

// state contains a store's entries after a change. They are the entries in a snapshot, if there is one, and the
// entries that changed after the snapshot. Entries are immutable: a new version is a new Entry. If the snapshot cannot
// be read, methods return zero values, and snapshotReadError returns the error.
type state struct {
	base       *snapshot // snapshot file that contains the older entries (nil if there is no snapshot)
	hiddenRows bitmap    // rows of the snapshot whose entries were replaced or removed since

	changedEntriesByName     map[string]*store.Entry // entries that changed after base
	entriesNotInSnapshotByID []*store.Entry          // the same entries, ordered by ID
	largeChange              *largeChange            // the change that is being applied, if it is large
	// names of the removed entries, each with the removing change's number
	removedNames     map[string]uint64
	nextEntryID      uint64
	rareLabelEntries []*store.Entry // changed entries that are quarantined, suspect or tainted, ordered by ID
	// changed entries by alias, ordered by ID (a state that is only read, such as a frozen one, need not have this map)
	changedByAlias map[string][]*store.Entry
	// amount of work to read the changes after the snapshot: the number of written entries, plus one for each
	// contentBytesPerOp bytes of their contents
	opsSinceBase int

	opIDs         map[string]opIDWithChange // remembered op IDs with their changes, by OpIDKey
	opIDKeysByAge []string                  // keys of opIDs, oldest first
}

func newState() *state {
	return &state{
		changedEntriesByName: map[string]*store.Entry{},
		changedByAlias:       map[string][]*store.Entry{},
		removedNames:         map[string]uint64{},
		nextEntryID:          1,
		opIDs:                map[string]opIDWithChange{},
	}
}

// withNewerSnapshot returns a state that contains the same entries as st, but is based on the newer snapshot s. The
// result keeps in memory only the changes after s. It shares the map opIDs with st, so only one of the two states may
// be changed afterwards.
func (st *state) withNewerSnapshot(s *snapshot) *state {
	n := newState()
	n.base, n.hiddenRows = s, newBitmap(s.len())
	n.nextEntryID = st.nextEntryID
	n.opIDs = st.opIDs
	n.opIDKeysByAge = st.opIDKeysByAge
	for _, e := range st.entriesNotInSnapshotByID {
		if e.Version > s.head.lastSeq {
			n.putEntry(e)
			n.opsSinceBase++
		}
	}
	for name, seq := range st.removedNames {
		if seq <= s.head.lastSeq {
			continue
		}
		if row, ok := n.snapshotRowOf(name); ok {
			n.hiddenRows.setBit(row)
		}
		n.removedNames[name] = seq
		n.opsSinceBase++
	}
	return n
}

// snapshotReadError returns an error if reading the snapshot has failed earlier.
func (st *state) snapshotReadError() error { return st.base.snapshotReadError() }

// len returns the number of entries.
func (st *state) len() int {
	return st.base.len() - st.hiddenRows.count() + len(st.entriesNotInSnapshotByID)
}

// findByName returns the entry with this name, or nil if it does not exist.
func (st *state) findByName(name string) *store.Entry {
	if e := st.changedEntriesByName[name]; e != nil {
		return e
	}
	if row, ok := st.snapshotRowOf(name); ok {
		return st.base.readEntry(row)
	}
	return nil
}

// snapshotRowOf returns the row of the snapshot that contains the entry with this name. ok is false if the snapshot
// does not contain the entry, or if the entry was replaced or removed since.
func (st *state) snapshotRowOf(name string) (row int, ok bool) {
	if st.base == nil || st.changedEntriesByName[name] != nil {
		return 0, false
	}
	if _, gone := st.removedNames[name]; gone {
		return 0, false
	}
	row, ok = st.base.findRowByName(name)
	return row, ok && !st.hiddenRows.hasBit(row)
}

// findByID returns the entry with this ID, or nil if it does not exist.
func (st *state) findByID(id uint64) *store.Entry {
	if i, found := st.searchChangedEntry(id); found {
		return st.entriesNotInSnapshotByID[i]
	}
	if row, ok := st.base.findRow(id); ok && !st.hiddenRows.hasBit(row) {
		return st.base.readEntry(row)
	}
	return nil
}

// entriesWithAlias returns the entries with this alias.
func (st *state) entriesWithAlias(alias string) (es []*store.Entry) {
	return append(st.findSnapshotEntriesByAlias(alias), st.changedByAlias[alias]...)
}

// addAliases adds the aliases of a changed entry to changedByAlias.
func (st *state) addAliases(e *store.Entry) {
	for _, alias := range e.Aliases {
		es := st.changedByAlias[alias]
		if i, found := searchByID(es, e.ID); !found {
			st.changedByAlias[alias] = slices.Insert(es, i, e)
		}
	}
}

// removeAliases removes the aliases of the changed entry with this ID from changedByAlias. The entry must not have been
// replaced or removed yet. If no changed entry has the ID, removeAliases does nothing.
func (st *state) removeAliases(id uint64) {
	e := st.findChangedByID(id)
	if e == nil {
		return
	}
	for _, alias := range e.Aliases {
		es := st.changedByAlias[alias]
		i, found := searchByID(es, id)
		switch {
		case !found: // The entry has the alias twice.
		case len(es) == 1:
			delete(st.changedByAlias, alias)
		default:
			// The key of the map may be a part of the removed entry's record. Use the alias of another entry instead,
			// so that the record is freed.
			es = slices.Delete(es, i, i+1)
			kept := es[0].Aliases[slices.Index(es[0].Aliases, alias)]
			delete(st.changedByAlias, alias)
			st.changedByAlias[kept] = es
		}
	}
}

// findChangedByID returns the entry with this ID if it changed after the snapshot. Otherwise it returns nil. While a
// large change is being applied, its entries are not in entriesNotInSnapshotByID yet, so findChangedByID first searches
// st.largeChange.
func (st *state) findChangedByID(id uint64) *store.Entry {
	if st.largeChange != nil {
		if e, found := st.largeChange.entriesByID[id]; found {
			return e
		}
	}
	if i, found := st.searchChangedEntry(id); found {
		return st.entriesNotInSnapshotByID[i]
	}
	return nil
}

// findSnapshotEntriesByAlias returns the entries with this alias that are in the snapshot and have not changed since.
func (st *state) findSnapshotEntriesByAlias(alias string) (es []*store.Entry) {
	if st.base != nil {
		for _, id := range st.base.findNumbersByTextHash(sectionAliases, alias) {
			if row, ok := st.base.findRow(id); ok && !st.hiddenRows.hasBit(row) {
				es = append(es, st.base.readEntry(row)) // The entry is nil if it cannot be read.
			}
		}
	}
	return slices.DeleteFunc(es, func(e *store.Entry) bool { return e == nil || !slices.Contains(e.Aliases, alias) })
}

// lastChangeNumber returns the number of the last change that wrote or removed an entry with this name, or 0 if such a
// change does not exist.
func (st *state) lastChangeNumber(name string) uint64 {
	if e := st.findByName(name); e != nil {
		return e.Version
	}
	if seq, ok := st.removedNames[name]; ok {
		return seq
	}
	return st.base.lastRemovalSeq(name)
}

// applyRecord implements recordApplier.
func (st *state) applyRecord(r *wal.Record, v *recordBody) ([]store.Delta, error) {
	if st.base != nil && isRedactionOrRecovery(r, v) {
		// The record r shows that earlier records may have changed, so the snapshot may contain outdated entries.
		return nil, errUnusableSnapshot
	}
	deltas := st.applyChange(r.Seq, time.Unix(0, r.TimeUnixNano).UTC(), v)
	return deltas, st.snapshotReadError()
}

// isRedactionOrRecovery reports whether a redaction or a recovery wrote the record r. After such a record, earlier
// records in the log may have changed since they were last read. The result is false for a compaction and for a change
// that reverts other changes, because these do not modify earlier records. It is true for a record of any other type
// than a change.
func isRedactionOrRecovery(r *wal.Record, v *recordBody) bool {
	if r.Type != recordTypeChange {
		return true
	}
	if len(v.ops) > 0 {
		return slices.ContainsFunc(v.ops, func(p loggedOp) bool { return p.isContentErased })
	}
	isCompaction := v.initialEntriesHash != nil && strings.HasPrefix(v.note, compactionNote)
	return !isCompaction && len(v.revertedSeqs) == 0
}

// applyChange applies a change to the state and returns how the change affected entries.
func (st *state) applyChange(seq uint64, changeTime time.Time, v *recordBody) []store.Delta {
	v.setWriteMetadata(seq, changeTime)
	st.opsSinceBase += len(v.ops)
	for i := range v.ops {
		st.opsSinceBase += len(v.ops[i].entry.Content) / contentBytesPerOp
	}
	if st.movesManyEntries(v) {
		st.largeChange = &largeChange{entriesByID: map[uint64]*store.Entry{}}
		defer st.endLargeChange()
	}
	deltas := make([]store.Delta, 0, len(v.ops))
	for i := range v.ops {
		p := &v.ops[i]
		e := p.entry
		switch {
		case p.isContentErased:
			// A redaction has erased this version of the entry. Skip the op, because a later change replaced or
			// removed the entry.
		case p.verb == store.VerbRemove:
			st.removeEntry(e, seq)
			deltas = append(deltas, store.Delta{ID: e.ID})
		default:
			// An undo can restore an entry although another entry has its name now. The entry that has the name now is
			// then removed.
			if old := st.putEntry(e); old != 0 {
				deltas = append(deltas, store.Delta{ID: old})
			}
			deltas = append(deltas, store.Delta{ID: e.ID, Entry: e})
		}
		st.nextEntryID = max(st.nextEntryID, e.ID+1)
	}
	st.rememberOpIDs(seq, v)
	return deltas
}

// rememberOpIDs reads op IDs from the record v and stores them in the state. The parameter seq is the number of the
// change to which the record belongs. An op ID identifies a call, and shows later that the call was already made. The
// record contains the op ID with which the change was made, and may list older op IDs. If the record contains a larger
// ID for the next entry than the state, rememberOpIDs also stores this entry ID in the state.
func (st *state) rememberOpIDs(seq uint64, v *recordBody) {
	st.nextEntryID = max(st.nextEntryID, v.nextEntryID)
	if v.opID != "" {
		st.rememberOpID(v.opID, seq)
	}
	for _, s := range v.seenOpIDs {
		st.rememberOpID(s.id, s.seq)
	}
}

// rememberedOpIDs returns the remembered op IDs, oldest first.
func (st *state) rememberedOpIDs() []opIDWithChange {
	ids := make([]opIDWithChange, len(st.opIDKeysByAge))
	for i, key := range st.opIDKeysByAge {
		ids[i] = st.opIDs[key]
	}
	return ids
}

// putEntry stores e in the state as the current version of the entry with this ID and name. If another entry had this
// name, putEntry removes that entry and returns its ID. Otherwise it returns 0.
func (st *state) putEntry(e *store.Entry) (replacedID uint64) {
	old := st.changedEntriesByName[e.Name]
	switch row, ok := st.base.findRow(e.ID); {
	case old != nil && old.ID != e.ID:
		replacedID = old.ID
		st.removeChangedEntry(old.ID)
	case old != nil:
	// The next case applies if the snapshot still shows a row for this entry, possibly with an older name. Hide the
	// row, because e replaces it.
	case ok && !st.hiddenRows.hasBit(row):
		st.hiddenRows.setBit(row)
	default:
		if row, ok := st.snapshotRowOf(e.Name); ok {
			replacedID = st.base.entryID(row)
			st.hiddenRows.setBit(row)
		}
	}
	st.changedEntriesByName[e.Name] = e
	delete(st.removedNames, e.Name)
	st.addRareLabelEntry(e)
	st.removeAliases(e.ID)
	st.addAliases(e)
	if st.largeChange != nil {
		st.largeChange.entriesByID[e.ID] = e
		return replacedID
	}
	if n := len(st.entriesNotInSnapshotByID); n == 0 || st.entriesNotInSnapshotByID[n-1].ID < e.ID {
		st.entriesNotInSnapshotByID = append(st.entriesNotInSnapshotByID, e)
		return replacedID
	}
	i, found := st.searchChangedEntry(e.ID)
	if found {
		st.entriesNotInSnapshotByID[i] = e
	} else {
		st.entriesNotInSnapshotByID = slices.Insert(st.entriesNotInSnapshotByID, i, e)
	}
	return replacedID
}

// removeEntry removes the entry with the name and the ID of e. It also records that the change seq removed this name.
func (st *state) removeEntry(e *store.Entry, seq uint64) {
	if old := st.changedEntriesByName[e.Name]; old != nil {
		delete(st.changedEntriesByName, e.Name)
		st.removeChangedEntry(old.ID)
	} else if row, ok := st.base.findRow(e.ID); ok {
		st.hiddenRows.setBit(row)
	}
	st.removedNames[e.Name] = seq
}

// removeChangedEntry removes the entry with this ID from the entries that were changed after the snapshot. During a
// large change, it instead records in st.largeChange that the entry is removed.
func (st *state) removeChangedEntry(id uint64) {
	st.removeAliases(id)
	if st.largeChange != nil {
		st.removeRareLabelEntry(id)
		st.largeChange.entriesByID[id] = nil
		return
	}
	if i, found := st.searchChangedEntry(id); found {
		st.removeRareLabelEntry(id)
		st.entriesNotInSnapshotByID = slices.Delete(st.entriesNotInSnapshotByID, i, i+1)
	}
}

// largeChange collects the edits by a large change to entriesNotInSnapshotByID. To insert or remove each entry
// separately would move all later entries each time.
type largeChange struct {
	entriesByID map[uint64]*store.Entry // written entries, or nil for removed entries
}

// minLargeChangeOps is the minimum number of ops of a large change.
const minLargeChangeOps = 64

// movesManyEntries reports whether a change has at least minLargeChangeOps ops, and some entries in
// entriesNotInSnapshotByID would have to be moved, because the change does not only append entries to this list.
func (st *state) movesManyEntries(v *recordBody) bool {
	if len(v.ops) < minLargeChangeOps {
		return false
	}
	last := uint64(0)
	if n := len(st.entriesNotInSnapshotByID); n > 0 {
		last = st.entriesNotInSnapshotByID[n-1].ID
	}
	for i := range v.ops {
		id := v.ops[i].entry.ID
		if id <= last || v.ops[i].verb == store.VerbRemove {
			return true
		}
		last = id
	}
	return false
}

// endLargeChange merges the entries of a large change into entriesNotInSnapshotByID.
func (st *state) endLargeChange() {
	byID := st.largeChange.entriesByID
	st.largeChange = nil
	ids := slices.Sorted(maps.Keys(byID))
	merged := make([]*store.Entry, 0, len(st.entriesNotInSnapshotByID)+len(ids))
	add := func(id uint64) {
		if e := byID[id]; e != nil {
			merged = append(merged, e)
		}
	}
	for _, e := range st.entriesNotInSnapshotByID {
		for len(ids) > 0 && ids[0] < e.ID {
			add(ids[0])
			ids = ids[1:]
		}
		if len(ids) > 0 && ids[0] == e.ID {
			add(ids[0]) // The change replaced or removed the entry.
			ids = ids[1:]
			continue
		}
		merged = append(merged, e)
	}
	for _, id := range ids {
		add(id)
	}
	st.entriesNotInSnapshotByID = merged
}

// rareLabelKeys are keys of labels that few entries have. Each write searches for such entries, so they are listed
// separately.
var rareLabelKeys = []string{store.LabelQuarantine, store.LabelSuspect, store.LabelTaint}

// addRareLabelEntry adds an entry to rareLabelEntries if it is quarantined, suspect or tainted. If the list contains
// an earlier version of the entry, this version is removed.
func (st *state) addRareLabelEntry(e *store.Entry) {
	st.removeRareLabelEntry(e.ID)
	if slices.ContainsFunc(e.Labels, func(l store.Label) bool { return slices.Contains(rareLabelKeys, l.Key) }) {
		i, _ := searchByID(st.rareLabelEntries, e.ID)
		st.rareLabelEntries = slices.Insert(st.rareLabelEntries, i, e)
	}
}

// removeRareLabelEntry removes the entry with this ID from the list of quarantined, suspect and tainted entries.
func (st *state) removeRareLabelEntry(id uint64) {
	if i, found := searchByID(st.rareLabelEntries, id); found {
		st.rareLabelEntries = slices.Delete(st.rareLabelEntries, i, i+1)
	}
}

// selectsOnlyByRareLabel reports whether a filter selects only entries with a rare label.
func selectsOnlyByRareLabel(f store.Filter) bool {
	return slices.ContainsFunc(f.Terms, func(t store.Term) bool {
		isRare := func(key string) bool { return slices.Contains(rareLabelKeys, key) }
		return t.Key == "has" && !t.Not && !slices.ContainsFunc(t.Values, func(v string) bool { return !isRare(v) })
	})
}

// searchChangedEntry returns the index in entriesNotInSnapshotByID of the entry with this ID, and true. If the ID is
// not found, it returns the index at which the entry would be inserted, and false.
func (st *state) searchChangedEntry(id uint64) (int, bool) {
	return searchByID(st.entriesNotInSnapshotByID, id)
}

// searchByID is like searchChangedEntry, for any list of entries that is ordered by ID.
func searchByID(sortedEntries []*store.Entry, id uint64) (int, bool) {
	return slices.BinarySearchFunc(
		sortedEntries,
		id,
		func(e *store.Entry, id uint64) int { return cmp.Compare(e.ID, id) },
	)
}

func (st *state) rememberOpID(id string, seq uint64) {
	key := store.OpIDKey(id)
	if _, ok := st.opIDs[key]; !ok {
		st.opIDKeysByAge = append(st.opIDKeysByAge, key)
	}
	st.opIDs[key] = opIDWithChange{id, seq}
	if len(st.opIDKeysByAge) > 2*minRememberedOpIDs {
		for _, old := range st.opIDKeysByAge[:minRememberedOpIDs] {
			delete(st.opIDs, old)
		}
		st.opIDKeysByAge = slices.Clone(st.opIDKeysByAge[minRememberedOpIDs:])
	}
}

// bitmap is a set of small non-negative numbers.
type bitmap []uint64

// newBitmap returns an empty set for numbers below limit.
func newBitmap(limit int) bitmap { return make(bitmap, (limit+63)/64) }

func (b bitmap) hasBit(i int) bool { return i/64 < len(b) && b[i/64]>>(i%64)&1 != 0 }

func (b bitmap) setBit(i int) { b[i/64] |= 1 << (i % 64) }

func (b bitmap) clearBit(i int) { b[i/64] &^= 1 << (i % 64) }

// setFirstBits adds the numbers below count to an empty set.
func (b bitmap) setFirstBits(count int) {
	for i := range count / 64 {
		b[i] = math.MaxUint64
	}
	if count%64 > 0 {
		b[count/64] = 1<<(count%64) - 1
	}
}

// removeBits removes the numbers in other from the set. other must not have more elements than b.
func (b bitmap) removeBits(other bitmap) {
	for i, w := range other {
		b[i] &^= w
	}
}

func (b bitmap) count() (n int) {
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// all yields the numbers in ascending order.
func (b bitmap) all(yield func(int) bool) {
	for i, w := range b {
		for ; w != 0; w &= w - 1 {
			if !yield(64*i + bits.TrailingZeros64(w)) {
				return
			}
		}
	}
}

// encodeOpIDs encodes op IDs for the section of a snapshot file that contains the remembered op IDs.
func encodeOpIDs(ids []opIDWithChange) (b []byte) {
	for _, o := range ids {
		b = binary.LittleEndian.AppendUint64(b, o.seq)
		b = append(append(b, byte(len(o.id))), o.id...)
	}
	return b
}

// decodeOpIDs decodes the section of a snapshot file that contains the remembered op IDs. The oldest op ID is first.
func decodeOpIDs(b []byte) (ids []opIDWithChange, err error) {
	for len(b) > 0 {
		if len(b) < 9 || len(b) < 9+int(b[8]) {
			return nil, errUnusableSnapshot
		}
		ids = append(ids, opIDWithChange{string(b[9 : 9+int(b[8])]), binary.LittleEndian.Uint64(b)})
		b = b[9+int(b[8]):]
	}
	return ids, nil
}

// loadSnapshot loads a snapshot into the empty state.
func (st *state) loadSnapshot(s *snapshot) error {
	ids, err := decodeOpIDs(s.tables.TableBytes(sectionOpIDs))
	if err != nil {
		return err
	}
	for _, o := range ids {
		st.rememberOpID(o.id, o.seq)
	}
	st.base = s
	st.nextEntryID = s.head.nextEntryID
	st.hiddenRows = newBitmap(s.len())
	return s.snapshotReadError()
}

func (st *state) getEntry(name string) (store.Entry, error) {
	if e := st.findByName(name); e != nil {
		return *e, nil
	}
	return store.Entry{}, &store.NameError{Name: name, Err: store.ErrNotFound}
}

// yieldEntries yields the entries of es that the filter selects. A nil entry in es means that an entry could not be
// read. yieldEntries then ends.
func yieldEntries(
	ctx context.Context,
	es iter.Seq[*store.Entry],
	f store.Filter,
	yield func(store.Entry, error) bool,
) {
	n := 0
	for e := range es {
		n++
		if n%1024 == 0 {
			if err := ctx.Err(); err != nil {
				yield(store.Entry{}, err)
				return
			}
		}
		if e == nil {
			return
		}
		if f.Match(e) && !yield(*e, nil) {
			return
		}
	}
}
