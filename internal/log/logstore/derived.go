// This file provides access to derived files that other packages write, such as an index.

package logstore

import (
	"context"
	"errors"
	"os"

	"github.com/oxbow-memory/oxbow/vfs"
)

// A DerivedFile is a file next to the log that is derived from it. It may be removed at any
// time.
type DerivedFile struct {
	d      *DB
	suffix string // suffix that is appended to the log's name
}

// DerivedFile returns the file with this suffix.
func (d *DB) DerivedFile(suffix string) DerivedFile { return DerivedFile{d, suffix} }

func (f DerivedFile) name() string { return f.d.name + f.suffix }

// Path returns the path of the file for messages.
func (f DerivedFile) Path() string { return f.d.path + f.suffix }

// Open opens the file for reading.
func (f DerivedFile) Open() (vfs.File, error) { return f.d.fs.OpenFile(f.name(), os.O_RDONLY, 0) }

// Exists reports whether the file exists, in any format.
func (f DerivedFile) Exists() bool {
	_, err := f.d.fs.Stat(f.name())
	return err == nil
}

// MakeEmpty creates an empty file, unless the file exists or a process is writing.
func (f DerivedFile) MakeEmpty() error {
	return f.d.withoutWriters(func() error {
		if f.Exists() {
			return nil
		}
		return vfs.WriteDerived(f.d.fs, f.name(), 0o600)
	})
}

// Make creates the file for the log of an epoch. write writes the content, and others can
// read and write the store in the meantime. It does not wait for other processes. If
// another process is writing, or if the log was rewritten, the error matches [ErrDerived].
func (f DerivedFile) Make(ctx context.Context, epoch uint64, write func(vfs.File) error) error {
	between := func(fn func() error) error { return f.d.betweenWrites(ctx, fn) }
	return f.d.derive(f.name(), epoch, between, between, write)
}

// Begin creates an empty temporary file, which can be adopted later, and returns its name.
// It fails if a process is writing, or if check, which is called after the changes of other
// processes were read, returns an error. A later redaction removes the file.
func (f DerivedFile) Begin(check func() error) (file vfs.File, temp string, err error) {
	err = f.d.withoutWriters(func() error {
		err := f.d.refresh()
		if err == nil {
			err = check()
		}
		if err == nil {
			err = f.dropTemps()
		}
		if err == nil {
			file, temp, err = vfs.CreateTemp(f.d.fs, f.name(), 0o600)
		}
		return err
	})
	return file, temp, err
}

// Adopt replaces the derived file by a file that Begin returned. It reads the changes of other
// processes and then calls finish. If finish returns an error, or if a process is writing, Adopt
// removes the file and returns an error.
func (f DerivedFile) Adopt(file vfs.File, temp string, finish func() error) error {
	err := errBusy
	if ferr := f.d.withoutWriters(func() error {
		err = f.d.refresh()
		if err == nil {
			err = finish()
		}
		if err == nil {
			err = f.d.nameFile(file, temp, f.name())
		}
		return err
	}); ferr != nil {
		err = ferr
	}
	if err != nil {
		f.Discard(temp)
	}
	return err
}

// Discard removes a file that Begin created. An error is ignored, because another process may have
// removed the file.
func (f DerivedFile) Discard(temp string) { _ = f.d.fs.Remove(temp) }

// Nameless returns an empty file without a name. The operating system deletes the file when it is
// closed, even after a crash. Between creating the file and removing its name, the file is named like
// a temporary file.
func (f DerivedFile) Nameless() (vfs.File, error) {
	file, temp, err := vfs.CreateTemp(f.d.fs, f.name(), 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.d.fs.Remove(temp); err != nil {
		// some operating systems can remove a file only after it was closed
		return nil, errors.Join(err, file.Close(), f.d.fs.Remove(temp))
	}
	return file, nil
}

// drop removes the derived file and its temporary files. The lock between processes must be
// held.
func (f DerivedFile) drop() error { return f.d.dropFile(f.name()) }

// dropTemps removes the temporary files of the derived file. The lock between processes must be
// held.
func (f DerivedFile) dropTemps() error { return f.d.dropTemps(f.name()) }
