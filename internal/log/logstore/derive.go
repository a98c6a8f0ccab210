// This file writes derived files, which are made from the log, while other processes use the store.

package logstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/vfs"
)

// ErrDerivedFileNotWritten is returned if a derived file is unusable or was not written. It can be written later.
// errStoreChanged means that the log has changed in the meantime, and errWriterActive that another process is writing.
var (
	ErrDerivedFileNotWritten = errors.New("a file that is made from the log was not made")
	errStoreChanged          = fmt.Errorf("%w: the store has changed", ErrDerivedFileNotWritten)
	errWriterActive          = fmt.Errorf("%w: a process writes to the store", ErrDerivedFileNotWritten)
)

// writeDerivedFile writes a file with content that was computed from the log. The argument epoch is the log's epoch
// when the content was computed. The epoch changes if the log is replaced or redacted, and then writeDerivedFile fails.
// Others can use the store while the content is written, because writing has three steps:
//
//   - writeDerivedFile calls createUnderLock with a function that creates an empty temporary file. createUnderLock
//     must call this function while other processes are locked out.
//   - It calls the function writeContent, which writes the content, without a lock.
//   - It calls renameUnderLock with a function that renames the temporary file. renameUnderLock must call this
//     function under the same lock.
//
// The file is not synced, because its checksums reveal damage by a crash. If the log is redacted in the meantime, the
// temporary file is removed.
func (d *DB) writeDerivedFile(
	name string,
	epoch uint64,
	createUnderLock, renameUnderLock func(fn func() error) error,
	writeContent func(f vfs.File) error,
) error {
	var f vfs.File
	var temp string
	err := createUnderLock(func() error {
		err := d.checkLogEpoch(epoch)
		if err == nil {
			err = d.removeDerivedTemps(name)
		}
		if err == nil {
			f, temp, err = vfs.CreateTemp(d.fs, name, 0o600)
		}
		return err
	})
	if f == nil {
		return err
	}
	if err == nil {
		err = writeContent(f)
	}
	named := false
	if err == nil {
		err = renameUnderLock(func() error {
			err := d.checkLogEpoch(epoch)
			if err == nil {
				err = d.renameDerivedFile(f, temp, name)
			}
			named = err == nil
			return err
		})
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if !named {
		_ = d.fs.Remove(temp) // Ignore the error, because another process may have removed the file.
	}
	return err
}

// checkLogEpoch returns an error if the log no longer has this epoch. The log was then replaced, and data that were
// read from it are outdated. The caller must hold the lock between processes.
func (d *DB) checkLogEpoch(epoch uint64) error {
	if err := d.refresh(); err != nil {
		return err
	}
	if d.logEpoch.Load() != epoch {
		return errStoreChanged
	}
	return nil
}

// renameDerivedFile renames the temporary file f from temp to name. It fails if another process has removed the
// temporary file, for example because the log was redacted. The caller must hold the store's lock file.
func (d *DB) renameDerivedFile(f vfs.File, temp, name string) error {
	named, err := d.fs.Stat(temp)
	if errors.Is(err, fs.ErrNotExist) {
		return errStoreChanged
	}
	if err != nil {
		return err
	}
	if own, err := f.Stat(); err != nil || !vfs.SameFile(named, own) {
		return errStoreChanged
	}
	return d.fs.Rename(temp, name)
}

// removeDerivedFile removes a derived file and its temporary files. It truncates each file first, so that the data are
// gone even for a process that has the file open. The caller must hold the lock between processes.
func (d *DB) removeDerivedFile(name string) error {
	if err := d.removeDerivedTemps(name); err != nil {
		return err
	}
	return d.truncateAndRemove(name)
}

// removeDerivedTemps removes temporary files that remained when the writing of a derived file was interrupted. A
// derived file contains data that were computed from the log. The parameter name is the name of this file, which itself
// is not removed. Each temporary file is truncated before it is removed.
func (d *DB) removeDerivedTemps(name string) error {
	dir := path.Dir(d.logName)
	files, err := d.fs.ReadDir(dir)
	if err != nil {
		return err
	}
	base := path.Base(name)
	for _, e := range files {
		rest, ours := strings.CutPrefix(e.Name(), base)
		isTemp := strings.HasPrefix(rest, ".") && strings.HasSuffix(rest, ".tmp")
		if !ours || !isTemp {
			continue
		}
		if err := d.truncateAndRemove(path.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// truncateAndRemove truncates and removes a file. It does nothing if the file does not exist.
func (d *DB) truncateAndRemove(name string) error {
	if f, err := d.fs.OpenFile(name, os.O_RDWR, 0); err == nil {
		err = errors.Join(f.Truncate(0), f.Close())
		if err != nil {
			return err
		}
	}
	if err := d.fs.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// withoutWriters calls fn while no process can write, compact or redact. If a process is writing now, it returns
// errWriterActive without waiting. Readers are not affected.
func (d *DB) withoutWriters(fn func() error) error {
	if !d.writerMu.TryLock() {
		return errWriterActive
	}
	defer d.writerMu.Unlock()
	return d.callWithoutOtherWriters(context.Background(), fn)
}

// callBetweenWrites calls fn while no process can write to the store. If another goroutine of this process is writing,
// callBetweenWrites waits until the write is finished. If another process is writing, callBetweenWrites returns
// errWriterActive.
func (d *DB) callBetweenWrites(ctx context.Context, fn func() error) error {
	if err := d.writerMu.LockContext(ctx); err != nil {
		return err
	}
	defer d.writerMu.Unlock()
	return d.callWithoutOtherWriters(ctx, fn)
}

// callWithoutOtherWriters calls fn while no other process can write, and returns the error of fn. It calls fn only if
// the store's log exists already, and otherwise returns nil. If another process is writing now, it returns
// errWriterActive. The caller must hold writerMu.
func (d *DB) callWithoutOtherWriters(ctx context.Context, fn func() error) error {
	if err := d.checkOpenAndContext(ctx); err != nil {
		return err
	}
	if _, err := d.fs.Stat(d.logName); err != nil {
		return nil // Do nothing, because the store's log does not exist yet.
	}
	l, err := d.fs.OpenLock(wal.LockName(d.logName))
	if err != nil {
		return err
	}
	defer l.Close()
	if got, err := l.TryLock(); !got || err != nil {
		return cmp.Or(err, errWriterActive)
	}
	return fn()
}
