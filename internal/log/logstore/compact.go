// This file implements compaction, which rewrites the log so that the log begins at a later change, the horizon, with
// the entries at that time. This process and others can read and write during a compaction:
//
//   1. Survey. The log is read once without a lock. For each entry, the survey keeps a row of 24 bytes. The survey
//      finds the versions at the horizon, the last change that is dropped, and the last version of each entry.
//
//   2. Copy. The entries at the horizon, by ID, and the later changes are written to a new file. The new file is synced
//      in steps of 4 MiB, so that writers do not have to wait long for their own syncs. A snapshot of the new file is
//      written as well.
//
//   3. Follow. Changes that were appended in the meantime are copied until only a few are left.
//
//   4. Replace. The rest is copied while the lock between processes is held. Each change has a hash that also covers
//      all changes before it (the chain). If the last copied change has the same hash as the last change in the log,
//      the copy is complete. This comparison is right even if a write was torn or rolled back in the meantime. A change
//      is added that records the compaction and the hash of the base. The base consists of the entries at the horizon,
//      with which the new log begins. Therefore the chain also covers these entries. The file is synced and renamed
//      over the log, and the directory is synced. If another process has replaced the log, the compaction starts again.
//
// The old file is not changed before the rename, so that a crash leaves either the old or the new file, each with all
// acknowledged changes. Readers notice that the name refers to a new file. They read the new snapshot and keep the
// index, because a compaction does not change entries.

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
	// maxReadAheadBytes limits the cache of entries that were decoded before they are needed. A record may contain
	// several entries. If it is read for one of them, the other entries are cached. The limit counts the bytes of the
	// read records.
	maxReadAheadBytes = 32 << 20
	// maxChangesCopiedUnderLock is the maximum number of changes that may still have to be copied to the new log when
	// the lock is acquired. This number is small, so that writers do not wait long for the lock.
	maxChangesCopiedUnderLock = 256
	// entryOverheadBytes is the approximate size, in bytes, that an entry needs in the log in addition to its content.
	entryOverheadBytes = 256
)

// compaction is the state of a running compaction.
type compaction struct {
	*compactionSurvey
	db                 *DB
	oldLog             *wal.Log // the log that is replaced, opened a second time, so that others can use it meanwhile
	logRewriter        *wal.Rewriter
	initialEntriesHash [32]byte // hash of the kept entries with which the new log begins
	rows               *keydir.Rows
	newLogTotals       *entryTotals
	newSnapshotName    string  // name of the new snapshot
	st                 *state  // state of the store in the new log, which reads its entries from the new snapshot
	changeOffsets      []int64 // offsets in the new log of the changes that are not in the new snapshot
}

// beginCompaction reads the log to find out what must be kept. isDropped reports whether a change may be dropped. If
// reading fails, it returns both the compaction, whose files the caller must close, and the error.
func (d *DB) beginCompaction(ctx context.Context, isDropped changeDropPredicate) (*compaction, error) {
	log, err := d.openSecondLog()
	if err != nil {
		return nil, err
	}
	c := &compaction{db: d, oldLog: log, compactionSurvey: newCompactionSurvey(ctx, log, isDropped)}
	if _, err := d.replayLog(log, c.compactionSurvey, nil, 0); err != nil {
		return c, err
	}
	c.finishSurvey()
	return c, nil
}

// hasNoEffect reports whether the compaction would change nothing. This is so if all changes must be kept, the log is
// undamaged, and no record at the log's beginning contains more entries than oxbow puts into one record now.
func (c *compaction) hasNoEffect() bool {
	return c.lastDroppedChange == c.oldLog.Header().BaseSeq && len(c.oldLog.Gaps()) == 0 && !c.hasLargeInitialRecord
}

// keptChangesSize returns the size of the changes that the compaction keeps, in bytes.
func (c *compaction) keptChangesSize() int64 {
	if len(c.keptChangeOffsets) == 0 {
		return 0
	}
	return c.oldLog.EndOffset() - c.keptChangeOffsets[0]
}

// writeInitialEntries writes the records with which the compacted log begins. It passes each record and the record's
// entries to emit.
func (c *compaction) writeInitialEntries(emit func(b []byte, ops []loggedOp) error) error {
	w := newInitialEntryWriter(c.initialRecordBody.nextEntryID, c.initialRecordBody.seenOpIDs, emit)
	reader := c.oldLog.NewReader()
	ahead, size := map[uint64]*store.Entry{}, 0
	for _, p := range c.initialVersions {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		e := ahead[p.id]
		if e == nil || e.Version != p.version {
			r, err := reader.RecordAt(p.offset)
			if err != nil {
				return err
			}
			es, err := decodeEntries(&r, nil)
			if err != nil {
				return c.db.unknownBodyError(&r, err)
			}
			size += len(r.Body)
			if size > maxReadAheadBytes {
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
				c.db.path,
				p.version,
				p.id,
				p.offset,
			)
		}
		if err := w.addEntry(e); err != nil {
			return err
		}
	}
	var err error
	c.initialEntriesHash, err = w.close()
	return err
}

// writeRecord writes a record to the new file and reports the progress. Writing counts as the second half of the work.
func (c *compaction) writeRecord(r wal.Record) (offset int64, err error) {
	offset, err = c.logRewriter.AppendRecord(r)
	c.reportProgress(
		progress.State{
			Unit:              progress.UnitBytes,
			DoneCount:         offset,
			FinishedWorkShare: min(1, .5+float64(offset)/float64(c.logSize)/2),
		},
	)
	return offset, err
}

// copyLog writes the compacted log and a snapshot to new files. The new log begins with the base, which contains the
// entries as of the last dropped change. The changes that the compaction keeps follow the base.
func (c *compaction) copyLog() (err error) {
	c.logRewriter, err = c.oldLog.NewRewriter(c.lastDroppedChange, c.lastDroppedChainHash)
	if err != nil {
		return err
	}
	c.rows = &keydir.Rows{
		Entries: make([]keydir.EntryRow, 0, len(c.newestByID)),
		Names:   make([]keydir.TableKey, 0, len(c.newestByID)),
	}
	c.newLogTotals = &entryTotals{entryCountsByLabel: map[store.Label]int{}}
	last, now := c.oldLog.LastSeq(), c.db.opts.Clock().UnixNano()
	err = c.writeInitialEntries(func(b []byte, ops []loggedOp) error {
		off, err := c.writeRecord(
			wal.Record{
				Seq:          c.lastDroppedChange,
				DurableSeq:   last,
				TimeUnixNano: now,
				Type:         wal.TypeBaseSection,
				Body:         b,
				ChainHash:    c.lastDroppedChainHash,
			},
		)
		c.addEntryRows(ops, off)
		return err
	})
	reader := c.oldLog.NewReader()
	for _, off := range c.keptChangeOffsets {
		err = cmp.Or(err, c.ctx.Err())
		if err != nil {
			return err
		}
		r, err := reader.RecordAt(off)
		if err != nil {
			return err
		}
		r.DurableSeq = last
		off, err = c.writeRecord(r)
		if err != nil {
			return err
		}
		v, err := decodeBody(r.Body)
		if err != nil {
			return c.db.unknownBodyError(&r, err)
		}
		for _, p := range v.ops {
			p.entry.Version, p.entry.Updated = r.Seq, time.Unix(0, r.TimeUnixNano)
		}
		c.addEntryRows(v.ops, off)
		c.rows.ChangeOffsets = append(c.rows.ChangeOffsets, off)
	}
	if err != nil {
		return err
	}
	if err := c.logRewriter.Flush(); err != nil {
		return err
	}
	return c.writeSnapshot()
}

// addEntryRows adds a snapshot row for each entry whose newest version is in one record of the log. The list ops
// contains the operations of this record, and the argument offset is the record's offset in the new log. An operation
// is skipped if it removes an entry, or if the content of its version was erased.
func (c *compaction) addEntryRows(ops []loggedOp, offset int64) {
	for _, p := range slices.Backward(ops) {
		e := p.entry
		key := locatedVersion{id: e.ID, version: e.Version}
		at, ok := slices.BinarySearchFunc(c.newestByID, key, locatedVersion.compare)
		if p.isContentErased || p.verb == store.VerbRemove {
			continue
		}
		if !ok || c.newestByID[at].offset < 0 {
			continue
		}
		c.newestByID[at].offset = -1
		c.rows.Entries = append(c.rows.Entries, newRow(c.rows, e, offset))
		c.rows.Names = append(c.rows.Names, keydir.TableKey{Hash: textHash(e.Name), IDOrChangeNumber: e.ID})
		for _, a := range e.Aliases {
			c.rows.Aliases = append(c.rows.Aliases, keydir.TableKey{Hash: textHash(a), IDOrChangeNumber: e.ID})
		}
		c.newLogTotals.addEntry(e, 1)
	}
}

// writeSnapshot writes a snapshot of the new log's entries and opens the snapshot.
func (c *compaction) writeSnapshot() error {
	for key, seq := range c.removedNames {
		c.rows.RemovedNames = append(
			c.rows.RemovedNames,
			keydir.TableKey{Hash: binary.LittleEndian.Uint64(key[:]), IDOrChangeNumber: seq},
		)
	}
	c.rows.EncodedEntryTotals, c.rows.OpIDs = c.newLogTotals.encode(), encodeOpIDs(c.stateWithOpIDs.rememberedOpIDs())
	h := snapshotHead{
		logID:             c.oldLog.Header().ID,
		lastSeq:           c.oldLog.LastSeq(),
		lastChain:         c.oldLog.LastChainHash(),
		lastDroppedChange: c.lastDroppedChange,
		syncedOffset:      c.logRewriter.EndOffset(),
		nextEntryID:       c.stateWithOpIDs.nextEntryID,
	}
	if n := len(c.rows.ChangeOffsets); n > 0 {
		h.lastOffset = c.rows.ChangeOffsets[n-1]
	}
	c.newestByID, c.removedNames = nil, nil
	c.newSnapshotName = c.logRewriter.TempName() + SnapshotSuffix
	f, err := c.db.fs.OpenFile(c.newSnapshotName, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(c.rows.WriteFile(ctxfile.File{Context: c.ctx, InnerFile: f}, h.pageEncoder()),
		f.Close()); err != nil {
		return err
	}
	c.rows = nil
	s, err := openSnapshot(c.db.fs, c.newSnapshotName, c.db.opts.CacheBudget, func() (*wal.Log, error) {
		o := c.db.logOptions()
		o.ReadOnly = true
		return wal.Open(c.db.fs, c.logRewriter.TempName(), o)
	})
	if err != nil {
		return err
	}
	c.st = newState()
	return c.st.loadSnapshot(s)
}

// copyNewChanges copies the changes that other calls have appended to the old log since it was last read.
func (c *compaction) copyNewChanges() error {
	return c.oldLog.Read(func(r *wal.Record) error {
		if r.Type == wal.TypeSeal {
			return nil
		}
		return cmp.Or(c.ctx.Err(), c.copyChange(*r))
	})
}

// copyChange appends a change to the new file and applies it to the new state.
func (c *compaction) copyChange(r wal.Record) error {
	v, err := decodeBody(r.Body)
	if err != nil {
		return c.db.unknownBodyError(&r, err)
	}
	r.DurableSeq = r.Seq
	r.FileOffset, err = c.logRewriter.AppendRecord(r)
	if err != nil {
		return err
	}
	c.changeOffsets = append(c.changeOffsets, r.FileOffset)
	_, err = c.st.applyRecord(&r, v)
	return err
}

// copyMostNewChanges copies changes to the new log until a call of copyNewChanges copies fewer than
// maxChangesCopiedUnderLock changes. It then flushes the new log. After 100 calls that copied more changes, it returns
// errLogReplaced.
func (c *compaction) copyMostNewChanges() error {
	for range 100 {
		was := c.oldLog.LastSeq()
		if err := c.copyNewChanges(); err != nil || c.oldLog.LastSeq()-was < maxChangesCopiedUnderLock {
			return cmp.Or(err, c.logRewriter.Flush())
		}
	}
	// Other processes append to the log faster than the compaction can copy. The caller will try again.
	return errLogReplaced
}

// replaceLog ends a compaction. It copies the last changes to the new log, and adds a change that records the
// compaction. It removes files that were made from the old log, replaces the snapshot by the new snapshot, and renames
// the new log over the old log. It returns the number of the change that records the compaction. If another process has
// changed the log meanwhile, the error is errLogReplaced. The caller must hold logmu and the lock between processes.
func (c *compaction) replaceLog(ctx context.Context, note string) (uint64, error) {
	d := c.db
	if place, err := c.oldLog.PollFileReplacement(); err != nil || place != wal.LogFileUnchanged {
		return 0, cmp.Or(err, errLogReplaced)
	}
	if err := c.copyNewChanges(); err != nil {
		return 0, err
	}
	if c.oldLog.LastSeq() != d.log.LastSeq() || c.oldLog.LastChainHash() != d.log.LastChainHash() {
		return 0, errLogReplaced
	}
	mark := d.newRewriteRecord(ctx, c.initialEntriesHash[:], note)
	if err := c.copyChange(mark); err != nil {
		return 0, err
	}
	if err := d.removeStaleDerivedFiles(c.compactionSurvey); err != nil {
		return 0, fmt.Errorf("removing what was made from the log: %w", err)
	}
	err := d.removeDerivedFile(d.snapshotName())
	if err == nil {
		err = d.fs.Rename(c.newSnapshotName, d.snapshotName())
	}
	if err != nil {
		return 0, fmt.Errorf("replacing the snapshot: %w", err)
	}
	end := d.log.EndOffset()
	rerr := d.log.ReplaceBy(c.logRewriter)
	if rerr != nil && d.log.EndOffset() == end {
		// The new snapshot has already replaced the old one. Remove it, because the new log did not replace the old
		// log.
		_ = d.removeDerivedFile(d.snapshotName())
		return 0, rerr
	}
	// The new log is in place. If syncing the directory failed, as rerr says, a crash may bring back the old log.
	if err := d.log.JumpToRecord(c.changeOffsets[len(c.changeOffsets)-1], mark.Seq, mark.ChainHash,
		c.logRewriter.EndOffset()); err != nil {
		// Read the new log from its file instead of using the state that the compaction built.
		return mark.Seq, errors.Join(rerr, d.reload())
	}
	d.setState(c.st, c.changeOffsets, nil)
	c.st, c.logRewriter = nil, nil
	return mark.Seq, rerr
}

// removeTempFiles releases what the compaction has opened, and removes its temporary files. The new log and the new
// snapshot are removed only if the logRewriter is still set, because the new log has then not replaced the old log. It
// does nothing if c is nil.
func (c *compaction) removeTempFiles() {
	if c == nil {
		return
	}
	if c.st != nil {
		c.st.base.release()
	}
	if c.logRewriter != nil {
		c.logRewriter.Cancel()
		if c.newSnapshotName != "" {
			_ = c.db.fs.Remove(c.newSnapshotName)
		}
	}
	_ = c.oldLog.Close()
}

// Compact implements [store.Compactor].
func (d *DB) Compact(ctx context.Context, before time.Time, dryRun bool) (rep store.CompactReport, err error) {
	drops := func(r *wal.Record) bool { return time.Unix(0, r.TimeUnixNano).Before(before) }
	if err := d.Refresh(ctx); err != nil {
		return rep, err
	}
	if d.opts.ReadOnly && !dryRun {
		return rep, d.convertWALError(wal.ErrReadOnly)
	}
	err = d.compactor.runExclusively(ctx, func(holdWriters bool) error {
		rep, err = d.compact(ctx, drops, compactOptions{dryRun: dryRun, shouldBlockWriters: holdWriters})
		return err
	})
	return rep, err
}

// startAutoCompaction starts a compaction in another goroutine if more than half of the log is not needed any more.
// Errors are ignored, because startAutoCompaction is called again later. The caller must hold logmu exclusively.
func (d *DB) startAutoCompaction() {
	d.compactor.compactIfHalfUnneeded(
		d.log.EndOffset(),
		d.lastDroppedChange,
		d.log.LastSeq(),
		d.bytesKeptByCompaction,
		func(ctx context.Context, drops changeDropPredicate) bool {
			rep, _ := d.compact(ctx, drops, compactOptions{})
			return rep.Seq != 0
		},
	)
}

// bytesKeptByCompaction returns the approximate size, in bytes, of the data that a compaction would keep. The caller
// must hold logmu.
func (d *DB) bytesKeptByCompaction(isDropped changeDropPredicate) (int64, error) {
	var failed error
	dropped := sort.Search(int(d.log.LastSeq()-d.lastDroppedChange), func(i int) bool {
		off, _, err := d.recordOffset(d.lastDroppedChange + uint64(i) + 1)
		r, rerr := d.log.RecordAt(off)
		failed = cmp.Or(failed, err, rerr)
		return !isDropped(&r)
	})
	off, _, err := d.recordOffset(d.lastDroppedChange + uint64(dropped) + 1)
	err = cmp.Or(failed, err)
	if err != nil {
		return 0, err
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	n := d.log.EndOffset() - off + entryOverheadBytes*int64(d.st.len())
	if b := d.st.base; b != nil {
		sums, err := decodeEntryTotals(b.tables.TableBytes(sectionEntryTotals))
		if err != nil {
			return 0, err
		}
		n += sums.contentBytes
	}
	for _, e := range d.st.entriesNotInSnapshotByID {
		n += int64(len(e.Content))
	}
	return n, nil
}

// detectLogReplacement replaces err by errLogReplaced if another process has replaced the log or its snapshot,
// because this probably caused err. It does not replace an error that matches [wal.ErrUnknownDurability]. This error
// means that this process may have replaced the log itself.
func (c *compaction) detectLogReplacement(err error) error {
	if err == nil || c == nil {
		return err
	}
	if errors.Is(err, wal.ErrUnknownDurability) {
		return err
	}
	place, perr := c.oldLog.PollFileReplacement()
	switch {
	case perr == nil && place == wal.LogFileReplaced:
		return errLogReplaced
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errUnusableSnapshot):
		return errLogReplaced
	}
	return err
}

// hasWrittenFiles reports whether the compaction has written a new log and a new snapshot. c may be nil.
func (c *compaction) hasWrittenFiles() bool {
	return c != nil && c.st != nil
}

// compactOptions are the options of [DB.compact].
type compactOptions struct {
	dryRun             bool // Only compute the report.
	shouldBlockWriters bool // Hold the store's lock during the whole compaction, so that no other process can write.
}

// compact compacts the log, or only computes the report if o.dryRun is set.
func (d *DB) compact(
	ctx context.Context,
	isDropped changeDropPredicate,
	o compactOptions,
) (rep store.CompactReport, err error) {
	var c *compaction
	defer func() { c.removeTempFiles() }()
	prepare := func() error {
		c, err = d.beginCompaction(ctx, isDropped)
		if err != nil {
			return err
		}
		rep = store.CompactReport{BytesBefore: c.oldLog.Size(), BytesAfter: c.oldLog.Size()}
		if c.hasNoEffect() {
			return nil
		}
		rep.Changes, rep.Versions = int(
			c.lastDroppedChange-c.oldLog.Header().BaseSeq,
		), c.versionCount-len(
			c.initialVersions,
		)
		if o.dryRun {
			rep.BytesAfter = wal.HeaderSize + c.keptChangesSize()
			return c.writeInitialEntries(func(b []byte, _ []loggedOp) error {
				rep.BytesAfter += wal.RecordOverhead + int64(len(b))
				return nil
			})
		}
		if err := c.copyLog(); err != nil {
			return err
		}
		return c.copyMostNewChanges()
	}
	finish := func() error {
		rep.Seq, err = c.replaceLog(
			ctx,
			fmt.Sprintf(
				"%s%d changes up to %d dropped, %d earlier versions with them",
				compactionNote,
				rep.Changes,
				c.lastDroppedChange,
				rep.Versions,
			),
		)
		rep.BytesAfter = d.log.Size()
		return err
	}
	if !o.shouldBlockWriters {
		if err := prepare(); err != nil || !c.hasWrittenFiles() {
			return rep, d.convertWALError(c.detectLogReplacement(err))
		}
	}
	return rep, d.withExclusiveLock(ctx, func() error {
		if o.shouldBlockWriters {
			if err := prepare(); err != nil || !c.hasWrittenFiles() {
				return err
			}
		}
		return c.detectLogReplacement(finish())
	})
}

// removeStaleDerivedFiles removes each derived file that the compaction makes invalid. For all other derived files, it
// removes only the temporary files. The caller must hold the lock between processes.
func (d *DB) removeStaleDerivedFiles(s *compactionSurvey) error {
	for _, k := range d.opts.DerivedFileKinds {
		f := d.DerivedFile(k.Suffix)
		drop := f.removeWithTemps
		if f.isValidAfterCompaction(k, s) {
			drop = f.removeTemps
		}
		if err := drop(); err != nil {
			return err
		}
	}
	return nil
}

// isValidAfterCompaction reports whether the derived file stays valid after the compaction.
func (f DerivedFile) isValidAfterCompaction(kind DerivedFileKind, s *compactionSurvey) bool {
	file, err := f.Open()
	if err != nil {
		return false
	}
	defer file.Close()
	return kind.IsValidAfterCompaction(file, s.lastDroppedChange, s.hasVersion)
}

// newRewriteRecord returns the record of a change. The change says that the log was rewritten, and contains
// initialEntriesHash, the hash of the entries with which the new log begins. The entries and this record are written to
// the new log before the new log is renamed. Therefore a log with rewritten entries always contains this record.
func (d *DB) newRewriteRecord(ctx context.Context, initialEntriesHash []byte, note string) wal.Record {
	v := &recordBody{initialEntriesHash: initialEntriesHash, source: d.sourceForChange(ctx), note: note}
	r := wal.Record{Seq: d.log.LastSeq() + 1, TimeUnixNano: d.opts.Clock().UnixNano(), Type: recordTypeChange}
	enc := encodeBody(v)
	r.Body = enc.body
	r.ChainHash = wal.ComputeChainHash(d.log.LastChainHash(), r.Seq, r.TimeUnixNano, r.Type, enc.digest)
	return r
}
