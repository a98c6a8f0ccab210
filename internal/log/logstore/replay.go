// This file reads the log from its start, for checks.

package logstore

import (
	"slices"

	"github.com/oxbow-memory/oxbow/internal/base/logpos"
	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/store"
)

// placedState is a state that was read from the log's start, with the offsets of its
// records.
type placedState struct {
	st            *state
	entryOffsets  map[uint64]int64 // offset of each entry's record, by ID
	changeOffsets []int64          // offsets of the changes' records
	lastChain     [32]byte         // chain after the last change

	targetSeq     uint64         // number of a change whose entries are requested
	hasTarget     bool           // the log has that change
	targetEntries []*store.Entry // the entries after that change
}

func newPlacedState() *placedState {
	return &placedState{st: newState(), entryOffsets: map[uint64]int64{}}
}

// applyRecord implements recordApplier.
func (p *placedState) applyRecord(r *wal.Record, v *recordBody) ([]store.Delta, error) {
	if r.Type == typeChange && r.Seq == p.targetSeq+1 {
		p.recordTarget()
	}
	deltas, err := p.st.applyRecord(r, v)
	for _, d := range deltas {
		if d.Entry != nil {
			p.entryOffsets[d.ID] = r.Offset
		}
	}
	if r.Type == typeChange {
		p.changeOffsets, p.lastChain = append(p.changeOffsets, r.Offset), r.Chain
	}
	return deltas, err
}

// recordTarget records the current entries as the entries after change p.until.
func (p *placedState) recordTarget() {
	p.targetEntries, p.hasTarget = slices.Clone(p.st.changedByID), true
}

// placedStateAt returns the state after change seq, which has this chain. If wholeState is this state, it returns
// wholeState. Otherwise it reads the log from its start up to the change.
func (d *DB) placedStateAt(wholeState *placedState, seq uint64, chain [32]byte) (*placedState, error) {
	if wholeState.lastChain == chain {
		return wholeState, nil
	}
	p := newPlacedState()
	_, err := d.replayTo(seq, p)
	return p, err
}

// checkedFile implements [CheckedFile].
type checkedFile struct {
	DerivedFile
	wholeState *placedState
}

// RefreshPosition implements [CheckedFile].
func (f checkedFile) RefreshPosition(p logpos.Position) (logpos.Position, error) {
	return f.db.RefreshPosition(p)
}

// EntriesAt implements [CheckedFile].
func (f checkedFile) EntriesAt(p logpos.Position) (entries []*store.Entry, nextID uint64, err error) {
	at, err := f.db.placedStateAt(f.wholeState, p.Seq, p.Chain)
	return at.st.changedByID, at.st.nextID, err
}
