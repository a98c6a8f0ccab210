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
	epoch   uint64 // number that increases when the log is replaced, as it was when the state was frozen
	st      *state // copy of the state without the map of names, with the changed entries ordered by ID
	head    snapshotHead
	offsets []int64 // offsets in the log of the changes after the last snapshot
	// For each entry that a compaction kept, the offset of its log record, by entry ID (empty if a snapshot contains
	// the offsets).
	baseOffsets map[uint64]int64
}

// freezeState returns a copy of the current state, which later changes do not affect. The caller must hold logmu, and
// must release the copy.
func (d *DB) freezeState() (*frozenState, error) {
	places, err := d.baseEntryOffsets()
	if err != nil {
		return nil, err
	}
	p, _ := logpos.DecodePosition(d.currentPosition())
	st := d.st
	return &frozenState{
		epoch: d.epoch.Load(),
		st: &state{
			base:             st.base.acquire(),
			hiddenRows:       slices.Clone(st.hiddenRows),
			changedByID:      slices.Clone(st.changedByID),
			removedNames:     maps.Clone(st.removedNames),
			nextEntryID:      st.nextEntryID,
			opIDs:            maps.Clone(st.opIDs),
			opIDOrder:        slices.Clone(st.opIDOrder),
			rareLabelEntries: slices.Clone(st.rareLabelEntries),
		},
		head: snapshotHead{
			logID:        p.LogID,
			lastSeq:      p.Seq,
			lastOffset:   p.FileOffset,
			lastChain:    p.ChainHash,
			base:         d.base,
			syncedOffset: d.log.SyncedOffset(),
			nextEntryID:  st.nextEntryID,
		},
		offsets:     slices.Clone(d.changeOffsets),
		baseOffsets: places,
	}, nil
}

func (f *frozenState) release() {
	if f != nil {
		f.st.base.release()
	}
}

// writeSnapshot writes a snapshot of the frozen state.
func (f *frozenState) writeSnapshot(to io.WriterAt) error {
	rows := f.st.snapshotRows(f.offsets, f.entryOffset)
	if err := f.st.readError(); err != nil {
		return err
	}
	err := rows.WriteFile(to, f.head.pageEncoder())
	return cmp.Or(f.st.readError(), err)
}

// entryOffset returns the offset of the record that contains an entry's version.
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

// baseEntryOffsets returns where the log contains each entry that the last compaction kept: the offset of the entry's
// record, by entry ID. The result is empty if the log was never compacted, or if a snapshot contains the offsets.
func (d *DB) baseEntryOffsets() (map[uint64]int64, error) {
	places := map[uint64]int64{}
	if d.base == 0 || d.st.base != nil {
		return places, nil
	}
	return places, d.eachBaseEntry(func(offset int64, p loggedOp) { places[p.entry.ID] = offset })
}

// Checkpoint writes the snapshot if enough has changed since the last snapshot. The next process that opens the store
// starts from it. If another process is writing, Checkpoint does nothing, and a later call can write the snapshot.
func (d *DB) Checkpoint(ctx context.Context) error {
	if err := d.checkReady(ctx); err != nil {
		return err
	}
	err := d.updateSnapshot(ctx)
	if errors.Is(err, errUnusableSnapshot) || errors.Is(err, ErrDerivedFile) {
		return nil
	}
	return err
}

// updateSnapshot writes the snapshot if much has changed since the last snapshot. Others can use the store while the
// content is written. If another process is writing, the file is not replaced. The next process then only needs more
// time to open the store.
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

// freezeIf returns a frozen copy of the state if isWorthwhile, which is called with logmu held, returns true.
// Otherwise it returns nil. It also returns nil if the store is closed or the log cannot be read.
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

// isQuickSnapshotDue reports whether a snapshot is worth writing and can probably be written in a few milliseconds.
// The caller must hold logmu.
func (d *DB) isQuickSnapshotDue() bool {
	rows, read := d.st.len()+len(d.st.removedNames)+int(d.log.LastSeq()-d.base)/4, d.log.EndOffset()
	if b := d.st.base; b != nil {
		rows, read = rows+b.head.sectionCounts[sectionRemoved], 0
	}
	return d.checkpointer.isQuickToWrite(rows, read) && d.isSnapshotDue()
}

// isSnapshotDue reports whether enough has changed to write a snapshot. The caller must hold logmu.
func (d *DB) isSnapshotDue() bool {
	return d.log.Exists() && d.checkpointer.isWorthwhile(d.st.opsSinceBase, d.st.len())
}

// writeMissingSnapshot writes the snapshot that was missing or too old when the store was opened, and makes it the
// base of the state.
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

// renewSnapshot writes a snapshot and makes it the base of the state. Others can use the store in the meantime. If
// another process has written a newer snapshot, renewSnapshot uses that one. When ctx is done, it ends early and does
// not wait for other processes. The caller must hold the lock of the checkpointer.
func (d *DB) renewSnapshot(ctx context.Context) error {
	if d.rebaseOnSnapshot(ctx, func() error { return nil }, rebaseIfWorthwhile) == nil {
		// Do not write a snapshot, because another process has already written a newer snapshot than the one in use.
		return nil
	}
	f, err := d.freezeIf(func() bool { return true })
	if f == nil {
		return err
	}
	defer f.release()
	return d.writeFrozenState(ctx, f, func(fn func() error) error { return d.withExclusiveLock(ctx, fn) },
		func(put func() error) error { return d.rebaseOnSnapshot(ctx, put, rebaseAlways) })
}

// writeFrozenState writes a snapshot of the frozen state. It writes nothing if the existing snapshot contains the last
// change of this state. For begin and end, see [DB.writeDerivedFile].
func (d *DB) writeFrozenState(
	ctx context.Context,
	f *frozenState,
	lockedCreate, lockedRename func(fn func() error) error,
) error {
	return d.writeDerivedFile(d.snapshotName(), f.epoch, lockedCreate, func(put func() error) error {
		return lockedRename(func() error {
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
	}, func(file vfs.File) error { return f.writeSnapshot(ctxfile.File{Context: ctx, InnerFile: file}) })
}

// rebaseCondition specifies when rebaseOnSnapshot lets the state use the snapshot file in place of changes in memory.
type rebaseCondition int

const (
	rebaseAlways rebaseCondition = iota
	// Use the snapshot only if at least half of the changes in memory are then not needed any more.
	rebaseIfWorthwhile
)

// rebaseOnSnapshot calls writeSnapshot, which may write a snapshot, and then reads the entries from this snapshot
// instead of from memory. Only later changes are kept in memory. Other processes are locked out during the call. The
// error is errUnusableSnapshot if the snapshot is not newer than the one in use, or if the condition is not met.
func (d *DB) rebaseOnSnapshot(ctx context.Context, writeSnapshot func() error, condition rebaseCondition) error {
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
		isUsable := s.head.lastSeq <= d.log.LastSeq() && s.head.lastSeq > d.startSeq
		if condition == rebaseIfWorthwhile {
			isUsable = isUsable && isWorthwhile
		}
		if !isUsable {
			s.release()
			return errUnusableSnapshot
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
