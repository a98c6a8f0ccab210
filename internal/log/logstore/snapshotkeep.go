// This file writes the snapshot of an open store while the store is in use.

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

// frozenState is the state of a store at one moment. A snapshot can be written from it while new changes are made. The
// caller must release it.
type frozenState struct {
	logEpoch       uint64 // number of the log's epoch when the state was frozen; a replaced log has a higher number
	st             *state // copy of the state without the name map, with the changed entries ordered by ID
	snapshotHeader snapshotHead
	changeOffsets  []int64 // offsets in the log of the changes after the last snapshot
	// For each entry that a compaction kept, the offset of its log record, by entry ID (empty if a snapshot contains
	// the offsets).
	baseEntryOffsets map[uint64]int64
}

// copyCurrentState returns a copy of the current state, which later changes do not affect. The caller must hold logmu,
// and must release the copy.
func (d *DB) copyCurrentState() (*frozenState, error) {
	places, err := d.baseEntryOffsets()
	if err != nil {
		return nil, err
	}
	p, _ := logpos.DecodePosition(d.currentPosition())
	st := d.st
	return &frozenState{
		logEpoch: d.logEpoch.Load(),
		st: &state{
			base:                     st.base.keepFilesOpen(),
			hiddenRows:               slices.Clone(st.hiddenRows),
			entriesNotInSnapshotByID: slices.Clone(st.entriesNotInSnapshotByID),
			removedNames:             maps.Clone(st.removedNames),
			nextEntryID:              st.nextEntryID,
			opIDs:                    maps.Clone(st.opIDs),
			opIDKeysByAge:            slices.Clone(st.opIDKeysByAge),
			rareLabelEntries:         slices.Clone(st.rareLabelEntries),
		},
		snapshotHeader: snapshotHead{
			logID:             p.LogID,
			lastSeq:           p.Seq,
			lastOffset:        p.FileOffset,
			lastChain:         p.ChainHash,
			lastDroppedChange: d.lastDroppedChange,
			syncedOffset:      d.log.SyncedOffset(),
			nextEntryID:       st.nextEntryID,
		},
		changeOffsets:    slices.Clone(d.changeOffsets),
		baseEntryOffsets: places,
	}, nil
}

func (f *frozenState) release() {
	if f != nil {
		f.st.base.release()
	}
}

// writeSnapshot writes a snapshot of the frozen state.
func (f *frozenState) writeSnapshot(to io.WriterAt) error {
	rows := f.st.snapshotRows(f.changeOffsets, f.entryOffset)
	if err := f.st.snapshotReadError(); err != nil {
		return err
	}
	err := rows.WriteFile(to, f.snapshotHeader.pageEncoder())
	return cmp.Or(f.st.snapshotReadError(), err)
}

// entryOffset returns the offset of the record that contains an entry's version.
func (f *frozenState) entryOffset(e *store.Entry) int64 {
	from := f.snapshotHeader.lastSeq - uint64(len(f.changeOffsets))
	if e.Version > from && e.Version <= f.snapshotHeader.lastSeq {
		return f.changeOffsets[e.Version-from-1]
	}
	if offset, ok := f.st.base.findChangeOffset(e.Version); ok {
		return offset
	}
	return f.baseEntryOffsets[e.ID]
}

// baseEntryOffsets returns where the log contains each entry that the last compaction kept: the offset of the entry's
// record, by entry ID. The result is empty if the log was never compacted, or if a snapshot contains the offsets.
func (d *DB) baseEntryOffsets() (map[uint64]int64, error) {
	places := map[uint64]int64{}
	if d.lastDroppedChange == 0 || d.st.base != nil {
		return places, nil
	}
	return places, d.eachBaseEntry(func(offset int64, p loggedOp) { places[p.entry.ID] = offset })
}

// Checkpoint writes the snapshot if enough has changed since the last snapshot. The next process that opens the store
// starts from it. If another process is writing, Checkpoint does nothing, and a later call can write the snapshot.
func (d *DB) Checkpoint(ctx context.Context) error {
	if err := d.checkOpenAndContext(ctx); err != nil {
		return err
	}
	err := d.updateSnapshot(ctx)
	if errors.Is(err, errUnusableSnapshot) || errors.Is(err, ErrDerivedFileNotWritten) {
		return nil
	}
	return err
}

// updateSnapshot writes a new snapshot of the entries to a file if enough entries have changed since the last snapshot.
// It does nothing if the options do not allow derived files. Other goroutines and processes can use the store
// meanwhile. If another process is writing to the store, updateSnapshot does not replace the old snapshot file. No data
// is lost then, but the next process that opens the store needs more time.
func (d *DB) updateSnapshot(ctx context.Context) error {
	if !d.opts.WriteDerivedFiles {
		return nil
	}
	if err := d.checkpointer.mu.LockContext(ctx); err != nil {
		return err
	}
	defer d.checkpointer.mu.Unlock()
	f, err := d.freezeStateIfWorthwhile(d.isSnapshotDue)
	if f == nil {
		return err
	}
	defer f.release()
	between := func(fn func() error) error { return d.callBetweenWrites(ctx, fn) }
	return d.writeSnapshotOfFrozenState(ctx, f, between, between)
}

// freezeStateIfWorthwhile returns a frozen copy of the state if the function isWorthwhile returns true. It calls
// isWorthwhile while it holds logmu. It returns nil if isWorthwhile returns false, if the store is closed, or if the
// log cannot be read.
func (d *DB) freezeStateIfWorthwhile(isWorthwhile func() bool) (*frozenState, error) {
	d.logmu.RLock()
	defer d.logmu.RUnlock()
	if d.isClosed || d.brokenErr != nil {
		return nil, nil
	}
	if !isWorthwhile() {
		return nil, nil
	}
	return d.copyCurrentState()
}

// isQuickSnapshotDue reports whether a snapshot is worth writing and can probably be written in a few milliseconds.
// The caller must hold logmu.
func (d *DB) isQuickSnapshotDue() bool {
	rows, read := d.st.len()+len(d.st.removedNames)+int(d.log.LastSeq()-d.lastDroppedChange)/4, d.log.EndOffset()
	if b := d.st.base; b != nil {
		rows, read = rows+b.head.sectionCounts[sectionRemovedNames], 0
	}
	return d.checkpointer.isQuickToWrite(rows, read) && d.isSnapshotDue()
}

// isSnapshotDue reports whether enough has changed to write a snapshot. The caller must hold logmu.
func (d *DB) isSnapshotDue() bool {
	return d.log.Exists() && d.checkpointer.isSnapshotWorthwhile(d.st.opsSinceBase, d.st.len())
}

// writeSnapshotIfDue writes the snapshot if it is still missing or too old. The state then uses the new snapshot. It
// writes nothing if the store is closed or broken. A read-only store calls updateSnapshot, which writes the snapshot
// file but leaves the state unchanged. Errors are ignored.
func (d *DB) writeSnapshotIfDue() {
	if d.opts.ReadOnly {
		_ = d.updateSnapshot(d.closingCtx)
		return
	}
	if d.checkpointer.mu.LockContext(d.closingCtx) != nil {
		return
	}
	defer d.checkpointer.mu.Unlock()
	d.logmu.RLock()
	worth := d.checkOpenAndContext(d.closingCtx) == nil && d.brokenErr == nil && d.isSnapshotDue()
	d.logmu.RUnlock()
	if worth {
		_ = d.renewSnapshot(d.closingCtx)
	}
}

// renewSnapshot writes a snapshot, and the state then reads entries from this snapshot. Others can use the store in the
// meantime. If another process has written a newer snapshot than the one in use, renewSnapshot uses it and writes none,
// provided that it covers enough of the log. When ctx is done, renewSnapshot ends early and does not wait for other
// processes. The caller must hold the lock of the checkpointer.
func (d *DB) renewSnapshot(ctx context.Context) error {
	if d.writeAndUseSnapshot(ctx, func() error { return nil }, useSnapshotIfWorthwhile) == nil {
		// Do not write a snapshot, because another process has already written a newer snapshot than the one in use.
		return nil
	}
	f, err := d.freezeStateIfWorthwhile(func() bool { return true })
	if f == nil {
		return err
	}
	defer f.release()
	return d.writeSnapshotOfFrozenState(ctx, f, func(fn func() error) error { return d.withExclusiveLock(ctx, fn) },
		func(put func() error) error { return d.writeAndUseSnapshot(ctx, put, useSnapshotAlways) })
}

// writeSnapshotOfFrozenState writes a snapshot of the frozen state. It writes nothing if the existing snapshot contains
// the last change of this state. For createUnderLock and renameUnderLock, see [DB.writeDerivedFile].
func (d *DB) writeSnapshotOfFrozenState(
	ctx context.Context,
	f *frozenState,
	createUnderLock, renameUnderLock func(fn func() error) error,
) error {
	return d.writeDerivedFile(d.snapshotName(), f.logEpoch, createUnderLock, func(put func() error) error {
		return renameUnderLock(func() error {
			if err := d.checkLogEpoch(f.logEpoch); err != nil {
				return err
			}
			if s, err := d.openSnapshot(); err == nil {
				defer s.release()
				if s.head.lastSeq >= f.snapshotHeader.lastSeq {
					return nil
				}
			}
			return put()
		})
	}, func(file vfs.File) error { return f.writeSnapshot(ctxfile.File{Context: ctx, InnerFile: file}) })
}

// snapshotUseCondition specifies when writeAndUseSnapshot lets the state use the snapshot file in place of changes in
// memory.
type snapshotUseCondition int

const (
	useSnapshotAlways snapshotUseCondition = iota
	// Use the snapshot only if it replaces at least half of the changes that are kept in memory.
	useSnapshotIfWorthwhile
)

// writeAndUseSnapshot calls the function writeSnapshot, which may write a snapshot file. It then opens the snapshot
// file, so that the store reads entries from this snapshot and keeps only later changes in memory. Other processes are
// locked out during the call.
//
// The error is errUnusableSnapshot if the snapshot is not newer than the snapshot in use, or if it is newer than the
// log. If condition is useSnapshotIfWorthwhile, the error is also errUnusableSnapshot if the snapshot covers less than
// half of the log that was written since the snapshot in use.
func (d *DB) writeAndUseSnapshot(
	ctx context.Context,
	writeSnapshot func() error,
	condition snapshotUseCondition,
) error {
	return d.withExclusiveLock(ctx, func() error {
		if err := writeSnapshot(); err != nil {
			return err
		}
		s, err := d.openSnapshot()
		if err != nil {
			return err
		}
		spared := s.logOffset() - d.st.base.logOffset()
		isWorthwhile := spared >= (d.log.EndOffset()-d.st.base.logOffset())/2
		isUsable := s.head.lastSeq <= d.log.LastSeq() && s.head.lastSeq > d.lastSnapshotChange
		if condition == useSnapshotIfWorthwhile {
			isUsable = isUsable && isWorthwhile
		}
		if !isUsable {
			s.release()
			return errUnusableSnapshot
		}
		st := d.st.withNewerSnapshot(s)
		if err := st.snapshotReadError(); err != nil {
			s.release()
			return err
		}
		offsets := slices.Clone(d.changeOffsets[s.head.lastSeq-d.lastSnapshotChange:])
		d.replaceState(st, offsets, func() { d.recentDeltas.addDeltaStep(d.currentPosition(), nil) })
		return nil
	})
}
