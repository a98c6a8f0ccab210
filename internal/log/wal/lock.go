// The lock of writers, also of a log that cannot be opened.

package wal

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

// Lock takes the write lock, waiting as long as the options say. The error is
// *BusyError when that was not long enough, or matches [ErrReadOnly] where the
// lock file cannot be made.
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
		return nil // it was never released
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
	l.free.Store(-1) // what was seen before says nothing
	l.readMeta()
	_ = l.writeMeta()
	noted = true
	return nil
}

// makeDir makes the directory that the log is in, and those above it, durably.
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

// Unlock releases the write lock. A log that could not write down its failure
// keeps the lock, and tries to write once more.
func (l *Log) Unlock() error {
	l.metaPending = l.metaPending && l.writeMeta() != nil
	if l.metaPending {
		return nil
	}
	return l.lock.Unlock()
}

// Hold takes the write lock of the log of that name, which need not be one
// that opens, as [Log.Lock] does. Release gives it back.
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
