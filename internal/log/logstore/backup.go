// This file copies a store while other processes may write to the store.

package logstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/store"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Backup copies the store to a new file, which contains the state of one moment. Other processes can write during the
// copy. When Backup returns, the copy is durable. If the file exists and mayOverwriteFile is false, the error matches
// fs.ErrExist. Backup returns the number of the last change in the copy. If Options.FS is set, path is a path in that
// file system.
func (d *DB) Backup(ctx context.Context, path string, mayOverwriteFile bool) (uint64, error) {
	log, err := d.openForCopy(ctx, d.openSecondLog)
	if err != nil {
		return 0, err
	}
	defer log.Close()
	if err := log.Read(func(*wal.Record) error { return ctx.Err() }); err != nil {
		return 0, d.convertWALError(err)
	}
	fsys, name, done, err := fsForPath(path, d.opts)
	if err != nil {
		return 0, err
	}
	defer done()
	return log.LastSeq(), d.convertWALError(log.CopyTo(fsys, name, mayOverwriteFile))
}

// BackupTo checks the store like [DB.Check] and then writes a copy of it to w. The copy has the same bytes as the file
// that [DB.Backup] creates. If the store is damaged, BackupTo writes nothing. The report describes exactly the state
// that was written.
func (d *DB) BackupTo(ctx context.Context, w io.Writer) (store.CheckReport, error) {
	log, err := d.openForCopy(ctx, d.openVerifiedLog)
	if err != nil {
		return store.CheckReport{}, err
	}
	defer log.Close()
	rep, err := d.readAndVerifyLog(ctx, log, &logStateComparer{newVersionState(log, d.countEntries()), nil})
	if err == nil {
		rep.Bytes, err = log.WriteTo(w)
	}
	return rep, d.convertWALError(err)
}

// VerifyFile reads the whole log in the file with this path and verifies it. It needs less memory than opening the
// store, because no entries are kept. Damage is returned as a problem in the report. If the file does not exist, the
// error matches [fs.ErrNotExist]. Nobody may write to the file meanwhile.
func VerifyFile(ctx context.Context, path string, o Options) (store.CheckReport, error) {
	opts := o.withDefaults()
	rep := store.CheckReport{Path: path}
	fsys, name, done, err := fsForPath(path, opts)
	if err != nil {
		return rep, err
	}
	defer done()
	d := &DB{fs: fsys, logName: name, path: path, opts: opts, currentState: currentState{st: newState()}}
	log, err := d.openVerifiedLog()
	var damaged *store.CorruptError
	if errors.As(err, &damaged) {
		rep.Damaged, rep.Problems = true, []store.Problem{newDamageProblem(damaged)}
		return rep, nil
	}
	if err != nil {
		return rep, err
	}
	defer log.Close()
	if !log.Exists() {
		return rep, fmt.Errorf("verifying %s: %w", path, fs.ErrNotExist)
	}
	return d.checkLog(ctx, log, wal.LockFileContent{}, &logStateComparer{newVersionState(log, 0), nil})
}

// openForCopy opens another reader of the log by calling the function openLog, so that the store can be copied while it
// changes. The reader always sees the same state of the store, because later changes are appended to the log, and
// because a rewrite of the log creates a new file. The caller must close the reader. If the log does not exist yet, the
// error matches [store.ErrNotFound].
func (d *DB) openForCopy(ctx context.Context, openLog func() (*wal.Log, error)) (*wal.Log, error) {
	if err := d.Refresh(ctx); err != nil {
		return nil, err
	}
	log, err := openLog()
	if err != nil {
		return nil, err
	}
	if !log.Exists() {
		return nil, errors.Join(fmt.Errorf("%w: there is nothing in the store yet", store.ErrNotFound), log.Close())
	}
	return log, nil
}

// fsForPath returns the file system that contains the file at a path, and the file's name in this file system. The
// directory of the file must exist. The caller must call done when it no longer needs the file system.
func fsForPath(path string, opts Options) (fsys vfs.FS, name string, done func(), err error) {
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
