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

// frozen is the store as of one moment. A snapshot can be written from it while other changes are
// made. It must be released.
type frozen struct {
	epoch   uint64 // epoch of the store at that moment
	st      *state // a copy of the state without names; the entries are in its order
	head    snapshotHead
	offsets []int64          // offsets of the changes after the state's base
	places  map[uint64]int64 // offsets of the records in the log's base, by entry ID, if needed
}

// freeze returns the current state of the store. logmu must be held.
func (d *DB) freeze() (*frozen, error) {
	places, err := d.basePlaces()
	if err != nil {
		return nil, err
	}
	p, _ := logpos.Decode(d.position())
	st := d.st
	return &frozen{
		epoch: d.epoch.Load(),
		st: &state{base: st.base.acquire(), hidden: slices.Clone(st.hidden), order: slices.Clone(st.order),
			gone:   maps.Clone(st.gone),
			nextID: st.nextID, opIDs: maps.Clone(st.opIDs), opLog: slices.Clone(st.opLog), rare: slices.Clone(st.rare)},
		head: snapshotHead{log: p.Log, seq: p.Seq, offset: p.Offset, chain: p.Chain, base: d.base,
			synced: d.log.SyncedOffset(), nextID: st.nextID},
		offsets: slices.Clone(d.offsets),
		places:  places,
	}, nil
}

func (f *frozen) release() {
	if f != nil {
		f.st.base.release()
	}
}

// write writes the snapshot.
func (f *frozen) write(to io.WriterAt) error {
	rows := f.st.collect(f.offsets, f.offset)
	if err := f.st.readError(); err != nil {
		return err
	}
	err := rows.WriteFile(to, f.head.page())
	return cmp.Or(f.st.readError(), err)
}

// offset returns the offset of the record with an entry's version.
func (f *frozen) offset(e *store.Entry) int64 {
	from := f.head.seq - uint64(len(f.offsets))
	if e.Version > from && e.Version <= f.head.seq {
		return f.offsets[e.Version-from-1]
	}
	if offset, ok := f.st.base.change(e.Version); ok {
		return offset
	}
	return f.places[e.ID]
}

// basePlaces returns the offsets of the records in the log's base, by entry ID, if a
// snapshot of the state needs them.
func (d *DB) basePlaces() (map[uint64]int64, error) {
	places := map[uint64]int64{}
	if d.base == 0 || d.st.base != nil {
		return places, nil
	}
	return places, d.eachBase(func(offset int64, p loggedOp) { places[p.entry.ID] = offset })
}

// Checkpoint writes the snapshot, from which the next process starts, if enough has changed
// since the last snapshot. If another process is writing, it leaves the snapshot to the
// next call.
func (d *DB) Checkpoint(ctx context.Context) error {
	if err := d.ready(ctx); err != nil {
		return err
	}
	err := d.keepSnapshot(ctx)
	if errors.Is(err, errSnapshot) || errors.Is(err, ErrDerived) {
		return nil
	}
	return err
}

// keepSnapshot writes the snapshot in the background if much has changed since the last
// snapshot. The file is renamed between the writes of this process, and not at all if
// another process is writing. If it is not written, the next process only needs more time.
func (d *DB) keepSnapshot(ctx context.Context) error {
	if !d.opts.KeepFiles {
		return nil
	}
	if err := d.checkpointer.mu.LockContext(ctx); err != nil {
		return err
	}
	defer d.checkpointer.mu.Unlock()
	f, err := d.freezeIf(d.worthSnapshot)
	if f == nil {
		return err
	}
	defer f.release()
	between := func(fn func() error) error { return d.betweenWrites(ctx, fn) }
	return d.putFrozen(ctx, f, between, between)
}

// freezeIf freezes the store if it is open, can be read, and worth returns true. Otherwise
// it returns nil. worth is called with logmu held.
func (d *DB) freezeIf(worth func() bool) (*frozen, error) {
	d.logmu.RLock()
	defer d.logmu.RUnlock()
	if d.closed || d.broken != nil {
		return nil, nil
	}
	if !worth() {
		return nil, nil
	}
	return d.freeze()
}

// instantSnapshot reports whether a snapshot is worth writing and, according to its number
// of rows, takes only a few milliseconds. logmu must be held.
func (d *DB) instantSnapshot() bool {
	rows, read := d.st.len()+len(d.st.gone)+int(d.log.Seq()-d.base)/4, d.log.End()
	if b := d.st.base; b != nil {
		rows, read = rows+b.head.counts[sectionRemoved], 0
	}
	return d.checkpointer.isQuick(rows, read) && d.worthSnapshot()
}

// worthSnapshot reports whether much has changed since the snapshot. logmu must be held.
func (d *DB) worthSnapshot() bool {
	return d.log.Exists() && d.checkpointer.isWorthwhile(d.st.ops, d.st.len())
}

// makeUp writes the snapshot that was already missing when the store was opened, and uses
// it as the base of the state.
func (d *DB) makeUp() {
	if d.opts.ReadOnly {
		_ = d.keepSnapshot(d.closing)
		return
	}
	if d.checkpointer.mu.LockContext(d.closing) != nil {
		return
	}
	defer d.checkpointer.mu.Unlock()
	d.logmu.RLock()
	worth := d.ready(d.closing) == nil && d.broken == nil && d.worthSnapshot()
	d.logmu.RUnlock()
	if worth {
		_ = d.renewSnapshot(d.closing)
	}
}

// renewSnapshot writes a snapshot in the background and uses it as the base of the state.
// Once ctx is done, it does not wait for other processes and ends early. The checkpointer's
// lock must be held.
func (d *DB) renewSnapshot(ctx context.Context) error {
	if d.restOn(ctx, func() error { return nil }, restIfWorthwhile) == nil {
		return nil // another process has written a newer snapshot
	}
	f, err := d.freezeIf(func() bool { return true })
	if f == nil {
		return err
	}
	defer f.release()
	return d.putFrozen(ctx, f, func(fn func() error) error { return d.withExclusiveLock(ctx, fn) },
		func(put func() error) error { return d.restOn(ctx, put, restAlways) })
}

// putFrozen writes the snapshot of f, unless the existing snapshot is as recent. begin and end are
// used as in derive.
func (d *DB) putFrozen(ctx context.Context, f *frozen, begin, end func(fn func() error) error) error {
	return d.derive(d.snapshotName(), f.epoch, begin, func(put func() error) error {
		return end(func() error {
			if err := d.checkEpoch(f.epoch); err != nil {
				return err
			}
			if s, err := d.openSnapshot(); err == nil {
				defer s.release()
				if s.head.seq >= f.head.seq {
					return nil
				}
			}
			return put()
		})
	}, func(file vfs.File) error { return f.write(ctxfile.File{Context: ctx, Inner: file}) })
}

// restCondition decides when restOn uses a snapshot.
type restCondition int

const (
	restAlways       restCondition = iota
	restIfWorthwhile               // if this frees at least half of the log data that the state keeps in memory
)

// restOn calls put with the lock between processes and then uses the existing snapshot as
// the base of the state.
func (d *DB) restOn(ctx context.Context, put func() error, condition restCondition) error {
	return d.withExclusiveLock(ctx, func() error {
		if err := put(); err != nil {
			return err
		}
		s, err := d.openSnapshot()
		if err != nil {
			return err
		}
		spared := s.end() - d.st.base.end()
		isWorthwhile := spared >= (d.log.End()-d.st.base.end())/2
		isUsable := s.head.seq <= d.log.Seq() && s.head.seq > d.from
		if condition == restIfWorthwhile {
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
		d.setEqualState(st, slices.Clone(d.offsets[s.head.seq-d.from:]))
		return nil
	})
}
