// This file lets other packages store files beside the log, such as a search index, whose content is computed from the
// log.

package logstore

import (
	"context"
	"errors"
	"os"

	"github.com/oxbow-memory/oxbow/vfs"
)

// A DerivedFile is a file next to the log whose content was computed from the log. It may be removed at any time.
type DerivedFile struct {
	db     *DB
	suffix string // end of the file's name, which begins with the name of the log
}

// DerivedFile returns the file with this suffix.
func (d *DB) DerivedFile(suffix string) DerivedFile { return DerivedFile{d, suffix} }

func (f DerivedFile) fileName() string { return f.db.logName + f.suffix }

// Path returns the file's path, for use in messages.
func (f DerivedFile) Path() string { return f.db.path + f.suffix }

// Open opens the file for reading.
func (f DerivedFile) Open() (vfs.File, error) { return f.db.fs.OpenFile(f.fileName(), os.O_RDONLY, 0) }

// Exists reports whether the file exists. It does not check the content.
func (f DerivedFile) Exists() bool {
	_, err := f.db.fs.Stat(f.fileName())
	return err == nil
}

// CreateEmpty creates an empty file. It does nothing if the file exists, and returns an error if a process is writing
// to the store.
func (f DerivedFile) CreateEmpty() error {
	return f.db.withoutWriters(func() error {
		if f.Exists() {
			return nil
		}
		return vfs.WriteDerived(f.db.fs, f.fileName(), 0o600)
	})
}

// Create writes the file. The function write writes the content, which was derived from the log in the given epoch. The
// epoch changes when the log is rewritten. Others can use the store while the file is written. Create does not wait for
// other processes. If another process is writing, or if the log was rewritten since the epoch, the error matches
// [ErrDerivedFileNotWritten].
func (f DerivedFile) Create(ctx context.Context, epoch uint64, write func(vfs.File) error) error {
	between := func(fn func() error) error { return f.db.callBetweenWrites(ctx, fn) }
	return f.db.writeDerivedFile(f.fileName(), epoch, between, between, write)
}

// CreateTemp creates an empty temporary file and returns the file with its name. [DerivedFile.ReplaceByTempFile] can
// later rename the file to the final name. CreateTemp first reads the changes of other processes and then calls the
// function checkBeforeCreate. If checkBeforeCreate succeeds, CreateTemp removes older temporary files of this kind. It
// fails if checkBeforeCreate returns an error or if another process is writing. If a text is redacted later, the
// redaction removes the temporary file, because the file may contain the text.
func (f DerivedFile) CreateTemp(checkBeforeCreate func() error) (file vfs.File, temp string, err error) {
	err = f.db.withoutWriters(func() error {
		err := f.db.refresh()
		if err == nil {
			err = checkBeforeCreate()
		}
		if err == nil {
			err = f.removeTemps()
		}
		if err == nil {
			file, temp, err = vfs.CreateTemp(f.db.fs, f.fileName(), 0o600)
		}
		return err
	})
	return file, temp, err
}

// ReplaceByTempFile replaces the derived file by a temporary file, which CreateTemp created. The parameter temp is the
// temporary file's name. ReplaceByTempFile first reads the changes of other processes, and calls the function finish,
// which can complete the content. Then it renames the temporary file. If finish or another step returns an error, or if
// a process is writing to the store, ReplaceByTempFile removes the temporary file and returns an error.
func (f DerivedFile) ReplaceByTempFile(file vfs.File, temp string, finish func() error) error {
	err := errWriterActive
	if ferr := f.db.withoutWriters(func() error {
		err = f.db.refresh()
		if err == nil {
			err = finish()
		}
		if err == nil {
			err = f.db.renameDerivedFile(file, temp, f.fileName())
		}
		return err
	}); ferr != nil {
		err = ferr
	}
	if err != nil {
		f.DiscardTemp(temp)
	}
	return err
}

// DiscardTemp removes a file from CreateTemp. It ignores errors, because another process may have removed the file.
func (f DerivedFile) DiscardTemp(temp string) { _ = f.db.fs.Remove(temp) }

// CreateUnlinkedFile creates an empty file and removes its name at once. Therefore the operating system deletes the
// file when it is closed, even after a crash. The file first has the name of a temporary file. If a crash prevents the
// removal of the name, the file is therefore recognized as temporary and removed later.
func (f DerivedFile) CreateUnlinkedFile() (vfs.File, error) {
	file, temp, err := vfs.CreateTemp(f.db.fs, f.fileName(), 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.db.fs.Remove(temp); err != nil {
		// Try again after closing, because some operating systems cannot remove an open file.
		return nil, errors.Join(err, file.Close(), f.db.fs.Remove(temp))
	}
	return file, nil
}

// removeWithTemps removes the derived file and its temporary files. The caller must hold the lock between processes.
func (f DerivedFile) removeWithTemps() error { return f.db.removeDerivedFile(f.fileName()) }

// removeTemps removes the temporary files of the derived file. The caller must hold the lock between processes.
func (f DerivedFile) removeTemps() error { return f.db.removeDerivedTemps(f.fileName()) }
