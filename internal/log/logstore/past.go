// This file finds the entries that changed after a given change, and reconstructs their versions at
// that change.

package logstore

import (
	"context"
	"errors"

	"github.com/oxbow-memory/oxbow/store"
)

// errReadFromStart means that an earlier state can only be read from the start of the log.
var errReadFromStart = errors.New("the state must be read from the start of the log")

// DeltasBefore returns the deltas that turn the current state, or a slightly older state, into the state
// after change seq. For each entry that a later change touched, there is a delta with the version at
// that time, or without an entry if it did not exist.
//
// ok is false if the later changes have more than limit ops, or if they contain a redaction, a
// recovery or a compaction. The caller must then use [DB.AsOf].
func (d *DB) DeltasBefore(ctx context.Context, seq uint64, limit int) (deltas []store.Delta, ok bool, err error) {
	if err := d.Refresh(ctx); err != nil {
		return nil, false, err
	}
	if err := d.checkHasState(seq); err != nil {
		return nil, false, err
	}
	p := pastVersions{entries: map[uint64]*store.Entry{}}
	ops := 0
	for _, last := d.changeRange(); last > seq; last-- {
		r, v, found, err := d.readRecord(last)
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
		deltas = append(deltas, store.Delta{ID: id, Entry: p.entries[id]})
	}
	return deltas, true, nil
}

// pastVersions contains the versions that entries had before some changes.
type pastVersions struct {
	entries  map[uint64]*store.Entry // the versions by entry ID, nil for an entry that did not exist
	entryIDs []uint64                // the keys of entries
}

func (p *pastVersions) setEntry(id uint64, e *store.Entry) {
	if _, known := p.entries[id]; !known {
		p.entryIDs = append(p.entryIDs, id)
	}
	p.entries[id] = e
}

// addVersionsBefore sets the entries of change seq in p to their state before the change.
func (d *DB) addVersionsBefore(p *pastVersions, seq uint64, v *recordBody) error {
	first, _ := d.changeRange()
	for i := len(v.ops) - 1; i >= 0; i-- {
		op := v.ops[i]
		if op.prevSeq != 0 && op.prevSeq < first {
			return errReadFromStart // otherwise versionBefore would have to read all entries of the base
		}
		old, err := d.versionBefore(seq, v, v.ops[:i], op)
		if err != nil {
			return err
		}
		p.setEntry(op.entry.ID, nil)
		if old != nil {
			p.setEntry(old.Entry.ID, &old.Entry)
		}
	}
	return nil
}
