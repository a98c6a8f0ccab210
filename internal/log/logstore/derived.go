// A file that is made from the log by others than the store, such as an index.

package logstore

import (
	"context"
	"errors"
	"os"

	"github.com/oxbow-memory/oxbow/vfs"
)

// A Derived is a file that is made from the log, next to it. It may be removed at any
// time.
type Derived struct {
	d      *DB
	suffix string // of its name, after the log's
}

// Derived returns the file with that suffix.
func (d *DB) Derived(suffix string) Derived { return Derived{d, suffix} }

func (f Derived) name() string { return f.d.name + f.suffix }

// Path returns the path of the file for people.
func (f Derived) Path() string { return f.d.path + f.suffix }

// Open opens the file for reading.
func (f Derived) Open() (vfs.File, error) { return f.d.fs.OpenFile(f.name(), os.O_RDONLY, 0) }

// Exists reports whether there is a file, of whatever form.
func (f Derived) Exists() bool {
	_, err := f.d.fs.Stat(f.name())
	return err == nil
}

// MakeEmpty makes an empty file, unless there is one of any form, or a process writes.
func (f Derived) MakeEmpty() error {
	return f.d.withoutWriters(func() error {
		if f.Exists() {
			return nil
		}
		return vfs.WriteDerived(f.d.fs, f.name(), 0o600)
	})
}

// Make makes the file, which write writes, of the log of an epoch, next to readers and
// writers. It waits for no other process: if one writes, or the log was written again
// meanwhile, there is no file, and the error is [ErrDerived].
func (f Derived) Make(ctx context.Context, epoch uint64, write func(vfs.File) error) error {
	between := func(fn func() error) error { return f.d.betweenWrites(ctx, fn) }
	return f.d.derive(f.name(), epoch, between, between, write)
}

// Begin makes an empty file to be adopted later, and returns its name, if no process
// writes and check, which is called when all that others wrote was read, returns nil. A
// redaction that comes later removes it.
func (f Derived) Begin(check func() error) (file vfs.File, temp string, err error) {
	err = f.d.withoutWriters(func() error {
		err := f.d.refresh()
		if err == nil {
			err = check()
		}
		if err == nil {
			err = f.drop(false)
		}
		if err == nil {
			file, temp, err = vfs.CreateTemp(f.d.fs, f.name(), 0o600)
		}
		return err
	})
	return file, temp, err
}

// Adopt makes a file that Begin made the derived file, if no process writes and finish,
// which is called when all that others wrote was read, returns nil. Else it removes it.
func (f Derived) Adopt(file vfs.File, temp string, finish func() error) error {
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

// Discard removes a file that Begin made.
func (f Derived) Discard(temp string) { _ = f.d.fs.Remove(temp) } // another process may have done so

// Nameless returns an empty file that has lost its name: no crash leaves anything of it,
// and a redaction in another process, which cannot know of it, need not. The name is one
// that a sweep removes.
func (f Derived) Nameless() (vfs.File, error) {
	file, temp, err := vfs.CreateTemp(f.d.fs, f.name(), 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.d.fs.Remove(temp); err != nil {
		return nil, errors.Join(err, file.Close(), f.d.fs.Remove(temp)) // a system may want it closed first
	}
	return file, nil
}

// drop removes the file, with all, and what an interrupted writing left of it. The lock
// between processes is held.
func (f Derived) drop(all bool) error { return f.d.dropFile(f.name(), all) }
