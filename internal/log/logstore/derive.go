// This file writes files that are derived from the log, while others read and write the
// store.

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

// ErrDerivedFile is returned if a derived file was not written or cannot be used. errStoreChanged means that
// the log has changed since, and errWriterActive that another process is writing. The file is then written
// at the next opportunity.
var (
	ErrDerivedFile  = errors.New("a file that is made from the log was not made")
	errStoreChanged = fmt.Errorf("%w: the store has changed", ErrDerivedFile)
	errWriterActive = fmt.Errorf("%w: a process writes to the store", ErrDerivedFile)
)

// writeDerivedFile writes the derived file with this name, and returns an error if the log has another epoch. It does
// so in three steps. begin must call its argument, which creates an empty temporary file, with the lock between
// processes. Then write is called without the lock, so that others can read and write the store. Finally end must call
// its argument, which renames the temporary file, with the lock. The file is not synced, because its checksums reveal
// the damage of a crash. If the log is redacted during the call, the temporary file is removed.
func (d *DB) writeDerivedFile(
	name string,
	epoch uint64,
	begin, end func(fn func() error) error,
	write func(f vfs.File) error,
) error {
	var f vfs.File
	var temp string
	err := begin(func() error {
		err := d.checkEpoch(epoch)
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
		err = write(f)
	}
	named := false
	if err == nil {
		err = end(func() error {
			err := d.checkEpoch(epoch)
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
		_ = d.fs.Remove(temp) // ignore the error, because another process may have removed the file
	}
	return err
}

// checkEpoch returns an error unless the epoch of the log is still the given one. If the log was
// replaced in the meantime, the data that was read from it is outdated. The lock between processes
// must be held.
func (d *DB) checkEpoch(epoch uint64) error {
	if err := d.refresh(); err != nil {
		return err
	}
	if d.epoch.Load() != epoch {
		return errStoreChanged
	}
	return nil
}

// renameDerivedFile renames f from temp to name, unless another process has removed it. The lock
// between processes must be held.
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

// removeDerivedFile removes a derived file and its temporary files. It truncates each file first, so that
// the data is gone even for processes that have the file open. The lock between processes must be
// held.
func (d *DB) removeDerivedFile(name string) error {
	if err := d.removeDerivedTemps(name); err != nil {
		return err
	}
	return d.truncateAndRemove(name)
}

// removeDerivedTemps removes the temporary files of a derived file like removeDerivedFile, but not the file itself.
func (d *DB) removeDerivedTemps(name string) error {
	dir := path.Dir(d.name)
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

// truncateAndRemove truncates and removes a file, if the file exists.
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

// withoutWriters calls fn if no process writes, compacts or redacts, and locks out writers
// during the call. Otherwise it returns errWriterActive. Readers are not affected.
func (d *DB) withoutWriters(fn func() error) error {
	if !d.writerMu.TryLock() {
		return errWriterActive
	}
	defer d.writerMu.Unlock()
	return d.withoutOthers(context.Background(), fn)
}

// betweenWrites is like withoutWriters, but waits for writes of this process.
func (d *DB) betweenWrites(ctx context.Context, fn func() error) error {
	if err := d.writerMu.LockContext(ctx); err != nil {
		return err
	}
	defer d.writerMu.Unlock()
	return d.withoutOthers(ctx, fn)
}

// withoutOthers calls fn if no other process writes. writerMu must be held.
func (d *DB) withoutOthers(ctx context.Context, fn func() error) error {
	if err := d.checkReady(ctx); err != nil {
		return err
	}
	if _, err := d.fs.Stat(d.name); err != nil {
		return nil // do nothing if the store has no log yet
	}
	l, err := d.fs.OpenLock(wal.LockName(d.name))
	if err != nil {
		return err
	}
	defer l.Close()
	if got, err := l.TryLock(); !got || err != nil {
		return cmp.Or(err, errWriterActive)
	}
	return fn()
}
