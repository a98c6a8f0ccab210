// This file implements the history: it reads changes from the log and reconstructs earlier states.

package logstore

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"sort"
	"time"

	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/store"
)

// readChangeRecord reads the record of a change. ok is false if the log does not contain the change.
func (d *DB) readChangeRecord(seq uint64) (r wal.Record, v *recordBody, ok bool, err error) {
	return d.readChangeRecordPart(seq, nil)
}

// readChangeRecordPart is like readChangeRecord, but decodes only the ops with indexes for which isWantedOp returns
// true. If isWantedOp is nil, it decodes all ops.
func (d *DB) readChangeRecordPart(
	seq uint64,
	isWantedOp func(i int) bool,
) (r wal.Record, v *recordBody, ok bool, err error) {
	for {
		d.mu.RLock()
		st := d.st
		d.mu.RUnlock()
		r, v, ok, err = d.readChangePartIfUsable(seq, isWantedOp)
		if !errors.Is(err, errUnusableSnapshot) {
			return r, v, ok, err
		}
		if err := d.reloadWithoutSnapshot(st); err != nil {
			return r, nil, false, err
		}
	}
}

// readChangePartIfUsable reads and decodes the record of change number seq. It decodes only the ops for whose index
// isWanted returns true. If isWanted is nil, it decodes all ops. ok is false if the log does not contain the change. If
// the snapshot is needed to find the record and cannot be read, the error matches errUnusableSnapshot.
func (d *DB) readChangePartIfUsable(
	seq uint64,
	isWanted func(i int) bool,
) (r wal.Record, v *recordBody, ok bool, err error) {
	d.logmu.RLock()
	defer d.logmu.RUnlock()
	offset, ok, err := d.recordOffset(seq)
	if err != nil || !ok {
		return r, nil, false, err
	}
	r, err = d.log.RecordAt(offset)
	if err != nil {
		return r, nil, false, d.convertWALError(err)
	}
	v, err = decodeOps(r.Body, isWanted)
	if err != nil {
		return r, nil, false, d.unknownBodyError(&r, err)
	}
	v.setWriteMetadata(seq, time.Unix(0, r.TimeUnixNano).UTC())
	return r, v, true, nil
}

// recordOffset returns the offset of a change's record. ok is false if the log does not contain the change. The caller
// must hold logmu.
func (d *DB) recordOffset(seq uint64) (offset int64, ok bool, err error) {
	if seq > d.lastSnapshotChange {
		i := seq - d.lastSnapshotChange - 1
		if i >= uint64(len(d.changeOffsets)) {
			return 0, false, nil
		}
		return d.changeOffsets[i], true, nil
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	offset, ok = d.st.base.findChangeOffset(seq)
	return offset, ok, d.st.snapshotReadError()
}

// recordOffsetOrLast returns the log offset of the record of the change seq. If seq is d.lastDroppedChange, it returns
// 0, because a compaction dropped this change and all earlier changes from the log. If the offset cannot be found, it
// returns the argument lastKnownOffset, which must be the record's last known offset. The caller must hold logmu.
func (d *DB) recordOffsetOrLast(seq uint64, lastKnownOffset int64) int64 {
	if seq == d.lastDroppedChange {
		return 0
	}
	if offset, ok, err := d.recordOffset(seq); ok && err == nil {
		return offset
	}
	return lastKnownOffset
}

// EntryVersion returns a version of the entry with this ID, or nil if the log does not contain it any more.
// lastKnownOffset is the offset at which the version's record was found before.
func (d *DB) EntryVersion(id, version uint64, lastKnownOffset int64) *store.Entry {
	return d.NewVersionReader().EntryVersion(id, version, lastKnownOffset)
}

// VersionReader reads versions of many entries. If consecutive versions are in one record, it reads and decodes this
// record only once. Only one goroutine may use a VersionReader.
type VersionReader struct {
	db     *DB
	offset int64      // offset of record
	record wal.Record // record that was read last

	// entries contains all entries that were written by the change in record. It is nil if only one entry was decoded.
	entries map[entryVersion]*store.Entry
}

type entryVersion struct{ id, version uint64 }

// NewVersionReader returns a reader of versions.
func (d *DB) NewVersionReader() *VersionReader { return &VersionReader{db: d, offset: -1} }

// EntryVersion returns a version of the entry with the given ID, or nil if the log does not contain the version any
// more. lastKnownOffset is the offset at which the version's record was found before. EntryVersion uses it only if the
// present offset cannot be determined. EntryVersion keeps the record that it read last. If the next call needs the same
// record, the record is not read from the log again.
func (r *VersionReader) EntryVersion(id, version uint64, lastKnownOffset int64) *store.Entry {
	r.db.logmu.RLock()
	defer r.db.logmu.RUnlock()
	if offset, ok, err := r.db.recordOffset(version); ok && err == nil {
		lastKnownOffset = offset
	}
	if lastKnownOffset == r.offset {
		if r.entries == nil {
			r.decodeRecord(nil)
		}
		return r.entries[entryVersion{id, version}]
	}
	record, err := r.db.log.RecordAt(lastKnownOffset)
	if err != nil {
		return nil
	}
	r.offset, r.record = lastKnownOffset, record
	r.decodeRecord(func(of uint64) bool { return of == id })
	e := r.entries[entryVersion{id, version}]
	r.entries = nil // Only one entry was decoded. Decode all if the next call needs another entry of the same record.
	return e
}

// decodeRecord decodes the entries in record for which isWanted returns true, and stores them in r.entries. If
// isWanted is nil, it decodes all entries. If the record cannot be decoded, r.entries is empty.
func (r *VersionReader) decodeRecord(isWanted func(id uint64) bool) {
	r.entries = map[entryVersion]*store.Entry{}
	es, err := decodeEntries(&r.record, isWanted)
	if err != nil {
		return
	}
	// If the record has several versions of an entry, the last version replaces all earlier versions.
	for _, e := range es {
		r.entries[entryVersion{e.ID, e.Version}] = e
	}
}

// Log implements [store.Historian].
func (d *DB) Log(ctx context.Context) iter.Seq2[store.Change, error] {
	return d.LogFrom(ctx, store.LastChange, 0)
}

// LogFrom implements [store.LogSeeker]. It yields the changes with numbers up to seq, newest first, but skips the first
// skipCount of these changes. It stops after an error.
func (d *DB) LogFrom(ctx context.Context, seq uint64, skipCount int) iter.Seq2[store.Change, error] {
	return func(yield func(store.Change, error) bool) {
		if err := d.Refresh(ctx); err != nil {
			yield(store.Change{}, err)
			return
		}
		first, last := d.changeNumberRange()
		seq := min(seq, last)
		if uint64(skipCount) > seq {
			return
		}
		for seq -= uint64(skipCount); seq >= first && seq > 0; seq-- {
			if err := ctx.Err(); err != nil {
				yield(store.Change{}, err)
				return
			}
			c, ok, err := d.ReadChangePart(seq, nil)
			if err != nil {
				yield(store.Change{}, err)
				return
			}
			if !ok {
				return // A compaction has dropped this change since the loop began.
			}
			if !yield(c, nil) {
				return
			}
		}
	}
}

// ReadChangePart returns a change with only those versions whose index is wanted. If isWanted is nil, the change has
// all versions. ok is false if the log does not contain the change.
func (d *DB) ReadChangePart(seq uint64, isWanted func(i int) bool) (c store.Change, ok bool, err error) {
	r, v, ok, err := d.readChangeRecordPart(seq, isWanted)
	if err != nil || !ok {
		return store.Change{}, false, err
	}
	return decodeChange(seq, r.ChainHash, v), true, nil
}

// decodeChange converts the body of a record to a change. The caller must have called setWriteMetadata for the body.
func decodeChange(seq uint64, hash [32]byte, v *recordBody) store.Change {
	c := store.Change{Seq: seq, Hash: hex.EncodeToString(hash[:]), Time: v.source.Time, Source: v.source,
		Note: v.note, Reverts: v.revertedSeqs}
	for _, p := range v.ops {
		c.Versions = append(c.Versions, newVersion(seq, v, p))
	}
	return c
}

func newVersion(seq uint64, v *recordBody, p loggedOp) store.Version {
	return store.Version{
		Seq:    seq,
		Prev:   p.previousChange,
		Verb:   p.verb,
		Entry:  *p.entry,
		Source: v.source,
		Note:   v.note,
		Erased: p.isContentErased,
	}
}

// newBaseVersion returns a version for an entry that a compaction of the log kept. Such entries are in the records at
// the start of the log (the base), and their earlier versions are lost.
func newBaseVersion(p loggedOp) store.Version {
	return store.Version{Seq: p.entry.Version, Verb: store.VerbUpdate, Entry: *p.entry, Source: p.entry.Source,
		Note: "earlier versions were dropped by a compaction"}
}

// Versions implements [store.Historian].
func (d *DB) Versions(ctx context.Context, name string) iter.Seq2[store.Version, error] {
	return func(yield func(store.Version, error) bool) {
		var seq uint64
		if err := d.withState(ctx, func(st *state) { seq = st.lastChangeNumber(name) }); err != nil {
			yield(store.Version{}, err)
			return
		}
		if seq == 0 {
			yield(store.Version{}, &store.NameError{Name: name, Err: store.ErrNotFound})
			return
		}
		for id := uint64(0); seq != 0; {
			if err := ctx.Err(); err != nil {
				yield(store.Version{}, err)
				return
			}
			vs, err := d.versionsInChange(seq, name, id)
			if err != nil {
				yield(store.Version{}, err)
				return
			}
			if len(vs) == 0 {
				return // A compaction has dropped the change.
			}
			for _, v := range slices.Backward(vs) {
				if !yield(v, nil) {
					return
				}
				seq, id = v.Prev, v.Entry.ID
			}
		}
	}
}

// areEqualNonzeroIDs reports whether the two IDs are equal and not 0.
func areEqualNonzeroIDs(a, b uint64) bool { return a != 0 && a == b }

// versionsInChange returns the versions that change number seq wrote of the entry called name, in order. Redaction
// erases the name and the content of a version. An erased version is returned if its entry ID is id, unless id is 0.
//
// If a compaction has removed the change from the log, versionsInChange searches the entries at the start of the
// compacted log. It then returns the versions of the entry that change number seq wrote and that the compaction kept.
func (d *DB) versionsInChange(seq uint64, name string, id uint64) ([]store.Version, error) {
	_, v, ok, err := d.readChangeRecord(seq)
	if err != nil {
		return nil, err
	}
	var vs []store.Version
	if ok {
		for _, p := range v.ops {
			if p.isContentErased && areEqualNonzeroIDs(p.entry.ID, id) {
				p.entry.Name = name
			}
			if p.entry.Name == name {
				vs = append(vs, newVersion(seq, v, p))
			}
		}
		return vs, nil
	}
	err = d.eachBaseEntry(func(_ int64, p loggedOp) {
		if p.entry.Name == name && p.entry.Version == seq {
			vs = append(vs, newBaseVersion(p))
		}
	})
	return vs, err
}

// eachBaseEntry calls fn for each entry that the last compaction kept at the beginning of the log. offset is the
// offset of the record that contains the entry.
func (d *DB) eachBaseEntry(fn func(offset int64, p loggedOp)) error {
	log, err := d.openSecondLog()
	if err != nil {
		return err
	}
	defer log.Close()
	err = log.Read(func(r *wal.Record) error {
		if r.Type != wal.TypeBaseSection {
			return errStopReplay
		}
		v, err := decodeBody(r.Body)
		if err != nil {
			return d.unknownBodyError(r, err)
		}
		for _, p := range v.ops {
			fn(r.FileOffset, p)
		}
		return nil
	})
	if err != errStopReplay {
		return d.convertWALError(err)
	}
	return nil
}

// SeqAt implements [store.Historian].
func (d *DB) SeqAt(ctx context.Context, t time.Time) (uint64, error) {
	if err := d.Refresh(ctx); err != nil {
		return 0, err
	}
	first, last := d.changeNumberRange()
	// Search for the last change at or before t. If a clock was set back, the times do not always ascend. The binary
	// search still finds the right change, unless the clock was set back near t.
	var failed error
	i := sort.Search(int(last+1-first), func(i int) bool {
		r, _, _, err := d.readChangeRecordPart(first+uint64(i), func(int) bool { return false })
		failed = errors.Join(failed, err)
		return time.Unix(0, r.TimeUnixNano).After(t)
	})
	if i == 0 && first > 1 {
		return 0, droppedHistoryError(first)
	}
	return first + uint64(i) - 1, failed
}

// checkHasStateAfter returns an error if the log cannot provide the state after change seq.
func (d *DB) checkHasStateAfter(seq uint64) error {
	first, last := d.changeNumberRange()
	if seq > last {
		return store.NoChange("there is no change %d yet; the last is %d", seq, last)
	}
	if seq+1 < first {
		return droppedHistoryError(first)
	}
	return nil
}

// droppedHistoryError returns the error for a change that a compaction has dropped. The number of the first change that
// the log still contains is firstSeq.
func droppedHistoryError(firstSeq uint64) error {
	return store.NoChange("the history before change %d was dropped by a compaction", firstSeq)
}

// replayUpTo reads the log from its start to the change with the number seq, and applies each record to applier. It
// returns how the entries changed. It fails if the log does not contain the change. If seq is 0, it does nothing.
func (d *DB) replayUpTo(seq uint64, applier recordApplier) ([]store.Delta, error) {
	if seq == 0 {
		return nil, nil
	}
	log, err := d.openSecondLog()
	if err != nil {
		return nil, err
	}
	defer log.Close()
	if first := log.Header().BaseSeq + 1; seq+1 < first {
		return nil, droppedHistoryError(first)
	}
	deltas, err := d.replayLog(log, applier, nil, seq)
	switch {
	case err != nil:
		return deltas, err
	case !log.Exists():
		return nil, d.convertWALError(wal.ErrVanished)
	case log.LastSeq() < seq:
		return nil, d.convertWALError(&wal.RolledBackError{LastSeq: log.LastSeq(), DurableSeq: seq})
	}
	return deltas, nil
}

// stateAt returns the state after a change. It reads the log from the start. The error matches ErrNotFound if a
// compaction has dropped the change, ErrVanished if the log does not exist, and ErrRolledBack if the log ends before
// the change.
func (d *DB) stateAt(seq uint64) (*state, error) {
	st := newState()
	_, err := d.replayUpTo(seq, st)
	return st, err
}

// stateAtForReader is like stateAt, for a caller that could not read the rest of a state from a snapshot, for example
// because a compaction has removed the snapshot. If the log does not contain the state any more, the error matches
// ErrBusy. It must not match ErrNotFound, because the caller would conclude that an entry does not exist. If d was
// closed, and its directory with it, the error matches ErrClosed.
func (d *DB) stateAtForReader(seq uint64) (*state, error) {
	st, err := d.stateAt(seq)
	if errors.Is(err, fs.ErrClosed) {
		return nil, fmt.Errorf(
			"%w: the entries after change %d could not be read to the end",
			store.ErrClosed,
			seq,
		)
	}
	if errors.Is(err, store.ErrNotFound) {
		return nil, fmt.Errorf(
			"%w: the entries after change %d could not be read to the end: %v",
			store.ErrBusy,
			seq,
			err,
		)
	}
	return st, err
}
