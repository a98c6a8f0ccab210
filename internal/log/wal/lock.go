// This file acquires and releases the write lock.

package wal

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

// Lock acquires the write lock and waits for it as long as the options allow. After that
// time it returns a *[BusyError]. If the lock file cannot be created, the error matches
// [ErrReadOnly].
func (l *Log) Lock(ctx context.Context) error {
	if l.opts.ReadOnly {
		return ErrReadOnly
	}
	if l.lock == nil {
		k, err := l.fs.OpenLock(l.lockName())
		if errors.Is(err, fs.ErrNotExist) {
			err = l.makeDir()
			if err == nil {
				k, err = l.fs.OpenLock(l.lockName())
			}
		}
		if err != nil {
			return readOnly(err)
		}
		l.lock = k
	}
	if l.metaPending {
		return nil // the lock was never released
	}
	ok, waited, err := vfs.AcquireLock(ctx, l.lock, l.opts.LockWait)
	if err != nil {
		return readOnly(err)
	}
	if !ok {
		return &BusyError{Waited: waited, Holder: l.Holder()}
	}
	noted := false
	defer func() {
		if !noted { // the clock panicked
			_ = l.lock.Unlock()
		}
	}()
	l.free.Store(-1) // forget earlier observations, because they may be outdated
	l.readMeta()
	_ = l.writeMeta()
	noted = true
	return nil
}

// makeDir creates the directory of the log and its missing parents, durably.
func (l *Log) makeDir() error {
	dir := path.Dir(l.name)
	if err := l.fs.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for dir != "." {
		dir = path.Dir(dir)
		if err := l.fs.SyncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// Unlock releases the write lock. If the log could not record its failure in the lock file,
// Unlock tries again, and keeps the lock if that fails.
func (l *Log) Unlock() error {
	l.metaPending = l.metaPending && l.writeMeta() != nil
	if l.metaPending {
		return nil
	}
	return l.lock.Unlock()
}

// Hold acquires the write lock of the log with this name, even if the log cannot be opened.
// The caller must call release.
func Hold(ctx context.Context, fsys vfs.FS, name string, o Options) (release func() error, err error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	l := &Log{fs: fsys, name: name, opts: o}
	if err := l.Lock(ctx); err != nil {
		_ = l.Close()
		return nil, err
	}
	return l.Close, nil
}
