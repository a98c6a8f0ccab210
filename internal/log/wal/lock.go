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

// Lock acquires the write lock. It waits as long as the options allow, and then returns a *[BusyError]. If the lock
// file cannot be created, the error matches [ErrReadOnly].
func (l *Log) Lock(ctx context.Context) error {
	if l.opts.ReadOnly {
		return ErrReadOnly
	}
	if l.lock == nil {
		k, err := l.fs.OpenLock(l.lockName())
		if errors.Is(err, fs.ErrNotExist) {
			err = l.createDir()
			if err == nil {
				k, err = l.fs.OpenLock(l.lockName())
			}
		}
		if err != nil {
			return asReadOnlyError(err)
		}
		l.lock = k
	}
	if l.isSyncFailureUnrecorded {
		// This process still holds the lock, because it could not record in the lock file that a sync has failed.
		return nil
	}
	ok, waited, err := vfs.AcquireLock(ctx, l.lock, l.opts.LockWait)
	if err != nil {
		return asReadOnlyError(err)
	}
	if !ok {
		return &BusyError{Waited: waited, Holder: l.ReadLockHolder()}
	}
	noted := false
	defer func() {
		if !noted { // Release the lock if this function panics, which may happen in the caller's clock function.
			_ = l.lock.Unlock()
		}
	}()
	// Forget that the end of the file was checked before, because other processes may have written to the file since.
	l.zerosFromOffset.Store(-1)
	l.readLockFileMetadata()
	_ = l.writeLockFileMetadata()
	noted = true
	return nil
}

// createDir creates the directory of the log and its missing parents, and makes the names durable.
func (l *Log) createDir() error {
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

// Unlock releases the write lock. If a failed sync could not be recorded in the lock file before, Unlock tries again to
// record the failure. If the lock file cannot be written again, Unlock returns nil but keeps the lock, so that no other
// process writes.
func (l *Log) Unlock() error {
	l.isSyncFailureUnrecorded = l.isSyncFailureUnrecorded && l.writeLockFileMetadata() != nil
	if l.isSyncFailureUnrecorded {
		return nil
	}
	return l.lock.Unlock()
}

// HoldLock acquires the write lock of the log with this name. It works even if the log cannot be opened. The caller
// must call release.
func HoldLock(ctx context.Context, fsys vfs.FS, name string, o Options) (release func() error, err error) {
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
