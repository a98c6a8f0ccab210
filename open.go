// Opening and closing a memory and the default store.

package oxbow

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"time"

	"github.com/oxbow-memory/oxbow/internal/ctxmutex"
	"github.com/oxbow-memory/oxbow/internal/wal"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Open opens the memory in the file of that path, which by custom ends in
// .oxbow. A missing file is an empty memory; the first change makes it, and
// the directories above it. Errors match [ErrCorrupt], [ErrVersion],
// [ErrNotStore] or errors of package io/fs.
func Open(path string, o *Options) (*Memory, error) {
	opts := o.orDefault()
	if err := checkRanking(opts.Ranking); err != nil {
		return nil, err
	}
	fsys, name := opts.FS, path
	if fsys == nil {
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		name = filepath.Base(abs)
		fsys, err = openDir(filepath.Dir(abs), opts.ReadOnly)
		if err != nil {
			return nil, err
		}
	}
	db, err := openDB(fsys, name, path, opts)
	if err != nil {
		return nil, err
	}
	return newMemory(db, opts), nil
}

// New returns a memory over any store. Closing the memory closes the store.
func New(s Store, o *Options) *Memory { return newMemory(s, o.orDefault()) }

func newMemory(s Store, opts Options) *Memory {
	m := &Memory{store: s, opts: opts, scanFrom: scanFrom, buildMu: ctxmutex.New(), applying: ctxmutex.New(), keeping: ctxmutex.New()}
	m.keepSoon = m.keepBeside
	m.closing, m.endClosing = context.WithCancel(context.Background())
	if d, ok := s.(*db); ok {
		d.ahead = m.analyzeAhead
	}
	if w, ok := s.(Watcher); ok {
		w.Watch(m.changed)
	}
	return m
}

// Close closes the store below. It takes no time in proportion to the store: what is
// kept next to it, so that the next process need not make it, is written only if it is
// small. That of a larger one [Memory.Checkpoint] writes, or the memory itself while it
// is open.
func (m *Memory) Close() error {
	m.endClosing()
	if d, ok := m.store.(*db); ok {
		d.endWaiting()
	}
	m.keepAtClose()
	err := m.store.Close()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.setSearcher(nil)
	return err
}

// openDir returns the operating system's directory of that path, making it
// unless only reading is wanted.
func openDir(dir string, readOnly bool) (vfs.FS, error) {
	if !readOnly {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	return vfs.Dir(dir)
}

// openDB opens the store in that file and reads it.
func openDB(fsys vfs.FS, name, path string, opts Options) (*db, error) {
	d := &db{fs: fsys, name: name, path: path, opts: opts, room: opts.Cache.room, st: newState(), writerMu: ctxmutex.New(), compactMu: ctxmutex.New(), snapshotMu: ctxmutex.New()}
	d.closing, d.endWaiting = context.WithCancel(context.Background())
	d.livesOn = d.makeUp
	d.ahead = func(iter.Seq[*Entry]) func() { return nil }
	d.grown = func(ours bool) {
		if ours {
			d.compactSelf()
		}
		d.shortenTail()
	}
	log, err := wal.Open(fsys, name, d.logOptions())
	if err != nil {
		return nil, d.describe(err)
	}
	d.log = log
	if err := d.start(); err != nil {
		d.st.base.release()
		_ = log.Close()
		return nil, err
	}
	if opts.SealAfter > 0 {
		d.idle = time.AfterFunc(opts.SealAfter, d.seal)
	}
	return d, nil
}

// start reads the log: from the snapshot on, if there is one that fits, else from
// its start.
func (d *db) start() error {
	st, offsets, err := d.readAll(true)
	if err != nil {
		return err
	}
	d.setState(st, offsets)
	d.recent = recent{pos: d.recent.pos}
	return nil
}

// seal writes the commit mark of the last change, unless a commit is under way.
func (d *db) seal() {
	if !d.writerMu.TryLock() {
		return
	}
	defer d.writerMu.Unlock()
	d.logmu.Lock()
	defer d.logmu.Unlock()
	if d.ready(context.Background()) == nil {
		d.log.Seal()
	}
}

// Close implements [Store].
func (d *db) Close() error {
	if d.ready(context.Background()) == nil {
		d.endCompaction()
		d.endWaiting()
		d.logmu.RLock()
		instant := d.broken == nil && d.instantSnapshot()
		if d.logmu.RUnlock(); instant {
			_ = d.keepSnapshot(context.Background())
		}
	}
	d.snapshotMu.Lock() // one that is being written ends early, and removes its file
	defer d.snapshotMu.Unlock()
	d.writerMu.Lock()
	defer d.writerMu.Unlock()
	d.logmu.Lock()
	defer d.logmu.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return ErrClosed
	}
	d.closed = true
	d.st.base.release()
	if d.idle != nil {
		d.idle.Stop()
	}
	err := d.log.Close()
	if c, ok := d.fs.(interface{ Close() error }); ok && d.opts.FS == nil {
		err = errors.Join(err, c.Close())
	}
	return err
}

// Create makes the file of an empty store, so that it can be seen. It does
// nothing when there is one.
func (m *Memory) Create(ctx context.Context) error {
	d, ok := m.store.(*db)
	if !ok {
		return nil
	}
	d.writerMu.Lock()
	defer d.writerMu.Unlock()
	return d.locked(ctx, func() error { return d.log.Create() })
}
