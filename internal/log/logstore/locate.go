// This file finds the offsets of entry versions and history positions in the log. Files that are derived from the log,
// such as search indexes, need these offsets.

package logstore

import (
	"cmp"
	"context"
	"fmt"

	"github.com/oxbow-memory/oxbow/internal/base/logpos"
	"github.com/oxbow-memory/oxbow/store"
)

// RefreshPosition checks that the log still contains the record with the number p.Seq and the hash p.ChainHash, and
// returns p with the record's present FileOffset. The offset may have changed because the log was rewritten. If the log
// has another ID or no such record, RefreshPosition returns an error that matches [store.ErrPosition].
func (d *DB) RefreshPosition(p logpos.Position) (logpos.Position, error) {
	d.logmu.RLock()
	defer d.logmu.RUnlock()
	p.FileOffset = d.recordOffsetOrLast(p.Seq, p.FileOffset)
	is := d.log.Header()
	switch {
	case !d.log.Exists() || is.ID != p.LogID || p.Seq > d.log.LastSeq():
	case p.FileOffset == 0:
		if is.BaseSeq == p.Seq && is.BaseChainHash == p.ChainHash {
			return p, nil
		}
	default:
		r, err := d.log.RecordAt(p.FileOffset)
		if err == nil && r.IsChainedRecord(p.Seq, p.ChainHash) {
			return p, nil
		}
	}
	return p, fmt.Errorf("%w: %s", store.ErrPosition, d.path)
}

// VersionList is a list of entry versions, with their records' offsets.
type VersionList interface {
	Len() int
	Version(i int) (id, version uint64)
	// SetOffset sets the offset in the log at which the record with version i of the list is stored.
	SetOffset(i int, offset int64)
}

// UpdateVersionOffsets finds the present offset in the log of each entry version in the list vs, and passes the offset
// to the list's method SetOffset. It fails if the log does not contain a version any more. Unless the log was
// compacted, it processes the list in parts and releases the lock after each part, so that writers never have to wait
// long.
func (d *DB) UpdateVersionOffsets(ctx context.Context, vs VersionList) error {
	const part = 1 << 14
	for from := 0; from < vs.Len(); {
		d.logmu.RLock()
		to := vs.Len()
		// In a compacted log, process the whole list at once. Otherwise each part would have to read all entries that
		// the compaction kept.
		if d.lastDroppedChange == 0 {
			to = min(to, from+part)
		}
		err := d.updateOffsetsInRange(vs, from, to)
		d.logmu.RUnlock()
		err = cmp.Or(err, ctx.Err())
		if err != nil {
			return err
		}
		from = to
	}
	return nil
}

// updateOffsetsInRange updates the log offsets of some versions in the list vs. The versions have the indexes
// startIndex, startIndex+1, and so on, up to endIndex-1. If a version is not in the log, the error matches
// ErrDerivedFileNotWritten. The caller must hold logmu.
func (d *DB) updateOffsetsInRange(vs VersionList, startIndex, endIndex int) error {
	before := map[uint64]int{} // indexes in vs of the versions that the last compaction kept, by entry ID
	for i := startIndex; i < endIndex; i++ {
		id, version := vs.Version(i)
		off, ok, err := d.recordOffset(version)
		if err != nil {
			return err
		}
		vs.SetOffset(i, off)
		if !ok {
			before[id] = i
		}
	}
	if len(before) == 0 {
		return nil
	}
	err := d.eachBaseEntry(func(off int64, p loggedOp) {
		i, ok := before[p.entry.ID]
		if !ok {
			return
		}
		if _, version := vs.Version(i); version == p.entry.Version {
			vs.SetOffset(i, off)
			delete(before, p.entry.ID)
		}
	})
	for id, i := range before {
		if err == nil {
			_, version := vs.Version(i)
			err = fmt.Errorf("%w: version %d of entry %d is not in the log", ErrDerivedFileNotWritten, version, id)
		}
	}
	return err
}

// LogState describes the log at one moment.
type LogState struct {
	Position      logpos.Position
	LogFileExists bool   // The log has a file, so it has a position.
	NextEntryID   uint64 // ID of the next new entry
	// The epoch changes each time when the log is read again from its start, for example because a redaction has
	// replaced the log. Data that were derived in an earlier epoch must not be used any more, because they may contain
	// redacted texts.
	LogEpoch uint64
}

// CurrentLogState calls callUnderLock and then returns the state of the log. It holds the log's lock during the call
// and until it returns, so that the log cannot change in this time. Because watchers receive changes under the same
// lock, they have received exactly the changes up to the returned state when callUnderLock runs.
func (d *DB) CurrentLogState(callUnderLock func()) LogState {
	d.logmu.RLock()
	defer d.logmu.RUnlock()
	callUnderLock()
	d.mu.RLock()
	defer d.mu.RUnlock()
	p, ok := logpos.DecodePosition(d.currentPosition())
	return LogState{p, ok, d.st.nextEntryID, d.logEpoch.Load()}
}

// Size returns the log's size in bytes and the entry count, as of the last time that the log was read.
func (d *DB) Size() (bytes int64, entries int) {
	d.logmu.RLock()
	defer d.logmu.RUnlock()
	return d.log.EndOffset(), d.st.len()
}

// SnapshotSeq returns the number of the last change in the snapshot that the state uses, or 0 if it uses none.
func (d *DB) SnapshotSeq() uint64 {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.st.base == nil {
		return 0
	}
	return d.st.base.head.lastSeq
}
