// This file opens and closes stores.

package logstore

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/cache"
	"github.com/oxbow-memory/oxbow/internal/base/ctxmutex"
	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/store"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Open opens the store in the file at path. If the file does not exist, the store is empty, and the first change
// creates the file and its parent directories. Errors match [store.ErrCorrupt], [store.ErrVersion],
// [store.ErrNotStore] or errors of package io/fs.
func Open(path string, o Options) (*DB, error) {
	if o.FS != nil {
		return openDB(o.FS, path, path, o)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	fsys, err := openDir(filepath.Dir(abs), o.ReadOnly)
	if err != nil {
		return nil, err
	}
	return openDB(fsys, filepath.Base(abs), path, o)
}

func openDir(dir string, readOnly bool) (vfs.FS, error) {
	if !readOnly {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	return vfs.Dir(dir)
}

// SetOnAppend sets a function that is called each time entries are written, while the log is locked. onAppend can
// return a function, which is then called while the entries are synced to the disk.
func (d *DB) SetOnAppend(onAppend func(entries iter.Seq[*store.Entry]) func()) { d.onAppend = onAppend }

// CancelPendingWork ends all waiting for other processes and all work in the background.
func (d *DB) CancelPendingWork() { d.cancelClosingCtx() }

// CacheBudget returns the budget of memory for cached entries.
func (d *DB) CacheBudget() *cache.SizeBudget { return d.opts.CacheBudget }

// openDB opens the store in the log file with this name in the file system fsys, and loads its state. The argument path
// is the path of the file that is used in error messages.
func openDB(fsys vfs.FS, name, path string, opts Options) (*DB, error) {
	opts = opts.withDefaults()
	d := &DB{
		fs:           fsys,
		logName:      name,
		path:         path,
		opts:         opts,
		currentState: currentState{st: newState()},
		writerMu:     ctxmutex.New(),
		compactor:    compactor{opts: opts, mu: ctxmutex.New()},
		checkpointer: snapshotScheduler{opts: opts, mu: ctxmutex.New()},
	}
	d.closingCtx, d.cancelClosingCtx = context.WithCancel(context.Background())
	d.checkpointer.onLongRunningProcess = d.writeSnapshotIfDue
	d.onAppend = func(iter.Seq[*store.Entry]) func() { return nil }
	d.onChangeByOtherProcess = func() {
		d.checkpointer.renewSnapshotIfNeeded(d.log.EndOffset(), func() { _ = d.renewSnapshot(d.closingCtx) })
	}
	d.onChangeByThisProcess = func() {
		if d.closingCtx.Err() == nil {
			d.startAutoCompaction()
		}
		d.onChangeByOtherProcess()
	}
	log, err := wal.Open(fsys, name, d.logOptions())
	if err != nil {
		return nil, d.convertWALError(err)
	}
	d.log = log
	if err := d.loadState(); err != nil {
		d.st.base.release()
		_ = log.Close()
		return nil, err
	}
	if opts.DelayBeforeSeal > 0 {
		d.sealTimer = time.AfterFunc(opts.DelayBeforeSeal, d.writeSealOfLastChange)
	}
	return d, nil
}

// loadState reads the state from a valid snapshot and the log after it, or from the whole log.
func (d *DB) loadState() error {
	st, offsets, err := d.readFromSnapshot()
	if err != nil {
		return err
	}
	d.resetState(st, offsets)
	return nil
}

// writeSealOfLastChange appends a record to the log that proves that the last change is durable. If a commit is
// running, it does nothing.
func (d *DB) writeSealOfLastChange() {
	if !d.writerMu.TryLock() {
		return
	}
	defer d.writerMu.Unlock()
	d.logmu.Lock()
	defer d.logmu.Unlock()
	if d.checkOpenAndContext(context.Background()) == nil {
		d.log.SealLastRecord()
	}
}

// Close implements [store.Store].
func (d *DB) Close() error {
	if d.checkOpenAndContext(context.Background()) == nil {
		d.cancelClosingCtx()
		// If a compaction is just starting, finishOrCancelCompaction waits until the compaction has reached a point at
		// which it can be canceled. After this call, no other compaction can start.
		length, _ := d.Size()
		d.compactor.finishOrCancelCompaction(length)
		d.logmu.RLock()
		instant := d.brokenErr == nil && d.isQuickSnapshotDue()
		d.logmu.RUnlock()
		if instant {
			_ = d.updateSnapshot(context.Background())
		}
	}
	// A goroutine may be writing a snapshot file. Wait until it has stopped. It stops early and deletes the incomplete
	// file, because closingCtx is done.
	d.checkpointer.mu.Lock()
	defer d.checkpointer.mu.Unlock()
	d.writerMu.Lock()
	defer d.writerMu.Unlock()
	d.logmu.Lock()
	defer d.logmu.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.isClosed {
		return store.ErrClosed
	}
	d.isClosed = true
	d.st.base.release()
	if d.sealTimer != nil {
		d.sealTimer.Stop()
	}
	err := d.log.Close()
	if c, ok := d.fs.(interface{ Close() error }); ok && d.opts.FS == nil {
		err = errors.Join(err, c.Close())
	}
	return err
}

// Create creates the file of an empty store. It does nothing if the file exists.
func (d *DB) Create(ctx context.Context) error {
	return d.withExclusiveLock(ctx, d.log.CreateFile)
}
