// Compaction: the log rewritten to begin at a later change, with the entries of
// that time.

package oxbow

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow/internal/wal"
)

// baseBytes is about how many bytes of entries one base record holds.
const baseBytes = 1 << 20

// Compact implements [Compactor]. The change that it adds to the log holds the
// hash of the entries it kept, so that the chain vouches for them.
func (d *db) Compact(ctx context.Context, before time.Time, dry bool) (CompactReport, error) {
	d.writerMu.Lock()
	defer d.writerMu.Unlock()
	var rep CompactReport
	err := d.locked(ctx, func() error {
		if !d.log.Exists() {
			return nil
		}
		if err := d.loadAll(); err != nil {
			return err
		}
		horizon, err := d.horizon(before)
		if err != nil {
			return err
		}
		old := newState()
		deltas, err := d.replayTo(horizon, old)
		if err != nil {
			return err
		}
		versions := 0
		for _, dl := range deltas {
			if dl.Entry != nil {
				versions++
			}
		}
		rep.BytesBefore = d.log.Size()
		rep.Changes, rep.Versions = int(horizon-d.base), versions-len(old.order)
		if rep.Changes == 0 && len(d.log.Gaps()) == 0 {
			rep.Changes, rep.Versions, rep.BytesAfter = 0, 0, rep.BytesBefore
			return nil
		}
		baseRecords, sum := baseBodies(old)
		if dry {
			rep.BytesAfter = d.sizeAfter(horizon, baseRecords)
			return nil
		}
		if err := d.dropDerived(); err != nil {
			return err
		}
		rep.Seq, err = d.rewrite(ctx, horizon, baseRecords, sum[:], fmt.Sprintf(
			"compaction: %d changes up to %d dropped, %d earlier versions with them", rep.Changes, horizon, rep.Versions), nil)
		rep.BytesAfter = d.log.Size()
		return err
	})
	return rep, err
}

// loadAll reads all of the log, where a snapshot spared it. logmu is held
// exclusively.
func (d *db) loadAll() error {
	if d.st.base == nil {
		return nil
	}
	return d.reload()
}

// dropDerived removes the files that are made from the log, which hold words and
// hashes of names of what is dropped. They are made again; no process can write
// them before the log is rewritten, since the lock is held.
func (d *db) dropDerived() error {
	if err := d.dropFile(d.snapshotName(), true); err != nil {
		return fmt.Errorf("removing the snapshot: %w", err)
	}
	if err := d.dropIndex(true); err != nil {
		return fmt.Errorf("removing the index file: %w", err)
	}
	return nil
}

// horizon returns the last change before the time given.
func (d *db) horizon(before time.Time) (uint64, error) {
	seq := d.base
	for i, off := range d.offsets {
		r, err := d.log.At(off)
		if err != nil {
			return 0, err
		}
		if !time.Unix(0, r.Time).Before(before) {
			break
		}
		seq = d.base + uint64(i) + 1
	}
	return seq, nil
}

// baseBodies encodes the entries of a state, and returns the hash of all the
// bodies together.
func baseBodies(st *state) ([][]byte, [32]byte) {
	var bodies [][]byte
	h := sha256.New()
	v := &body{nextID: st.nextID}
	for _, id := range st.opLog {
		v.seen = append(v.seen, seenID{id, st.opIDs[id]})
	}
	n := 0
	flush := func() {
		b := appendBase(nil, v)
		h.Write(b)
		bodies = append(bodies, b)
		v, n = &body{}, 0
	}
	for _, e := range st.order {
		v.ops = append(v.ops, put{verb: VerbAdd, entry: e})
		if n += len(e.Content) + len(e.Name) + 100; n > baseBytes {
			flush()
		}
	}
	if len(v.ops) > 0 || v.nextID > 0 {
		flush()
	}
	var sum [32]byte
	h.Sum(sum[:0])
	return bodies, sum
}

func (d *db) sizeAfter(horizon uint64, baseRecords [][]byte) int64 {
	n := int64(wal.HeaderSize)
	for _, b := range baseRecords {
		n += wal.Overhead + int64(len(b))
	}
	if i := horizon - d.base; i < uint64(len(d.offsets)) {
		n += d.log.End() - d.offsets[i]
	}
	return n
}

// rewrite writes the new file, which begins at the horizon with the entries of
// baseRecords, adds the change that records it, and reads it. Edit, if not nil,
// changes the bodies that are kept; their digests must stay. The lock and logmu
// are held.
func (d *db) rewrite(ctx context.Context, horizon uint64, records [][]byte, sum []byte, note string, edit func([]byte) ([]byte, error)) (uint64, error) {
	chain := d.log.Header().Chain
	if horizon > d.base {
		r, err := d.log.At(d.offsets[horizon-d.base-1])
		if err != nil {
			return 0, err
		}
		chain = r.Chain
	}
	kept := slices.Clone(d.offsets[horizon-d.base:])
	mark := d.durableMark(ctx, sum, note)
	old, end := d.log, d.log.End()
	err := old.Rewrite(horizon, chain, func(emit func(wal.Record) error) error {
		for _, b := range records {
			if err := emit(wal.Record{Seq: horizon, Time: mark.Time, Type: wal.Base, Body: b, Chain: chain}); err != nil {
				return err
			}
		}
		for _, off := range kept {
			r, err := old.At(off)
			if err == nil && edit != nil {
				r.Body, err = edit(r.Body)
			}
			if err != nil {
				return err
			}
			if err := emit(r); err != nil {
				return err
			}
		}
		return emit(mark)
	})
	if err != nil && d.log.End() == end {
		return 0, err
	}
	// The position has moved: the new file is in place, though perhaps not for
	// good.
	st := newState()
	var offsets []int64
	if _, rerr := d.replay(d.log, st, func(off int64) { offsets = append(offsets, off) }, 0); rerr != nil {
		d.breaks(rerr)
		return 0, rerr
	}
	d.setState(st, offsets)
	d.watchers.Send(Event{Reset: true})
	return mark.Seq, err
}

// durableMark makes the record of a change that rewrote the log. It goes into the new
// file with what it vouches for, so that there is no moment in which nothing
// does.
func (d *db) durableMark(ctx context.Context, sum []byte, note string) wal.Record {
	v := &body{base: sum, source: d.source(ctx), note: note}
	r := wal.Record{Seq: d.log.Seq() + 1, Time: d.opts.Clock().UnixNano(), Type: typeChange}
	data, digest := encodeBody(v)
	r.Body, r.Chain = data, wal.Link(d.log.Chain(), r.Seq, r.Time, r.Type, digest)
	return r
}
