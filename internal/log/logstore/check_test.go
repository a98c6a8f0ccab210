// This file tests checks of a store while other processes write to it.

package logstore

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/store"
	"github.com/oxbow-memory/oxbow/vfs"
)

// TestCheckBesideWriters tests that a sound store is reported as sound while others write, redact and compact without
// a pause.
func TestCheckBesideWriters(t *testing.T) {
	disk, err := vfs.Dir(t.TempDir()) // Use a file system with file times.
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	open := func() *DB {
		return compactHome(t, disk, Options{MinSnapshotOps: 1, LockWait: time.Minute})
	}
	first := open()
	if err := remember(t.Context(), first, store.Entry{Name: "first", Content: "text"}); err != nil {
		t.Fatal(err)
	}
	checkAndCloseStore(t, first)
	done := make(chan struct{})
	var wg sync.WaitGroup
	// Each step opens and closes the store like a command. This writes a commit mark and a snapshot.
	repeat := func(step func(d *DB, i int) error) {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				d := open()
				if err := errors.Join(step(d, i), d.Close()); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	repeat(func(d *DB, i int) error {
		return remember(
			t.Context(),
			d,
			store.Entry{Name: fmt.Sprint("entry ", i%50), Content: fmt.Sprint("version ", i)},
		)
	})
	repeat(func(d *DB, i int) error {
		name := fmt.Sprint("secret ", i)
		if err := remember(t.Context(), d, store.Entry{Name: name, Content: "text"}); err != nil {
			return err
		}
		_, err := d.Redact(t.Context(), name, false)
		return err
	})
	repeat(func(d *DB, _ int) error {
		_, err := d.Compact(t.Context(), time.Now().Add(time.Hour), false)
		return err
	})
	for range 100 {
		d := compactHome(t, disk, Options{ReadOnly: true, LockWait: time.Minute})
		rep, err := d.Check(t.Context())
		if err != nil || len(rep.Problems) > 0 {
			t.Errorf("Check() beside writers = %+v, %v", rep.Problems, err)
			break
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	close(done)
	wg.Wait()
	checkAndCloseStore(t, open())
}

// TestCheckOfDamageUnderALock tests that damage is reported even if a stopped process holds the lock of the store and
// nobody can write.
func TestCheckOfDamageUnderALock(t *testing.T) {
	disk := vfs.NewMem()
	d := openTest(t, disk, "memory.oxbow", Options{})
	for i := range 5 {
		if err := remember(t.Context(), d, store.Entry{Name: fmt.Sprint("entry ", i), Content: "text"}); err != nil {
			t.Fatal(err)
		}
	}
	checkAndCloseStore(t, d)
	b, err := vfs.ReadFile(disk, "memory.oxbow", -1)
	if err != nil {
		t.Fatal(err)
	}
	b[200] ^= 1
	if err := disk.Put("memory.oxbow", b, 0o600, time.Time{}); err != nil {
		t.Fatal(err)
	}
	lock, err := disk.OpenLock("memory.oxbow.lock")
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := lock.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	defer lock.Close()
	if _, err := Open(
		"memory.oxbow",
		Options{FS: disk, Clock: time.Now, LockWait: time.Millisecond},
	); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("Open of a damaged store = %v", err)
	}
	b[200] ^= 1
	if err := disk.Put("memory.oxbow", b, 0o600, time.Time{}); err != nil {
		t.Fatal(err)
	}
	d = openTest(t, disk, "memory.oxbow", Options{LockWait: time.Millisecond})
	b[200] ^= 1
	if err := disk.Put("memory.oxbow", b, 0o600, time.Time{}); err != nil {
		t.Fatal(err)
	}
	rep, err := d.Check(t.Context())
	if err != nil || !rep.Damaged || len(rep.Problems) != 1 {
		t.Errorf("Check() of a damaged store = %+v, %v", rep, err)
	}
	b[200] ^= 1
	if err := errors.Join(disk.Put("memory.oxbow", b, 0o600, time.Time{}), lock.Close()); err != nil {
		t.Fatal(err)
	}
	checkAndCloseStore(t, openTest(t, disk, "memory.oxbow", Options{}))
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}
