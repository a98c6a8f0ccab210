// This file writes snapshots. The rows come from the log, or from the previous snapshot and the changes after it.

package logstore

import (
	"github.com/oxbow-memory/oxbow/internal/log/keydir"
	"github.com/oxbow-memory/oxbow/store"
)

// newRow returns an entry's snapshot row. offset is the offset of the record with the entry's version.
func newRow(rows *keydir.Rows, e *store.Entry, offset int64) keydir.EntryRow {
	r := newRowWithoutLabelSet(e, offset)
	r.LabelSetNumber = rows.LabelSetNumber(encodeLabelSet(e))
	return r
}

// newRowWithoutLabelSet returns a snapshot row for the entry e. offset is the position of the log record with this
// entry version. The caller must set the field LabelSetNumber, the number of the entry's label set.
func newRowWithoutLabelSet(e *store.Entry, offset int64) keydir.EntryRow {
	return keydir.EntryRow{ID: e.ID, Version: e.Version, Offset: offset, CreatedUnixNano: clampedNanoseconds(e.Created),
		UpdatedUnixNano: e.Updated.UnixNano(), Size: uint32(len(e.Content)), Text: encodeNames(e)}
}

// snapshotRows returns the table rows of a new snapshot of the state. changeOffsets contains the log offsets of the
// changes that the previous snapshot does not contain. The function offset must return the log offset of the record
// that contains an entry's version.
func (st *state) snapshotRows(changeOffsets []int64, offset func(e *store.Entry) int64) *keydir.Rows {
	r := &keydir.Rows{
		ChangeOffsets:      changeOffsets,
		EncodedEntryTotals: st.computeEntryTotals().encode(),
		OpIDs:              encodeOpIDs(st.rememberedOpIDs()),
		IsHiddenRow:        st.hiddenRows.hasBit,
		HiddenIDs:          map[uint64]bool{},
		ReusedRemovedNames: map[keydir.TableKey]bool{},
	}
	if b := st.base; b != nil {
		r.PreviousTables = b.tables
		for _, text := range b.entryLabelSets().texts {
			r.LabelSetNumber(text)
		}
		for row := range st.hiddenRows.all {
			r.HiddenIDs[b.entryID(row)] = true
		}
	}
	use := func(name string) uint64 {
		hash := textHash(name)
		if seq := st.base.lastRemovalSeq(name); seq > 0 {
			r.ReusedRemovedNames[keydir.TableKey{Hash: hash, IDOrChangeNumber: seq}] = true
		}
		return hash
	}
	r.Entries, r.Names = make(
		[]keydir.EntryRow,
		0,
		len(st.entriesNotInSnapshotByID),
	), make(
		[]keydir.TableKey,
		0,
		len(st.entriesNotInSnapshotByID),
	)
	for _, e := range st.entriesNotInSnapshotByID {
		r.Entries = append(r.Entries, newRow(r, e, offset(e)))
		r.Names = append(r.Names, keydir.TableKey{Hash: use(e.Name), IDOrChangeNumber: e.ID})
		for _, a := range e.Aliases {
			r.Aliases = append(r.Aliases, keydir.TableKey{Hash: textHash(a), IDOrChangeNumber: e.ID})
		}
	}
	for name, seq := range st.removedNames {
		r.RemovedNames = append(r.RemovedNames, keydir.TableKey{Hash: use(name), IDOrChangeNumber: seq})
	}
	return r
}

// pageEncoder returns a function that encodes the first page of a snapshot file. The argument counts of the returned
// function contains the number of rows in each section of the file.
func (h snapshotHead) pageEncoder() func(counts [snapshotSectionCount]int) []byte {
	return func(counts [snapshotSectionCount]int) []byte {
		h.sectionCounts = counts
		return h.encode()
	}
}
