// When the snapshot is written: at a checkpoint, while the store is open, so that a
// process need not keep all that it wrote and read since it opened it, and, where
// that takes an instant, as it is closed.

package oxbow

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/oxbow-memory/oxbow/vfs"
)

const (
	// A snapshot is worth writing when at least this many ops, and a share of the
	// entries more, are not in the one that is there: so reading on costs little, and
	// writing is rare.
	snapshotLeast = 1000
	snapshotShare = 256

	// rowsAtClose is how many rows a snapshot may have that is made while the store is
	// closed: a few milliseconds.
	rowsAtClose = 8192
)

// frozen is the store at one moment, of which a snapshot can be made beside
// changes. It is to be released.
type frozen struct {
	epoch   uint64 // that of the store then
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
		epoch: d.epoch,
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

// encode returns the bytes of the snapshot, unless ctx is done before.
func (f *frozen) encode(ctx context.Context) ([]byte, error) {
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
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	rows := f.st.collect(changes, func(e *Entry) int64 {
		if e.Version > base && e.Version-base <= uint64(len(changes)) {
			return changes[e.Version-base-1]
		}
		return f.places[e.ID]
	})
	if err := cmp.Or(f.st.failed(), ctx.Err()); err != nil {
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

// keepSnapshot makes the snapshot next to readers and writers, when much has changed
// since the one that is there, and writes it between the writes of this process, unless
// another writes then. What it does not do costs the next process its time, no more.
func (d *db) keepSnapshot(ctx context.Context) error {
	if d.opts.ReadOnly && !d.opts.KeepIndex {
		return nil
	}
	if err := d.snapshotMu.lockContext(ctx); err != nil {
		return err
	}
	defer d.snapshotMu.Unlock()
	f, err := d.freezeIf(d.worthSnapshot)
	if f == nil {
		return err
	}
	defer f.release()
	data, err := f.encode(ctx)
	if err != nil {
		return err
	}
	return d.betweenWrites(ctx, func() error {
		if err := d.refresh(); err != nil {
			return err
		}
		return d.putFrozen(ctx, f, data, d.epochNow())
	})
}

// freezeIf freezes the store, if it can be read and worth, called with logmu held,
// reports true; else it returns nil.
func (d *db) freezeIf(worth func() bool) (*frozen, error) {
	d.logmu.RLock()
	defer d.logmu.RUnlock()
	if d.broken != nil || !worth() {
		return nil, nil
	}
	return d.freeze()
}

// instantSnapshot reports whether a snapshot is worth it, and made in some
// milliseconds, by the number of its rows. logmu is held.
func (d *db) instantSnapshot() bool {
	rows, read := d.st.len()+len(d.st.gone)+int(d.log.Seq()-d.base)/4, d.log.End()
	if b := d.st.base; b != nil {
		rows, read = rows+b.head.counts[sectionRemoved], 0
	}
	return rows <= rowsAtClose && read <= quickBytes && d.worthSnapshot()
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

// putSnapshot makes data the snapshot, unless ctx is done before. The lock between
// processes is held. It is not synced: the checks of a file that a crash damages fail.
func (d *db) putSnapshot(ctx context.Context, data []byte) error {
	if err := d.dropFile(d.snapshotName(), false); err != nil {
		return err
	}
	return vfs.WriteDerived(writesUntil{d.fs, ctx}, d.snapshotName(), 0o600, data)
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

// makeUp makes the snapshot that was worth making when the store was opened, and the
// base of the state.
func (d *db) makeUp() {
	if d.opts.ReadOnly {
		_ = d.keepSnapshot(d.closing)
		return
	}
	d.logmu.RLock()
	worth := d.broken == nil && d.worthSnapshot()
	d.logmu.RUnlock()
	if worth && d.snapshotMu.TryLock() {
		defer d.snapshotMu.Unlock()
		_ = d.renewSnapshot(d.closing)
	}
}

// renewSnapshot makes a snapshot beside readers and writers, who wait while it is
// written, but not while it is made, and makes it the base of the state. When ctx is done
// it does not wait for another process, and ends early. snapshotMu is held.
func (d *db) renewSnapshot(ctx context.Context) error {
	if d.restOn(ctx, func() error { return nil }, true) == nil {
		return nil // another process wrote one
	}
	f, err := d.freezeIf(func() bool { return true })
	if f == nil {
		return err
	}
	defer f.release()
	data, err := f.encode(ctx)
	if err != nil {
		return err
	}
	return d.restOn(ctx, func() error { return d.putFrozen(ctx, f, data, d.epoch) }, false)
}

// putFrozen makes data, which was made of f, the snapshot, unless the log was written
// again meanwhile, by the epoch there is now, or there is one that is as late. The lock
// between processes is held, and all was read that others wrote.
func (d *db) putFrozen(ctx context.Context, f *frozen, data []byte, now uint64) error {
	if now != f.epoch {
		return errSnapshot
	}
	if s, err := d.openSnapshot(); err == nil {
		defer s.release()
		if s.head.seq >= f.head.seq {
			return nil
		}
	}
	return d.putSnapshot(ctx, data)
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
		d.rest(st, slices.Clone(d.offsets[s.head.seq-d.from:]))
		return nil
	})
}
