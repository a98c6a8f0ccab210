// This file implements DB, which reads the log, follows the changes of other processes, and answers reads.

package logstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/ctxmutex"
	"github.com/oxbow-memory/oxbow/internal/base/logpos"
	"github.com/oxbow-memory/oxbow/internal/base/subscribers"
	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/store"
	"github.com/oxbow-memory/oxbow/vfs"
)

// DB is a store in a single file.
//
// Locks must be acquired in this order: the mutex of compactor or checkpointer, writerMu, the lock file,
// readNewRecordsMu, logmu, mu. The last three locks are fields of the embedded structs. A goroutine that already holds
// logmu may acquire the mutexes of compactor and checkpointer, and writerMu, only with TryLock.
type DB struct {
	fs      vfs.FS
	logName string // name of the log in the file system fs
	path    string // path of the log as it is shown in messages
	opts    Options

	writerMu      ctxmutex.Mutex // held by the goroutine that writes the waiting changes of all callers to the log
	queue         commitQueue    // requests that wait to be committed
	reusableBatch *commitBatch   // batch whose memory can be reused (guarded by writerMu)

	sharedLog
	currentState

	closingCtx       context.Context // context that is done when the store is being closed
	cancelClosingCtx context.CancelFunc

	compactor    compactor
	checkpointer snapshotScheduler

	// onAppend is called with the entries that changes write, with logmu held exclusively. If it returns a function,
	// this function is called while the changes become durable.
	onAppend func(es iter.Seq[*store.Entry]) func()
	// called after each change by this process, with logmu held exclusively
	onChangeByThisProcess func()
	// called after changes by other processes, with logmu held exclusively
	onChangeByOtherProcess func()

	watchers subscribers.List[store.Event]
	// timer that writes a seal, which marks the log's last record as durable (nil if Options.DelayBeforeSeal is 0)
	sealTimer *time.Timer
}

func (d *DB) logOptions() wal.Options {
	return wal.Options{
		FreeSpaceGrowthUnit: d.opts.FreeSpaceGrowthUnit,
		UrgentAppendReserve: d.opts.FreeSpaceReserve,
		Clock:               d.opts.Clock,
		Rand:                d.opts.Rand,
		LockWait:            d.opts.LockWait,
		// FailsIfDirMoved is not set if the caller passed a file system, because the log then need not exist at its
		// path in the operating system.
		ReadOnly:        d.opts.ReadOnly,
		DigestBody:      digestBody,
		FailsIfDirMoved: d.opts.FS == nil,
	}
}

// applyNewRecords applies the records after the current position of the log to the state, and returns the deltas. The
// caller must hold logmu exclusively.
func (d *DB) applyNewRecords() ([]store.Delta, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	deltas, err := d.replayLog(d.log, d.st, func(off int64) { d.changeOffsets = append(d.changeOffsets, off) }, 0)
	d.recentDeltas.addDeltaStep(d.currentPosition(), deltas)
	return deltas, err
}

// recordApplier applies the change in a log record to a state, and returns how entries changed.
type recordApplier interface {
	applyRecord(r *wal.Record, v *recordBody) ([]store.Delta, error)
}

// replayLog reads the records of the log from the position at which the previous read ended, and passes each record to
// the argument applier. It returns the changes of entries that the records contain. If lastSeq is 0, replayLog reads to
// the end of the log. Otherwise it stops after the change with the number lastSeq. If recordOffset is not nil, it is
// called with the file offset of each change. If a record has an unknown type, the error matches store.ErrVersion.
func (d *DB) replayLog(
	log *wal.Log,
	applier recordApplier,
	recordOffset func(int64),
	lastSeq uint64,
) ([]store.Delta, error) {
	var deltas []store.Delta
	err := log.Read(func(r *wal.Record) error {
		if lastSeq != 0 && r.Seq > lastSeq {
			return errStopReplay
		}
		switch r.Type {
		case recordTypeChange, wal.TypeBaseSection:
			v, err := decodeBody(r.Body)
			if err != nil {
				return d.unknownBodyError(r, err)
			}
			did, err := applier.applyRecord(r, v)
			if err != nil {
				return err
			}
			deltas = append(deltas, did...)
			if r.Type == recordTypeChange && recordOffset != nil {
				recordOffset(r.FileOffset)
			}
		case wal.TypeSeal:
		default:
			return fmt.Errorf(
				"%w: %s holds a record of type %d; a newer oxbow wrote it: update this one",
				store.ErrVersion,
				d.path,
				r.Type,
			)
		}
		return nil
	})
	if err != nil && err != errStopReplay {
		return deltas, d.convertWALError(err)
	}
	return deltas, nil
}

// unknownBodyError returns the error for a record whose checksum is correct but whose body cannot be decoded.
func (d *DB) unknownBodyError(r *wal.Record, err error) error {
	return fmt.Errorf("%w: change %d of %s at byte %d: %v; a newer oxbow may have written it: update this one",
		store.ErrVersion, r.Seq, d.path, r.FileOffset, err)
}

// refresh applies all changes that any process acknowledged before the call.
func (d *DB) refresh() error {
	if !d.lockUnlessAppending() {
		return nil
	}
	news, err := d.log.PollChanges()
	if news == wal.LogFileUnchanged && err == nil {
		err = d.checkDirNotMoved()
	}
	broken, overwritten := d.brokenErr, d.log.HaveReadBytesChanged()
	d.logmu.RUnlock()
	if err != nil || broken != nil {
		return errors.Join(broken, err)
	}
	if overwritten {
		read, err := d.rereadOverwrittenLog()
		if read || err != nil {
			return err
		}
	}
	if news == wal.LogFileUnchanged {
		return nil
	}
	d.logmu.Lock()
	defer d.logmu.Unlock()
	return d.applyOtherProcessChanges()
}

// rereadOverwrittenLog reads the whole log file again, because another program may have overwritten bytes that were
// already read. For this, it calls withLock, because a read without the lock might find a record that the writer is
// about to remove. If the lock is taken or the home is read-only, rereadOverwrittenLog reads nothing and returns false.
// The next write then finds the difference.
func (d *DB) rereadOverwrittenLog() (didRead bool, err error) {
	if d.opts.ReadOnly || !d.writerMu.TryLock() {
		return false, nil
	}
	defer d.writerMu.Unlock()
	err = d.withLock(context.Background(), func() error { return nil })
	if errors.Is(err, store.ErrBusy) || errors.Is(err, store.ErrReadOnly) {
		return false, nil
	}
	return true, err
}

// checkDirNotMoved returns an error if the log's file does not exist yet and the store's directory is not at its path
// any more. If the log has a file, package wal returns this error.
func (d *DB) checkDirNotMoved() error {
	dir, ok := d.fs.(*vfs.OS)
	if !ok || d.opts.FS != nil {
		return nil
	}
	if !d.log.Exists() && dir.Moved() {
		return d.convertWALError(wal.ErrVanished)
	}
	return nil
}

// applyOtherProcessChanges applies the changes of other processes. The caller must hold logmu exclusively.
func (d *DB) applyOtherProcessChanges() error {
	for range 100 {
		news, err := d.log.PollChanges()
		if err == nil && news == wal.LogFileGrown {
			end := d.log.EndOffset()
			deltas, rerr := d.applyNewRecords()
			if errors.Is(rerr, errUnusableSnapshot) {
				return d.reload()
			}
			d.publishDeltas(deltas)
			if rerr != nil {
				d.recordBrokenLog(rerr)
				return rerr
			}
			d.onChangeByOtherProcess()
			if d.log.EndOffset() > end {
				continue
			}
			// The log has grown only by an unfinished write. Another process may have replaced the file at the same
			// time, so check whether the log's name refers to another file.
			news, err = d.log.PollFileReplacement()
		}
		if err != nil {
			return err
		}
		switch news {
		case wal.LogFileUnchanged:
			return d.checkDirNotMoved()
		case wal.LogFileGone:
			return d.convertWALError(wal.ErrVanished)
		case wal.LogFileReplaced:
			if err := d.reloadFromSnapshot(); err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("%w: %s is being replaced over and over", store.ErrBusy, d.path)
}

// reload reads the whole log again, from the file that has the log's name now. If this file contains the last change
// that the watchers were told about, they receive the later changes. Otherwise they are told to read everything again.
// The caller must hold logmu exclusively.
func (d *DB) reload() error { return d.reloadWith(d.readWholeLog) }

// reloadFromSnapshot is like reload, but starts at the snapshot if there is a valid snapshot.
func (d *DB) reloadFromSnapshot() error { return d.reloadWith(d.readFromSnapshot) }

// reloadWith opens the log file again and replaces the state of the store. The function read, an argument, reads the
// log and returns the new state and the offsets of the changes in the log. If the new log continues the old log,
// reloadWith sends the new changes to the watchers. Otherwise it tells the watchers to read everything again.
// reloadWith returns an error if the store is closed, if the log cannot be read, or if the log lacks changes that the
// store contained before.
func (d *DB) reloadWith(read func() (*state, []int64, error)) error {
	if d.isClosed {
		return store.ErrClosed // The store is closed, so nobody would close the files that are opened below.
	}
	id, seq := d.log.Header().ID, d.log.LastSeq()
	had := d.log.Exists()
	if err := d.log.Reopen(); err != nil {
		return d.convertWALError(err)
	}
	st, offsets, err := read()
	if err != nil {
		d.recordBrokenLog(err)
		if d.brokenErr == nil && d.st.snapshotReadError() != nil {
			d.brokenErr = err // Without a state, the store cannot be used any more.
		}
		return err
	}
	isSameLog := had && d.log.Header().ID == id
	if isSameLog && d.log.LastSeq() < seq {
		// Refuse to continue. Otherwise this process would give new changes the numbers of the missing changes.
		d.brokenErr = d.convertWALError(&wal.RolledBackError{LastSeq: d.log.LastSeq(), DurableSeq: seq})
		return d.brokenErr
	}
	if deltas, same := d.findUnpublishedDeltas(st, offsets); same {
		d.setState(st, offsets, deltas)
		d.publishDeltas(deltas)
	} else {
		d.resetState(st, offsets)
		d.watchers.Send(store.Event{Reset: true})
	}
	d.brokenErr = nil
	return nil
}

// readFromSnapshot reads the state from the snapshot, and from the part of the log that is newer than the snapshot.
// Without a valid snapshot, it reads the whole log. It returns the state, and the log offsets of the changes that are
// newer than the snapshot (all changes if it read the whole log). The caller must hold logmu exclusively.
func (d *DB) readFromSnapshot() (*state, []int64, error) {
	if !d.log.Exists() {
		return d.readWholeLog()
	}
	s, err := d.openSnapshot()
	if err != nil {
		return d.readWholeLog()
	}
	var offsets []int64
	st := newState()
	err = cmp.Or(
		st.loadSnapshot(s),
		d.log.JumpToRecord(s.head.lastOffset, s.head.lastSeq, s.head.lastChain, s.head.syncedOffset),
	)
	if err == nil {
		_, err = d.replayLog(d.log, st, func(off int64) { offsets = append(offsets, off) }, 0)
	}
	if err == nil {
		return st, offsets, nil
	}
	s.release()
	if err := d.log.Reopen(); err != nil {
		return nil, nil, d.convertWALError(err)
	}
	return d.readWholeLog()
}

// readWholeLog reads the whole log. It returns the state, and the offsets of all changes in the log. The caller must
// hold logmu exclusively.
func (d *DB) readWholeLog() (*state, []int64, error) {
	var offsets []int64
	st := newState()
	_, err := d.replayLog(d.log, st, func(off int64) { offsets = append(offsets, off) }, 0)
	return st, offsets, err
}

// findUnpublishedDeltas returns how entries have changed since the position that was last sent to watchers. It is used
// after the log was read anew: st is the new state, and changeOffsets contains the log offsets of the changes in it.
// The result false means that the changes cannot be found, for example because the new log's history does not contain
// the position. The caller must then stop using the old state d.st, because findUnpublishedDeltas applies the changes
// to it.
func (d *DB) findUnpublishedDeltas(st *state, changeOffsets []int64) ([]store.Delta, bool) {
	was, ok := logpos.DecodePosition(d.recentDeltas.newestPosition)
	h := d.log.Header()
	if !ok || h.ID != was.LogID {
		return nil, false
	}
	from := h.BaseSeq
	if st.base != nil {
		from = st.base.head.lastSeq
	}
	switch {
	case was.Seq == h.BaseSeq:
		was.FileOffset = 0
	case was.Seq > from && was.Seq-from <= uint64(len(changeOffsets)):
		was.FileOffset = changeOffsets[was.Seq-from-1]
	default:
		was.FileOffset, ok = st.base.findChangeOffset(was.Seq)
		if !ok {
			return nil, false
		}
	}
	log, err := d.openSecondLog()
	if err != nil {
		return nil, false
	}
	defer log.Close()
	if log.JumpToRecord(was.FileOffset, was.Seq, was.ChainHash, 0) != nil {
		return nil, false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	deltas, err := d.replayLog(log, rewriteRejectingState{d.st}, nil, d.log.LastSeq())
	return deltas, err == nil
}

// rewriteRejectingState is a state that fails if a change records a redaction or a recovery of the log.
type rewriteRejectingState struct{ *state }

// applyRecord implements recordApplier.
func (f rewriteRejectingState) applyRecord(r *wal.Record, v *recordBody) ([]store.Delta, error) {
	if isRedactionOrRecovery(r, v) {
		return nil, errUnusableSnapshot
	}
	return f.state.applyRecord(r, v)
}

// setState replaces the store's state by st, which was read from the whole log. The argument offsets contains the log
// offsets of the changes after the last snapshot. setState also increments logEpoch, so that data from the replaced
// state is not used any more. The argument deltas contains the changes of entries between the old and the new state, so
// that [DB.Since] finds them. It may be nil if the states contain the same entries. The caller must hold the write lock
// of logmu.
func (d *DB) setState(st *state, offsets []int64, deltas []store.Delta) {
	d.logEpoch.Add(1)
	d.replaceState(st, offsets, func() { d.recentDeltas.addDeltaStep(d.currentPosition(), deltas) })
}

// resetState is like setState for a state whose differences from the old state are unknown. It forgets the recent
// changes at the same moment, so that [DB.Since] never reports that nothing has changed since a position before the
// reset. The caller must then send a reset to the watchers.
func (d *DB) resetState(st *state, offsets []int64) {
	d.logEpoch.Add(1)
	d.replaceState(st, offsets, func() { d.recentDeltas = recentDeltas{newestPosition: d.currentPosition()} })
}

// replaceState makes st the store's current state. The argument changeOffsets contains the log offsets of the changes
// after the snapshot that st uses. Without a snapshot, it contains the log offsets of all changes in the log. The
// function updateRecentDeltas updates d.recentDeltas under the same lock. The caller must hold the write lock of logmu.
func (d *DB) replaceState(st *state, changeOffsets []int64, updateRecentDeltas func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.st.base != st.base {
		d.st.base.release()
	}
	d.lastDroppedChange = d.log.Header().BaseSeq
	d.st = st
	d.changeOffsets = changeOffsets
	d.lastSnapshotChange = d.lastDroppedChange
	if st.base != nil {
		d.lastSnapshotChange = st.base.head.lastSeq
	}
	d.checkpointer.setNextSnapshotLogLength(st.base.logOffset(), st.len())
	updateRecentDeltas()
}

// withState reads the changes of other processes and calls fn with the current state. If the snapshot of the state is
// damaged, it reads the whole log and calls fn again. fn must not keep the state.
func (d *DB) withState(ctx context.Context, fn func(st *state)) error {
	for {
		if err := d.Refresh(ctx); err != nil {
			return err
		}
		st := d.callWithState(fn)
		if st.snapshotReadError() == nil {
			return nil
		}
		if err := d.reloadWithoutSnapshot(st); err != nil {
			return err
		}
	}
}

// reloadWithoutSnapshot reads the state again from the whole log, because the snapshot of the state st is damaged. It
// does nothing if st is no longer the state of d.
func (d *DB) reloadWithoutSnapshot(st *state) error {
	d.logmu.Lock()
	defer d.logmu.Unlock()
	if d.brokenErr != nil || d.st != st {
		return d.brokenErr
	}
	return d.reload()
}

// publishDeltas tells the watchers how entries have changed.
func (d *DB) publishDeltas(deltas []store.Delta) {
	if len(deltas) > 0 {
		d.watchers.Send(store.Event{Changes: deltas})
	}
}

// Watch implements [store.Watcher].
func (d *DB) Watch(fn func(store.Event)) (stop func()) { return d.watchers.Add(fn) }

// Refresh implements [store.Watcher].
func (d *DB) Refresh(ctx context.Context) error {
	if err := d.checkOpenAndContext(ctx); err != nil {
		return err
	}
	d.checkpointer.countCall()
	return d.refresh()
}

// Get implements [store.Store].
func (d *DB) Get(ctx context.Context, name string) (e store.Entry, err error) {
	rerr := d.withState(ctx, func(st *state) { e, err = st.getEntry(name) })
	if rerr != nil {
		return store.Entry{}, rerr
	}
	return e, err
}

// EntryByID returns the entry with this ID, or nil for an unknown ID. It does not read changes of other processes.
func (d *DB) EntryByID(id uint64) (*store.Entry, error) {
	for {
		var e *store.Entry
		st := d.callWithState(func(st *state) { e = st.findByID(id) })
		if st.snapshotReadError() == nil {
			return e, nil
		}
		if err := d.reloadWithoutSnapshot(st); err != nil {
			return nil, err
		}
	}
}

// convertWALError converts an error from package wal to an error of package store.
func (d *DB) convertWALError(err error) error { return describeError(d.path, err) }

// currentPosition returns the position after the last change that was read. The caller must hold logmu and mu.
func (d *DB) currentPosition() store.Position {
	if !d.log.Exists() {
		return ""
	}
	p := logpos.Position{LogID: d.log.Header().ID, Seq: d.log.LastSeq(), ChainHash: d.log.LastChainHash()}
	if n := len(d.changeOffsets); n > 0 {
		p.FileOffset = d.changeOffsets[n-1]
	} else if d.st.base != nil {
		p.FileOffset = d.st.base.head.lastOffset
	}
	return store.Position(p.Encode())
}

// openSecondLog opens a second reader of the log, which begins at the start.
func (d *DB) openSecondLog() (*wal.Log, error) { return d.openLogReadOnly(d.logOptions()) }

// openVerifiedLog opens a separate reader of the log, which begins at the start. The reader verifies the hash chain of
// each record.
func (d *DB) openVerifiedLog() (*wal.Log, error) {
	o := d.logOptions()
	o.VerifyChain = true
	return d.openLogReadOnly(o)
}

// openLogReadOnly opens a second reader of the log, which cannot write.
func (d *DB) openLogReadOnly(o wal.Options) (*wal.Log, error) {
	o.ReadOnly = true
	log, err := wal.Open(d.fs, d.logName, o)
	return log, d.convertWALError(err)
}

// snapshotName returns the file name of the snapshot.
func (d *DB) snapshotName() string { return d.logName + SnapshotSuffix }

// openSnapshot opens the snapshot. The snapshot gets its own reader of the log.
func (d *DB) openSnapshot() (*snapshot, error) {
	return openSnapshot(d.fs, d.snapshotName(), d.opts.CacheBudget, d.openSecondLog)
}
