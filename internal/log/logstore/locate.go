// Where the log holds what a derived file has, and the state that one is made of.

package logstore

import (
	"cmp"
	"context"
	"fmt"

	"github.com/oxbow-memory/oxbow/internal/base/logpos"
	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/store"
)

// PlaceOf returns a position with the offset that its record has now, or [store.ErrPosition] if
// it is not in the history of the log.
func (d *DB) PlaceOf(p logpos.Position) (logpos.Position, error) {
	d.logmu.RLock()
	defer d.logmu.RUnlock()
	p.Offset = d.placeOf(p.Seq, p.Offset)
	is := d.log.Header()
	switch {
	case !d.log.Exists() || is.ID != p.Log || p.Seq > d.log.Seq():
	case p.Offset == 0:
		if is.Base == p.Seq && is.Chain == p.Chain {
			return p, nil
		}
	default:
		r, err := d.log.At(p.Offset)
		if err == nil && r.Type < wal.Unchained && r.Seq == p.Seq && r.Chain == p.Chain {
			return p, nil
		}
	}
	return p, fmt.Errorf("%w: %s", store.ErrPosition, d.path)
}

// Versions is a list of versions of entries, and of where the log holds them.
type Versions interface {
	Len() int
	Version(i int) (id, version uint64)
	SetOffset(i int, offset int64) // of the record
}

// Locate sets the offsets of versions to where the log holds them now. A version that it
// does not hold is an error. A writer waits for a part of them at most.
func (d *DB) Locate(ctx context.Context, vs Versions) error {
	const part = 1 << 14
	for from := 0; from < vs.Len(); {
		d.logmu.RLock()
		to := vs.Len()
		if d.base == 0 { // else each part would read the base of the log
			to = min(to, from+part)
		}
		err := d.locatePart(vs, from, to)
		d.logmu.RUnlock()
		err = cmp.Or(err, ctx.Err())
		if err != nil {
			return err
		}
		from = to
	}
	return nil
}

// locatePart is Locate of the versions from one on to another. logmu is held.
func (d *DB) locatePart(vs Versions, from, to int) error {
	before := map[uint64]int{} // of an earlier change, by ID
	for i := from; i < to; i++ {
		id, version := vs.Version(i)
		off, ok, err := d.offsetOf(version)
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
	err := d.eachBase(func(off int64, p put) {
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
			err = fmt.Errorf("%w: version %d of entry %d is not in the log", ErrDerived, version, id)
		}
	}
	return err
}

// Moment is a state of the log.
type Moment struct {
	Position logpos.Position
	Exists   bool   // the log has a file, and so a position
	NextID   uint64 // of the entry that is added next
	Epoch    uint64 // another when the log was read again: what was made of it before may be what was erased
}

// Moment returns the state of now, after it called fn: all changes up to it have been
// sent to the watchers then, and none after it.
func (d *DB) Moment(fn func()) Moment {
	d.logmu.RLock()
	defer d.logmu.RUnlock()
	fn()
	d.mu.RLock()
	defer d.mu.RUnlock()
	p, ok := logpos.Decode(d.position())
	return Moment{p, ok, d.st.nextID, d.epoch.Load()}
}

// Size returns the bytes of the log, and how many entries there are, as far as the log was
// read.
func (d *DB) Size() (bytes int64, entries int) {
	d.logmu.RLock()
	defer d.logmu.RUnlock()
	return d.log.End(), d.st.len()
}

// SnapshotSeq returns the last change of the snapshot that the state rests on, 0 where
// it rests on none.
func (d *DB) SnapshotSeq() uint64 {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.st.base == nil {
		return 0
	}
	return d.st.base.head.seq
}
