// This file writes snapshots of an open store while others read and write it.

package logstore

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/base/ctxfile"
	"github.com/oxbow-memory/oxbow/internal/base/logpos"
	"github.com/oxbow-memory/oxbow/store"
	"github.com/oxbow-memory/oxbow/vfs"
)

// frozenState is the store as of one moment. A snapshot can be written from it while other changes are
// made. It must be released.
type frozenState struct {
	epoch       uint64 // epoch of the store at that moment
	st          *state // a copy of the state without names; the entries are in its order
	head        snapshotHead
	offsets     []int64          // offsets of the changes after the state's base
	baseOffsets map[uint64]int64 // offsets of the records in the log's base, by entry ID, if needed
}

// freezeState returns a copy of the store's current state, which later changes do not affect. The caller must release
// it. logmu must be held.
func (d *DB) freezeState() (*frozenState, error) {
	places, err := d.baseEntryOffsets()
	if err != nil {
		return nil, err
	}
	p, _ := logpos.Decode(d.currentPosition())
	st := d.st
	return &frozenState{
		epoch: d.epoch.Load(),
		st: &state{
			base:             st.base.acquire(),
			hiddenRows:       slices.Clone(st.hiddenRows),
			changedByID:      slices.Clone(st.changedByID),
			removedNames:     maps.Clone(st.removedNames),
			nextID:           st.nextID,
			opIDs:            maps.Clone(st.opIDs),
			opIDOrder:        slices.Clone(st.opIDOrder),
			rareLabelEntries: slices.Clone(st.rareLabelEntries),
		},
		head: snapshotHead{logID: p.LogID, lastSeq: p.Seq, offset: p.Offset, chain: p.Chain, base: d.base,
			syncedOffset: d.log.SyncedOffset(), nextID: st.nextID},
		offsets:     slices.Clone(d.changeOffsets),
		baseOffsets: places,
	}, nil
}

func (f *frozenState) release() {
	if f != nil {
		f.st.base.release()
	}
}

// writeSnapshot writes the snapshot.
func (f *frozenState) writeSnapshot(to io.WriterAt) error {
	rows := f.st.snapshotRows(f.offsets, f.entryOffset)
	if err := f.st.readError(); err != nil {
		return err
	}
	err := rows.WriteFile(to, f.head.pageEncoder())
	return cmp.Or(f.st.readError(), err)
}

// entryOffset returns the offset of the record with an entry's version.
func (f *frozenState) entryOffset(e *store.Entry) int64 {
	from := f.head.lastSeq - uint64(len(f.offsets))
	if e.Version > from && e.Version <= f.head.lastSeq {
		return f.offsets[e.Version-from-1]
	}
	if offset, ok := f.st.base.changeOffset(e.Version); ok {
		return offset
	}
	return f.baseOffsets[e.ID]
}

// baseEntryOffsets returns the offsets of the records in the log's base, by entry ID, if a
// snapshot of the state needs them.
func (d *DB) baseEntryOffsets() (map[uint64]int64, error) {
	places := map[uint64]int64{}
	if d.base == 0 || d.st.base != nil {
		return places, nil
	}
	return places, d.eachBaseEntry(func(offset int64, p loggedOp) { places[p.entry.ID] = offset })
}

// Checkpoint writes the snapshot, from which the next process starts, if enough has changed
// since the last snapshot. If another process is writing, it leaves the snapshot to the
// next call.
func (d *DB) Checkpoint(ctx context.Context) error {
	if err := d.checkReady(ctx); err != nil {
		return err
	}
	err := d.updateSnapshot(ctx)
	if errors.Is(err, errSnapshot) || errors.Is(err, ErrDerivedFile) {
		return nil
	}
	return err
}

// updateSnapshot writes the snapshot if much has changed since the last snapshot. Others can read and write the store
// while the content is written. The file is renamed between the writes of this process, and not at all if another
// process is writing. If it is not written, the next process only needs more time.
func (d *DB) updateSnapshot(ctx context.Context) error {
	if !d.opts.WriteDerivedFiles {
		return nil
	}
	if err := d.checkpointer.mu.LockContext(ctx); err != nil {
		return err
	}
	defer d.checkpointer.mu.Unlock()
	f, err := d.freezeIf(d.isSnapshotDue)
	if f == nil {
		return err
	}
	defer f.release()
	between := func(fn func() error) error { return d.betweenWrites(ctx, fn) }
	return d.writeFrozenState(ctx, f, between, between)
}

// freezeIf returns the frozen state of the store if isWorthwhile returns true. It returns nil if isWorthwhile returns
// false, if the store is closed, or if the log cannot be read. isWorthwhile is called with logmu held.
func (d *DB) freezeIf(isWorthwhile func() bool) (*frozenState, error) {
	d.logmu.RLock()
	defer d.logmu.RUnlock()
	if d.isClosed || d.brokenErr != nil {
		return nil, nil
	}
	if !isWorthwhile() {
		return nil, nil
	}
	return d.freezeState()
}

// isQuickSnapshotDue reports whether a snapshot is worth writing and, according to its number
// of rows, takes only a few milliseconds. logmu must be held.
func (d *DB) isQuickSnapshotDue() bool {
	rows, read := d.st.len()+len(d.st.removedNames)+int(d.log.LastSeq()-d.base)/4, d.log.EndOffset()
	if b := d.st.base; b != nil {
		rows, read = rows+b.head.counts[sectionRemoved], 0
	}
	return d.checkpointer.isQuick(rows, read) && d.isSnapshotDue()
}

// isSnapshotDue reports whether much has changed since the snapshot. logmu must be held.
func (d *DB) isSnapshotDue() bool {
	return d.log.Exists() && d.checkpointer.isWorthwhile(d.st.opsSinceBase, d.st.len())
}

// writeMissingSnapshot writes the snapshot that was already missing when the store was opened, and uses
// it as the base of the state.
func (d *DB) writeMissingSnapshot() {
	if d.opts.ReadOnly {
		_ = d.updateSnapshot(d.closingCtx)
		return
	}
	if d.checkpointer.mu.LockContext(d.closingCtx) != nil {
		return
	}
	defer d.checkpointer.mu.Unlock()
	d.logmu.RLock()
	worth := d.checkReady(d.closingCtx) == nil && d.brokenErr == nil && d.isSnapshotDue()
	d.logmu.RUnlock()
	if worth {
		_ = d.renewSnapshot(d.closingCtx)
	}
}

// renewSnapshot writes a snapshot, while others can read and write the store, and makes it the base of the state. If
// another process has written a newer snapshot, renewSnapshot uses that snapshot. Once ctx is done, it does not wait
// for other processes and ends early. The checkpointer's lock must be held.
func (d *DB) renewSnapshot(ctx context.Context) error {
	if d.rebaseOnSnapshot(ctx, func() error { return nil }, rebaseIfWorthwhile) == nil {
		return nil // another process has written a newer snapshot
	}
	f, err := d.freezeIf(func() bool { return true })
	if f == nil {
		return err
	}
	defer f.release()
	return d.writeFrozenState(ctx, f, func(fn func() error) error { return d.withExclusiveLock(ctx, fn) },
		func(put func() error) error { return d.rebaseOnSnapshot(ctx, put, rebaseAlways) })
}

// writeFrozenState writes a snapshot of the frozen state. It writes nothing if the existing snapshot already contains
// the last change of that state. begin and end are passed to [DB.writeDerivedFile].
func (d *DB) writeFrozenState(ctx context.Context, f *frozenState, begin, end func(fn func() error) error) error {
	return d.writeDerivedFile(d.snapshotName(), f.epoch, begin, func(put func() error) error {
		return end(func() error {
			if err := d.checkEpoch(f.epoch); err != nil {
				return err
			}
			if s, err := d.openSnapshot(); err == nil {
				defer s.release()
				if s.head.lastSeq >= f.head.lastSeq {
					return nil
				}
			}
			return put()
		})
	}, func(file vfs.File) error { return f.writeSnapshot(ctxfile.File{Context: ctx, Inner: file}) })
}

// rebaseCondition decides when rebaseOnSnapshot uses a snapshot.
type rebaseCondition int

const (
	rebaseAlways       rebaseCondition = iota
	rebaseIfWorthwhile                 // if this frees at least half of the log data that the state keeps in memory
)

// rebaseOnSnapshot calls put, which may write a snapshot, and then makes the snapshot file the base of the state, so
// that the state keeps only the later changes in memory. The lock between processes is held during the call. It
// returns errSnapshot if the file is not newer than the present base, or if the condition is not met.
func (d *DB) rebaseOnSnapshot(ctx context.Context, put func() error, condition rebaseCondition) error {
	return d.withExclusiveLock(ctx, func() error {
		if err := put(); err != nil {
			return err
		}
		s, err := d.openSnapshot()
		if err != nil {
			return err
		}
		spared := s.logOffset() - d.st.base.logOffset()
		isWorthwhile := spared >= (d.log.EndOffset()-d.st.base.logOffset())/2
		isUsable := s.head.lastSeq <= d.log.LastSeq() && s.head.lastSeq > d.startSeq
		if condition == rebaseIfWorthwhile {
			isUsable = isUsable && isWorthwhile
		}
		if !isUsable {
			s.release()
			return errSnapshot
		}
		st := d.st.withBase(s)
		if err := st.readError(); err != nil {
			s.release()
			return err
		}
		d.setEqualState(st, slices.Clone(d.changeOffsets[s.head.lastSeq-d.startSeq:]))
		return nil
	})
}
