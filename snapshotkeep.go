// When the snapshot is written: as the store is closed, and while it is open, so
// that a process need not keep all that it wrote and read since it opened it.

package oxbow

import (
	"context"
	"maps"
	"slices"

	"github.com/oxbow-memory/oxbow/vfs"
)

const (
	// A snapshot is written at the close when at least this many ops, and a share of
	// the entries more, are not in the one that is there: so reading on costs little,
	// and writing is rare.
	snapshotLeast = 1000
	snapshotShare = 256
)

// frozen is the store at one moment, of which a snapshot can be made beside
// changes. It is to be released.
type frozen struct {
	of      *state // that of the store then
	st      *state // a copy, without the names, which are those of its order
	head    snapshotHead
	offsets []int64          // of the changes after the base of the state
	places  map[uint64]int64 // of the records of the base section, by ID, as far as they are needed
}

// freeze returns the store as it is now. logmu is held.
func (d *db) freeze() (*frozen, error) {
	places, err := d.basePlaces()
	if err != nil {
		return nil, err
	}
	p, _ := decodePosition(d.position())
	st := d.st
	return &frozen{
		of: st,
		st: &state{base: st.base.acquire(), hidden: slices.Clone(st.hidden), order: slices.Clone(st.order), gone: maps.Clone(st.gone),
			nextID: st.nextID, opIDs: maps.Clone(st.opIDs), opLog: slices.Clone(st.opLog)},
		head: snapshotHead{log: p.log, seq: p.seq, offset: p.offset, chain: p.chain, base: d.base,
			synced: d.log.Synced(), nextID: st.nextID},
		offsets: slices.Clone(d.offsets),
		places:  places,
	}, nil
}

func (f *frozen) release() {
	if f != nil {
		f.st.base.release()
	}
}

// encode returns the bytes of the snapshot.
func (f *frozen) encode() ([]byte, error) {
	base := f.head.base
	changes := make([]int64, 0, f.head.seq-base)
	if b := f.st.base; b != nil {
		b.rows.Load(sectionChanges)
		for seq := base + 1; seq <= b.head.seq; seq++ {
			offset, _ := b.change(seq)
			changes = append(changes, offset)
		}
	}
	changes = append(changes, f.offsets...)
	rows := f.st.collect(changes, func(e *Entry) int64 {
		if e.Version > base && e.Version-base <= uint64(len(changes)) {
			return changes[e.Version-base-1]
		}
		return f.places[e.ID]
	})
	if err := f.st.failed(); err != nil {
		return nil, err
	}
	return rows.encode(f.head), nil
}

// basePlaces returns the offsets of the records of the base section, by ID of the
// entries in it, where a snapshot of the state needs them.
func (d *db) basePlaces() (map[uint64]int64, error) {
	places := map[uint64]int64{}
	if d.base == 0 || d.st.base != nil {
		return places, nil
	}
	return places, d.eachBase(func(offset int64, p put) { places[p.entry.ID] = offset })
}

// keepSnapshot writes the snapshot, when much has changed since the one that is
// there and no process writes to the store. A failure costs the next process its
// time, and is no error.
func (d *db) keepSnapshot() {
	if d.opts.ReadOnly && !d.opts.KeepIndex {
		return
	}
	d.logmu.RLock()
	worth := d.broken == nil && d.worthSnapshot()
	d.logmu.RUnlock()
	if worth {
		_ = d.withoutWriters(d.writeSnapshot)
	}
}

// worthSnapshot reports whether much has changed since the snapshot. logmu is
// held.
func (d *db) worthSnapshot() bool {
	least := snapshotLeast + d.st.len()/snapshotShare
	if d.opts.snapshotLeast > 0 {
		least = int(d.opts.snapshotLeast)
	}
	return d.log.Exists() && d.st.ops >= least
}

// writeSnapshot writes the snapshot of all that is in the log. The lock between
// processes is held.
func (d *db) writeSnapshot() error {
	d.logmu.Lock()
	defer d.logmu.Unlock()
	if err := d.catchUp(); err != nil {
		return err
	}
	if !d.worthSnapshot() {
		return nil // another process did
	}
	f, err := d.freeze()
	if err != nil {
		return err
	}
	defer f.release()
	data, err := f.encode()
	if err != nil {
		return err
	}
	return d.putSnapshot(data)
}

// putSnapshot makes data the snapshot. The lock between processes is held. It is not
// synced: the checks of a file that a crash damages fail.
func (d *db) putSnapshot(data []byte) error {
	if err := d.dropFile(d.snapshotName(), false); err != nil {
		return err
	}
	return vfs.WriteDerived(d.fs, d.snapshotName(), 0o600, data)
}

// shortenTail makes a new snapshot the base of the state, in another goroutine, when
// the log after the one there is has grown long. logmu is held exclusively. What goes
// wrong is left to a time when it has grown again.
func (d *db) shortenTail() {
	if d.log.End() < d.tailAt || d.opts.ReadOnly || !d.snapshotMu.TryLock() {
		return
	}
	d.tailAt = d.log.End() + d.opts.tailLeast
	go func() {
		defer d.snapshotMu.Unlock()
		_ = d.renewSnapshot(d.closing)
	}()
}

// renewSnapshot makes a snapshot beside readers and writers, who wait while it is
// written, but not while it is made, and makes it the base of the state. When ctx is done
// it does not wait for another process. snapshotMu is held.
func (d *db) renewSnapshot(ctx context.Context) error {
	if d.restOn(ctx, func() error { return nil }, true) == nil {
		return nil // another process wrote one
	}
	d.logmu.RLock()
	f, err := d.freeze()
	d.logmu.RUnlock()
	if err != nil {
		return err
	}
	defer f.release()
	data, err := f.encode()
	if err != nil {
		return err
	}
	return d.restOn(ctx, func() error { return d.putFrozen(f, data) }, false)
}

// putFrozen makes data, which was made of f, the snapshot, unless the log was written
// again meanwhile. The lock between processes is held.
func (d *db) putFrozen(f *frozen, data []byte) error {
	if d.st != f.of {
		return errSnapshot
	}
	return d.putSnapshot(data)
}

// restOn calls put, with the lock between processes, and makes the snapshot there is
// then the base of the state; with much, only if it spares the state half of what it
// keeps.
func (d *db) restOn(ctx context.Context, put func() error, much bool) error {
	d.writerMu.Lock()
	defer d.writerMu.Unlock()
	return d.locked(ctx, func() error {
		if err := put(); err != nil {
			return err
		}
		s, err := d.openSnapshot()
		if err != nil {
			return err
		}
		spared := s.end() - d.st.base.end()
		if s.head.seq > d.log.Seq() || s.head.seq <= d.from || much && spared < (d.log.End()-d.st.base.end())/2 {
			s.release()
			return errSnapshot
		}
		st := d.st.over(s)
		if err := st.failed(); err != nil {
			s.release()
			return err
		}
		d.setState(st, slices.Clone(d.offsets[s.head.seq-d.from:]))
		return nil
	})
}
