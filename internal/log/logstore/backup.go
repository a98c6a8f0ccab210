// Backup: a copy of a store while others write.

package logstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/store"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Backup copies the store to a new file, as it is at one moment, while others
// go on writing. The copy is durable when Backup returns. An existing file is
// fs.ErrExist unless replace is set. It returns the number of the last change
// in the copy. A path inside Options.FS is meant where that is set.
func (d *DB) Backup(ctx context.Context, path string, replace bool) (uint64, error) {
	log, err := d.toCopy(ctx, false)
	if err != nil {
		return 0, err
	}
	defer log.Close()
	if err := log.Read(func(*wal.Record) error { return ctx.Err() }); err != nil {
		return 0, d.describe(err)
	}
	fsys, name, done, err := locate(path, d.opts)
	if err != nil {
		return 0, err
	}
	defer done()
	return log.Seq(), d.describe(log.CopyTo(fsys, name, replace))
}

// BackupTo checks the store as [DB.Check] does, and then writes what it read to
// w: a file of these bytes is what [DB.Backup] makes. Of a damaged store nothing
// is written. The report is of what was written.
func (d *DB) BackupTo(ctx context.Context, w io.Writer) (store.CheckReport, error) {
	log, err := d.toCopy(ctx, true)
	if err != nil {
		return store.CheckReport{}, err
	}
	defer log.Close()
	rep, err := d.readThrough(ctx, log, newPlacing())
	if err == nil {
		rep.Bytes, err = log.WriteTo(w)
	}
	return rep, d.describe(err)
}

// toCopy opens the log a second time. The log only grows, and a rewrite makes another
// file: what is read of it is one state of the store. The caller closes it.
func (d *DB) toCopy(ctx context.Context, verify bool) (*wal.Log, error) {
	if err := d.Refresh(ctx); err != nil {
		return nil, err
	}
	log, err := d.another(verify)
	if err != nil {
		return nil, err
	}
	if !log.Exists() {
		return nil, errors.Join(fmt.Errorf("%w: there is nothing in the store yet", store.ErrNotFound), log.Close())
	}
	return log, nil
}

// locate returns the file system that holds the path and the name in it. The
// directory must be there.
func locate(path string, opts Options) (fsys vfs.FS, name string, done func(), err error) {
	if opts.FS != nil {
		return opts.FS, path, func() {}, nil
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, "", nil, err
	}
	dir, err := vfs.Dir(filepath.Dir(abs))
	if err != nil {
		return nil, "", nil, err
	}
	return dir, filepath.Base(abs), func() { _ = dir.Close() }, nil
}
