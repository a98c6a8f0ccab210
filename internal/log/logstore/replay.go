// This file reads the log from its start, for checks.

package logstore

import (
	"slices"

	"github.com/oxbow-memory/oxbow/internal/base/logpos"
	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/store"
)

// placing is a state that was read from the log's start, with the offsets of its
// records.
type placing struct {
	st      *state
	places  map[uint64]int64 // offset of each entry's record, by ID
	changes []int64          // offsets of the changes' records
	chain   [32]byte         // chain after the last change

	until     uint64         // number of a change whose entries are requested
	isReached bool           // the log has that change
	then      []*store.Entry // the entries after that change
}

func newPlacing() *placing { return &placing{st: newState(), places: map[uint64]int64{}} }

// applyRecord implements applier.
func (p *placing) applyRecord(r *wal.Record, v *body) ([]store.Delta, error) {
	if r.Type == typeChange && r.Seq == p.until+1 {
		p.reach()
	}
	deltas, err := p.st.applyRecord(r, v)
	for _, d := range deltas {
		if d.Entry != nil {
			p.places[d.ID] = r.Offset
		}
	}
	if r.Type == typeChange {
		p.changes, p.chain = append(p.changes, r.Offset), r.Chain
	}
	return deltas, err
}

// reach records the current entries as the entries after change p.until.
func (p *placing) reach() { p.then, p.isReached = slices.Clone(p.st.order), true }

// placedAt returns the state after change seq. If whole is the state with this number and chain,
// placedAt returns whole. Otherwise it reads the log.
func (d *DB) placedAt(whole *placing, seq uint64, chain [32]byte) (*placing, error) {
	if whole.chain == chain {
		return whole, nil
	}
	p := newPlacing()
	_, err := d.replayTo(seq, p)
	return p, err
}

// checkedFile implements [CheckedFile].
type checkedFile struct {
	DerivedFile
	whole *placing
}

// PlaceOf implements [CheckedFile].
func (f checkedFile) PlaceOf(p logpos.Position) (logpos.Position, error) { return f.d.PlaceOf(p) }

// EntriesAt implements [CheckedFile].
func (f checkedFile) EntriesAt(p logpos.Position) (entries []*store.Entry, nextID uint64, err error) {
	at, err := f.d.placedAt(f.whole, p.Seq, p.Chain)
	return at.st.order, at.st.nextID, err
}
