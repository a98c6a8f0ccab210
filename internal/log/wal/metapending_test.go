// This file tests a log whose write fails and that cannot record the failure in the lock file.

package wal

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/oxbow-memory/oxbow/vfs"
)

var errDisk = errors.New("the disk is gone")

// deaf is a file system. If the field fails is true, its files cannot be synced, no file can be created, and the
// existing lock file cannot be written. Other files can still be written.
type deaf struct {
	vfs.FS
	fails bool
}

func (d *deaf) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	if d.fails && flag&os.O_CREATE != 0 {
		return nil, errDisk
	}
	f, err := d.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &deafFile{f, d, name}, nil
}

type deafFile struct {
	vfs.File
	d    *deaf
	name string
}

func (f *deafFile) WriteAt(b []byte, off int64) (int, error) {
	if f.d.fails && f.name == LockName("m.oxbow") {
		return 0, errDisk
	}
	return f.File.WriteAt(b, off)
}

func (f *deafFile) Sync() error {
	if f.d.fails {
		return errDisk
	}
	return f.File.Sync()
}

// If a log fails and cannot record the failure, it keeps the lock until the lock file is written or the log is closed.
// Otherwise other processes would append after records that may be lost.
func TestFailureThatCannotBeNoted(t *testing.T) {
	for name, mend := range map[string]func(t *testing.T, d *deaf, l *Log){
		"the next attempt notes it": func(t *testing.T, d *deaf, l *Log) {
			if err := l.Lock(t.Context()); err != nil {
				t.Fatalf("Lock() of who has it: %v", err)
			}
			if _, err := l.Append(Payload{Type: 1, Body: []byte("no")}); !errors.Is(err, ErrReadOnly) {
				t.Errorf("Append() after a failure = %v, want ErrReadOnly", err)
			}
			if err := l.Unlock(); err != nil {
				t.Fatal(err)
			}
		},
		"Close notes it": func(t *testing.T, d *deaf, l *Log) {
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := vfs.NewMem()
			d := &deaf{FS: m}
			a, b := open(t, d), open(t, m)
			add(t, a, "one")
			if err := a.Lock(t.Context()); err != nil {
				t.Fatal(err)
			}
			d.fails = true
			if _, err := a.Append(Payload{Type: 1, Body: []byte("unknown")}); !errors.Is(err, ErrUnknownDurability) {
				t.Fatalf("Append() that cannot be synced = %v, want ErrUnknown", err)
			}
			if err := a.Unlock(); err != nil {
				t.Fatal(err)
			}
			var busy *BusyError
			for range 2 {
				if err := b.Lock(t.Context()); !errors.As(err, &busy) {
					t.Fatalf("Lock() of another = %v, want BusyError", err)
				}
			}
			d.fails = false
			mend(t, d, a)
			before, err := m.Stat("m.oxbow")
			if err != nil {
				t.Fatal(err)
			}
			// The other process copies the log to a new file before it appends.
			add(t, b, "two")
			after, err := m.Stat("m.oxbow")
			if err != nil {
				t.Fatal(err)
			}
			if vfs.SameFile(before, after) {
				t.Error("the other went on in a file that was not known to be durable")
			}
			same(t, all(t, open(t, m)), "1 one", "2 unknown", "3 two")
			if n, ok := ReadLockFileContent(m, "m.oxbow"); !ok || n.HasFailedSync {
				t.Errorf("ReadLockMeta() = %+v, %v after it was mended, want nothing unsynced", n, ok)
			}
		})
	}
}
