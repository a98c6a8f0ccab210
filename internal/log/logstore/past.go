// This file finds the entries that changed after a given change, and the versions that they had at that change.

package logstore

import (
	"context"
	"errors"
	"slices"

	"github.com/oxbow-memory/oxbow/store"
)

// errReadFromStart is returned if an earlier state can only be found by reading the log from its start.
var errReadFromStart = errors.New("the state must be read from the start of the log")

// DeltasBefore returns the deltas that turn the current state, or a slightly older state, into the state after change
// seq. For each entry that a later change wrote or removed, there is a delta with the version that the entry had then.
// The delta lacks an entry if the entry did not exist then.
//
// ok is false if the later changes have more than limit ops, or if a later change is a redaction, a recovery or a
// compaction. The caller must then use [DB.AsOf].
func (d *DB) DeltasBefore(ctx context.Context, seq uint64, limit int) (deltas []store.Delta, ok bool, err error) {
	if err := d.Refresh(ctx); err != nil {
		return nil, false, err
	}
	if err := d.checkHasStateAfter(seq); err != nil {
		return nil, false, err
	}
	p := pastVersions{entriesByID: map[uint64]*store.Entry{}}
	ops := 0
	for _, last := d.changeRange(); last > seq; last-- {
		r, v, found, err := d.readChangeRecord(last)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, false, err
		}
		if !found || v.base != nil {
			return nil, false, nil
		}
		if isRewrite(&r, v) || ops+len(v.ops) > limit {
			return nil, false, nil
		}
		ops += len(v.ops)
		err = d.addVersionsBefore(&p, last, v)
		if errors.Is(err, errReadFromStart) || errors.Is(err, store.ErrNotFound) {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, err
		}
	}
	for _, id := range p.entryIDs {
		deltas = append(deltas, store.Delta{ID: id, Entry: p.entriesByID[id]})
	}
	return deltas, true, nil
}

// pastVersions collects the versions that entries had before some changes.
type pastVersions struct {
	entriesByID map[uint64]*store.Entry // earlier version of each entry, by entry ID (nil if the entry did not exist)
	entryIDs    []uint64                // IDs of the entries, in the order in which they were added
}

func (p *pastVersions) setEntry(id uint64, e *store.Entry) {
	if _, known := p.entriesByID[id]; !known {
		p.entryIDs = append(p.entryIDs, id)
	}
	p.entriesByID[id] = e
}

// addVersionsBefore sets, for each entry that change seq wrote, the version before this change.
func (d *DB) addVersionsBefore(p *pastVersions, seq uint64, v *recordBody) error {
	first, _ := d.changeRange()
	for _, op := range v.ops {
		if op.prevSeq != 0 && op.prevSeq < first {
			// A compaction has dropped the previous version's change. To find that version, readSteps would have to
			// read all entries that the compaction kept.
			return errReadFromStart
		}
	}
	versions := previousVersions{db: d}
	steps, err := versions.readSteps(seq, v)
	if err != nil {
		return err
	}
	for _, s := range slices.Backward(steps) {
		p.setEntry(s.p.entry.ID, nil)
		if s.old != nil {
			p.setEntry(s.old.Entry.ID, &s.old.Entry)
		}
	}
	return nil
}
