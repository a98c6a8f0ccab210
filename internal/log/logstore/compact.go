// This file implements compaction, which rewrites the log so that the log begins at a later change,
// the horizon, with the entries at that time. This process and others can read and write during a
// compaction:
//
// 1. Survey. The log is read once without a lock. For each entry, the survey keeps a row of
// 24 bytes. The survey finds the versions at the horizon, the last change that is dropped,
// and the last version of each entry.
//
// 2. Copy. The entries at the horizon, by ID, and the later changes are written to a new
// file. The new file is synced in steps of 4 MiB, so that writers do not have to wait long
// for their own syncs. A snapshot of the new file is written as well.
//
// 3. Follow. Changes that were appended in the meantime are copied until only a few are
// left.
//
// 4. Replace. The rest is copied while the lock between processes is held. If the chain of
// the copied changes ends like the log's chain, the copy is complete, regardless of torn or
// rolled back writes. A change is added that records the compaction and the hash of the
// base, so that the chain covers the entries that were kept. The file is synced and renamed
// over the log, and the directory is synced. If another process has replaced the log, the
// compaction starts again.
//
// The old file is not changed before the rename, so that a crash leaves either the old or
// the new file, each with all acknowledged changes. Readers notice that the name refers to
// a new file. They read the new snapshot and keep their index, because a compaction does
// not change entries.

package logstore

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sort"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/ctxfile"
	"github.com/oxbow-memory/oxbow/internal/base/progress"
	"github.com/oxbow-memory/oxbow/internal/log/keydir"
	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/store"
)

const (
	// aheadBytes is the maximum size of entries that are cached because they were in a
	// record that was read for another entry.
	aheadBytes = 32 << 20
	// fewChanges is a number of changes that can be copied quickly.
	fewChanges = 256
	// entryBytes is the approximate size of an entry in the log in addition to its content.
	entryBytes = 256
)

// compaction is the state of a compaction.
type compaction struct {
	*survey
	d       *DB
	log     *wal.Log // a second reader of the old log
	out     *wal.Rewriter
	sum     [32]byte // hash of the base
	rows    *keydir.Rows
	sums    *summary
	snap    string  // name of the new snapshot
	st      *state  // state of the new file, based on its snapshot
	offsets []int64 // offsets of the changes after the snapshot
}

// beginCompaction surveys the log.
func (d *DB) beginCompaction(ctx context.Context, drops dropFunc) (*compaction, error) {
	log, err := d.openSecondLog()
	if err != nil {
		return nil, err
	}
	c := &compaction{d: d, log: log, survey: newSurvey(ctx, log, drops)}
	if _, err := d.replayLog(log, c.survey, nil, 0); err != nil {
		return c, err
	}
	c.endSurvey()
	return c, nil
}

// hasNoEffect reports whether a compaction would change nothing: all changes must be kept, the log is
// undamaged, and the base has the current form.
func (c *compaction) hasNoEffect() bool {
	return c.horizon == c.log.Header().Base && len(c.log.Gaps()) == 0 && !c.hasGroup
}

// keptBytes returns the size of the changes after the horizon.
func (c *compaction) keptBytes() int64 {
	if len(c.kept) == 0 {
		return 0
	}
	return c.log.End() - c.kept[0]
}

// writeBase calls emit for each record of the base, with the entries in it.
func (c *compaction) writeBase(emit func(b []byte, ops []loggedOp) error) error {
	w := newBaseWriter(c.first.nextID, c.first.seen, emit)
	reader := c.log.NewReader()
	ahead, size := map[uint64]*store.Entry{}, 0
	for _, p := range c.base {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		e := ahead[p.id]
		if e == nil || e.Version != p.version {
			r, err := reader.At(p.offset)
			if err != nil {
				return err
			}
			es, err := decodeEntries(&r, nil)
			if err != nil {
				return c.d.formError(&r, err)
			}
			size += len(r.Body)
			if size > aheadBytes {
				clear(ahead)
				size = len(r.Body)
			}
			for _, e := range es {
				ahead[e.ID] = e
			}
			e = ahead[p.id]
		}
		delete(ahead, p.id)
		if e == nil || e.Version != p.version {
			return fmt.Errorf(
				"%w: %s: version %d of entry %d is not at byte %d",
				store.ErrCorrupt,
				c.d.path,
				p.version,
				p.id,
				p.offset,
			)
		}
		if err := w.add(e); err != nil {
			return err
		}
	}
	var err error
	c.sum, err = w.close()
	return err
}

// writeRecord writes a record to the new log and reports progress. Writing counts as the second
// half of the work.
func (c *compaction) writeRecord(r wal.Record) (offset int64, err error) {
	offset, err = c.out.Emit(r)
	c.tell(progress.State{Unit: progress.Bytes, Done: offset, Part: min(1, .5+float64(offset)/float64(c.size)/2)})
	return offset, err
}

// copyLog writes the base, the later changes and the snapshot of the new log.
func (c *compaction) copyLog() (err error) {
	c.out, err = c.log.Rewriter(c.horizon, c.chain)
	if err != nil {
		return err
	}
	c.rows = &keydir.Rows{Entries: make([]keydir.Row, 0, len(c.last)), Names: make([]keydir.Key, 0, len(c.last))}
	c.sums = &summary{counts: map[store.Label]int{}}
	last, now := c.log.Seq(), c.d.opts.Clock().UnixNano()
	err = c.writeBase(func(b []byte, ops []loggedOp) error {
		off, err := c.writeRecord(wal.Record{Seq: c.horizon, Durable: last, Time: now, Type: wal.Base, Body: b,
			Chain: c.chain})
		c.placeEntries(ops, off)
		return err
	})
	reader := c.log.NewReader()
	for _, off := range c.kept {
		err = cmp.Or(err, c.ctx.Err())
		if err != nil {
			return err
		}
		r, err := reader.At(off)
		if err != nil {
			return err
		}
		r.Durable = last
		off, err = c.writeRecord(r)
		if err != nil {
			return err
		}
		v, err := decodeBody(r.Body)
		if err != nil {
			return c.d.formError(&r, err)
		}
		for _, p := range v.ops {
			p.entry.Version, p.entry.Updated = r.Seq, time.Unix(0, r.Time)
		}
		c.placeEntries(v.ops, off)
		c.rows.Changes = append(c.rows.Changes, off)
	}
	if err != nil {
		return err
	}
	if err := c.out.Flush(); err != nil {
		return err
	}
	return c.writeSnapshot()
}

// placeEntries records, for each entry that the ops write, the offset of the record if this is the last
// version of the entry.
func (c *compaction) placeEntries(ops []loggedOp, offset int64) {
	for _, p := range slices.Backward(ops) {
		e := p.entry
		at, ok := slices.BinarySearchFunc(c.last, placedVersion{id: e.ID, version: e.Version}, placedVersion.compare)
		if p.isErased || p.verb == store.VerbRemove {
			continue
		}
		if !ok || c.last[at].offset < 0 {
			continue
		}
		c.last[at].offset = -1
		c.rows.Entries = append(c.rows.Entries, newRow(c.rows, e, offset))
		c.rows.Names = append(c.rows.Names, keydir.Key{Hash: textHash(e.Name), Number: e.ID})
		for _, a := range e.Aliases {
			c.rows.Aliases = append(c.rows.Aliases, keydir.Key{Hash: textHash(a), Number: e.ID})
		}
		c.sums.add(e, 1)
	}
}

// writeSnapshot writes a snapshot of the new file's current state, and opens it.
func (c *compaction) writeSnapshot() error {
	for key, seq := range c.gone {
		c.rows.Removed = append(c.rows.Removed, keydir.Key{Hash: binary.LittleEndian.Uint64(key[:]), Number: seq})
	}
	c.rows.Sums, c.rows.OpIDs = c.sums.encode(), encodeOpIDs(c.ids.seenIDs())
	h := snapshotHead{log: c.log.Header().ID, seq: c.log.Seq(), chain: c.log.Chain(), base: c.horizon,
		synced: c.out.End(), nextID: c.ids.nextID}
	if n := len(c.rows.Changes); n > 0 {
		h.offset = c.rows.Changes[n-1]
	}
	c.last, c.gone = nil, nil
	c.snap = c.out.Name() + SnapshotSuffix
	f, err := c.d.fs.OpenFile(c.snap, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(c.rows.WriteFile(ctxfile.File{Context: c.ctx, Inner: f}, h.page()), f.Close()); err != nil {
		return err
	}
	c.rows = nil
	s, err := openSnapshot(c.d.fs, c.snap, c.d.opts.Room, func() (*wal.Log, error) {
		o := c.d.logOptions()
		o.ReadOnly = true
		return wal.Open(c.d.fs, c.out.Name(), o)
	})
	if err != nil {
		return err
	}
	c.st = newState()
	return c.st.loadSnapshot(s)
}

// copyNewChanges copies the changes that were appended to the log since the last read.
func (c *compaction) copyNewChanges() error {
	return c.log.Read(func(r *wal.Record) error {
		if r.Type == wal.Seal {
			return nil
		}
		return cmp.Or(c.ctx.Err(), c.copyChange(*r))
	})
}

// copyChange appends a change to the new file.
func (c *compaction) copyChange(r wal.Record) error {
	v, err := decodeBody(r.Body)
	if err != nil {
		return c.d.formError(&r, err)
	}
	r.Durable = r.Seq
	r.Offset, err = c.out.Emit(r)
	if err != nil {
		return err
	}
	c.offsets = append(c.offsets, r.Offset)
	_, err = c.st.applyRecord(&r, v)
	return err
}

// catchUp calls copyNewChanges until only a few changes are missing.
func (c *compaction) catchUp() error {
	for range 100 {
		was := c.log.Seq()
		if err := c.copyNewChanges(); err != nil || c.log.Seq()-was < fewChanges {
			return cmp.Or(err, c.out.Flush())
		}
	}
	return errReplaced // the log grows faster than it is copied
}

// finish replaces the log by the new file. It returns the number of the change that records
// the compaction. The lock and logmu must be held.
func (c *compaction) finish(ctx context.Context, note string) (uint64, error) {
	d := c.d
	if place, err := c.log.Place(); err != nil || place != wal.Same {
		return 0, cmp.Or(err, errReplaced)
	}
	if err := c.copyNewChanges(); err != nil {
		return 0, err
	}
	if c.log.Seq() != d.log.Seq() || c.log.Chain() != d.log.Chain() {
		return 0, errReplaced
	}
	mark := d.durableMark(ctx, c.sum[:], note)
	if err := c.copyChange(mark); err != nil {
		return 0, err
	}
	if err := d.dropStale(c.survey); err != nil {
		return 0, fmt.Errorf("removing what was made from the log: %w", err)
	}
	err := d.dropFile(d.snapshotName())
	if err == nil {
		err = d.fs.Rename(c.snap, d.snapshotName())
	}
	if err != nil {
		return 0, fmt.Errorf("replacing the snapshot: %w", err)
	}
	end := d.log.End()
	rerr := d.log.Replace(c.out)
	if rerr != nil && d.log.End() == end {
		// remove the snapshot that was just renamed, because it belongs to the new file
		_ = d.dropFile(d.snapshotName())
		return 0, rerr
	}
	// The new file is in place. After an error, the rename may not be durable.
	if err := d.log.Jump(c.offsets[len(c.offsets)-1], mark.Seq, mark.Chain, c.out.End()); err != nil {
		return mark.Seq, errors.Join(rerr, d.reload()) // continue with a state that is read from the log again
	}
	d.setState(c.st, c.offsets)
	c.st, c.out = nil, nil
	return mark.Seq, rerr
}

// close removes the files that are not needed any more.
func (c *compaction) close() {
	if c == nil {
		return
	}
	if c.st != nil {
		c.st.base.release()
	}
	if c.out != nil {
		c.out.Cancel()
		if c.snap != "" {
			_ = c.d.fs.Remove(c.snap)
		}
	}
	_ = c.log.Close()
}

// Compact implements [store.Compactor].
func (d *DB) Compact(ctx context.Context, before time.Time, dryRun bool) (rep store.CompactReport, err error) {
	drops := func(r *wal.Record) bool { return time.Unix(0, r.Time).Before(before) }
	if err := d.Refresh(ctx); err != nil {
		return rep, err
	}
	if d.opts.ReadOnly && !dryRun {
		return rep, d.describe(wal.ErrReadOnly)
	}
	err = d.compactor.run(ctx, func(holdWriters bool) error {
		rep, err = d.compact(ctx, drops, compactOptions{dryRun: dryRun, holdWriters: holdWriters})
		return err
	})
	return rep, err
}

// compactSelf starts a compaction in another goroutine if most of the log is not needed. Errors are
// ignored, because compactSelf is called again later. logmu must be held exclusively.
func (d *DB) compactSelf() {
	d.compactor.start(d.log.End(), d.base, d.log.Seq(), d.mustHold, func(ctx context.Context, drops dropFunc) bool {
		rep, _ := d.compact(ctx, drops, compactOptions{})
		return rep.Seq != 0
	})
}

// mustHold returns the approximate size, in bytes, of the entries and changes that
// must be kept. logmu must be held.
func (d *DB) mustHold(drops dropFunc) (int64, error) {
	var failed error
	dropped := sort.Search(int(d.log.Seq()-d.base), func(i int) bool {
		off, _, err := d.recordOffset(d.base + uint64(i) + 1)
		r, rerr := d.log.At(off)
		failed = cmp.Or(failed, err, rerr)
		return !drops(&r)
	})
	off, _, err := d.recordOffset(d.base + uint64(dropped) + 1)
	err = cmp.Or(failed, err)
	if err != nil {
		return 0, err
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	n := d.log.End() - off + entryBytes*int64(d.st.len())
	if b := d.st.base; b != nil {
		sums, err := decodeSummary(b.rows.TableBytes(sectionSums))
		if err != nil {
			return 0, err
		}
		n += sums.content
	}
	for _, e := range d.st.order {
		n += int64(len(e.Content))
	}
	return n, nil
}

// replacedError returns errReplaced if another process has replaced the log, because this may be the
// cause of err. Otherwise it returns err. After [wal.ErrUnknown], it returns err as well, because
// then this process itself replaced the log.
func (c *compaction) replacedError(err error) error {
	if err == nil || c == nil {
		return err
	}
	if errors.Is(err, wal.ErrUnknown) {
		return err
	}
	place, perr := c.log.Place()
	switch {
	case perr == nil && place == wal.Replaced:
		return errReplaced
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errSnapshot):
		return errReplaced
	}
	return err
}

// hasState reports whether the compaction has a state to write. c may be nil.
func (c *compaction) hasState() bool {
	return c != nil && c.st != nil
}

// compactOptions are the options of [DB.compact].
type compactOptions struct {
	dryRun      bool // only calculate the report
	holdWriters bool // lock writers out from the beginning
}

// compact compacts the log.
func (d *DB) compact(ctx context.Context, drops dropFunc, o compactOptions) (rep store.CompactReport, err error) {
	var c *compaction
	defer func() { c.close() }()
	prepare := func() error {
		c, err = d.beginCompaction(ctx, drops)
		if err != nil {
			return err
		}
		rep = store.CompactReport{BytesBefore: c.log.Size(), BytesAfter: c.log.Size()}
		if c.hasNoEffect() {
			return nil
		}
		rep.Changes, rep.Versions = int(c.horizon-c.log.Header().Base), c.versions-len(c.base)
		if o.dryRun {
			rep.BytesAfter = wal.HeaderSize + c.keptBytes()
			return c.writeBase(func(b []byte, _ []loggedOp) error {
				rep.BytesAfter += wal.Overhead + int64(len(b))
				return nil
			})
		}
		if err := c.copyLog(); err != nil {
			return err
		}
		return c.catchUp()
	}
	finish := func() error {
		rep.Seq, err = c.finish(
			ctx,
			fmt.Sprintf(
				"%s%d changes up to %d dropped, %d earlier versions with them",
				compactionNote,
				rep.Changes,
				c.horizon,
				rep.Versions,
			),
		)
		rep.BytesAfter = d.log.Size()
		return err
	}
	if !o.holdWriters {
		if err := prepare(); err != nil || !c.hasState() {
			return rep, d.describe(c.replacedError(err))
		}
	}
	return rep, d.withExclusiveLock(ctx, func() error {
		if o.holdWriters {
			if err := prepare(); err != nil || !c.hasState() {
				return err
			}
		}
		return c.replacedError(finish())
	})
}

// dropStale removes each derived file that is not valid after the compaction. The lock must
// be held.
func (d *DB) dropStale(s *survey) error {
	for _, k := range d.opts.Derived {
		f := d.DerivedFile(k.Suffix)
		drop := f.drop
		if f.staysValid(k, s) {
			drop = f.dropTemps
		}
		if err := drop(); err != nil {
			return err
		}
	}
	return nil
}

// staysValid reports whether the file is valid after the compaction.
func (f DerivedFile) staysValid(is DerivedFiles, s *survey) bool {
	file, err := f.Open()
	if err != nil {
		return false
	}
	defer file.Close()
	return is.Keep(file, s.horizon, s.hasVersion)
}

// durableMark creates the record of the change that states that the log was rewritten. This record
// is written to the new file together with the base, and contains the hash of the base. Therefore
// the file never contains the base without the record.
func (d *DB) durableMark(ctx context.Context, sum []byte, note string) wal.Record {
	v := &body{base: sum, source: d.source(ctx), note: note}
	r := wal.Record{Seq: d.log.Seq() + 1, Time: d.opts.Clock().UnixNano(), Type: typeChange}
	enc := encodeBody(v)
	r.Body = enc.body
	r.Chain = wal.Link(d.log.Chain(), r.Seq, r.Time, r.Type, enc.digest)
	return r
}
