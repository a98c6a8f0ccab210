// Files that are made from the log, next to readers and writers.

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

// ErrDerived says that a file that is made from the log was not made, or not used,
// errUnfit that it is not, or not any more, that of the log, errBusy that a process
// writes. It is made at the next occasion.
var (
	ErrDerived = errors.New("a file that is made from the log was not made")
	errUnfit   = fmt.Errorf("%w: the store has changed", ErrDerived)
	errBusy    = fmt.Errorf("%w: a process writes to the store", ErrDerived)
)

// derive makes the file of that name, which write writes, of the log of an epoch. Begin
// calls its argument with the lock between processes, to make an empty file, and so does
// end, to give it its name: meanwhile others read and write. It is not synced: the
// checks of a file that a crash damages fail. A redaction meanwhile removes what there
// is of it.
func (d *DB) derive(name string, epoch uint64, begin, end func(fn func() error) error, write func(f vfs.File) error) error {
	var f vfs.File
	var temp string
	err := begin(func() error {
		err := d.stillOf(epoch)
		if err == nil {
			err = d.dropFile(name, false)
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
			err := d.stillOf(epoch)
			if err == nil {
				err = d.nameFile(f, temp, name)
			}
			named = err == nil
			return err
		})
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if !named {
		_ = d.fs.Remove(temp) // another process may have done so
	}
	return err
}

// stillOf returns an error when the log was read again since an epoch. The lock between
// processes is held.
func (d *DB) stillOf(epoch uint64) error {
	if err := d.refresh(); err != nil {
		return err
	}
	if d.epoch.Load() != epoch {
		return errUnfit
	}
	return nil
}

// nameFile gives f, the name of which is temp, that name, unless another process
// removed it. The lock between processes is held.
func (d *DB) nameFile(f vfs.File, temp, name string) error {
	named, err := d.fs.Stat(temp)
	if errors.Is(err, fs.ErrNotExist) {
		return errUnfit
	}
	if err != nil {
		return err
	}
	if own, err := f.Stat(); err != nil || !vfs.SameFile(named, own) {
		return errUnfit
	}
	return d.fs.Rename(temp, name)
}

// dropFile removes what an interrupted writing left of a file that is made from
// the log, and with all the file too, and their bytes as far as the file system
// lets it. The caller has the lock between processes.
func (d *DB) dropFile(name string, all bool) error {
	dir := path.Dir(d.name)
	files, err := d.fs.ReadDir(dir)
	if err != nil {
		return err
	}
	base := path.Base(name)
	for _, e := range files {
		rest, ours := strings.CutPrefix(e.Name(), base)
		if temp := strings.HasPrefix(rest, ".") && strings.HasSuffix(rest, ".tmp"); !ours || (!temp && (rest != "" || !all)) {
			continue
		}
		name := path.Join(dir, e.Name())
		if f, err := d.fs.OpenFile(name, os.O_RDWR, 0); err == nil {
			err = errors.Join(f.Truncate(0), f.Close())
			if err != nil {
				return err
			}
		}
		if err := d.fs.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// withoutWriters calls fn if no process writes, compacts or redacts, and locks
// writers out meanwhile; else it returns errBusy. Others read meanwhile.
func (d *DB) withoutWriters(fn func() error) error {
	if !d.writerMu.TryLock() {
		return errBusy
	}
	defer d.writerMu.Unlock()
	return d.withoutOthers(context.Background(), fn)
}

// betweenWrites is withoutWriters after what this process writes now.
func (d *DB) betweenWrites(ctx context.Context, fn func() error) error {
	if err := d.writerMu.LockContext(ctx); err != nil {
		return err
	}
	defer d.writerMu.Unlock()
	return d.withoutOthers(ctx, fn)
}

// withoutOthers calls fn if no other process writes. writerMu is held.
func (d *DB) withoutOthers(ctx context.Context, fn func() error) error {
	if err := d.ready(ctx); err != nil {
		return err
	}
	if _, err := d.fs.Stat(d.name); err != nil {
		return nil // there is no log
	}
	l, err := d.fs.OpenLock(wal.LockName(d.name))
	if err != nil {
		return err
	}
	defer l.Close()
	if got, err := l.TryLock(); !got || err != nil {
		return cmp.Or(err, errBusy)
	}
	return fn()
}
