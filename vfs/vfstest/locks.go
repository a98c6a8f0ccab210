// This file tests locks, including the case that a lock file is replaced.

package vfstest

import (
	"io/fs"
	"os"
	"sync"
	"testing"

	"github.com/oxbow-memory/oxbow/vfs"
)

// OpenLock opens a lock, and closes it at the end of the test.
func OpenLock(t *testing.T, fsys vfs.FS, name string) vfs.Lock {
	t.Helper()
	l, err := fsys.OpenLock(name)
	Must(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}

// WantAcquired fails the test if TryLock does not acquire the lock.
func WantAcquired(t *testing.T, description string, l vfs.Lock) {
	t.Helper()
	if got, err := l.TryLock(); !got || err != nil {
		t.Errorf("TryLock %s = %v, %v, want true, nil", description, got, err)
	}
}

// WantNotAcquired fails the test if TryLock acquires the lock or returns an error.
func WantNotAcquired(t *testing.T, description string, l vfs.Lock) {
	t.Helper()
	if got, err := l.TryLock(); got || err != nil {
		t.Errorf("TryLock %s = %v, %v, want false, nil", description, got, err)
	}
}

func testLock(t *testing.T, fsys vfs.FS) {
	a, b := OpenLock(t, fsys, "lock"), OpenLock(t, fsys, "lock")
	WantAcquired(t, "of a free lock", a)
	WantNotAcquired(t, "of a lock held by another", b)
	WantNotAcquired(t, "of a lock held by itself", a)
	other := OpenLock(t, fsys, "lock2")
	WantAcquired(t, "of another file", other)
	// The file can be written while it is locked, for example with a description of the holder.
	f, err := fsys.OpenFile("lock", os.O_RDWR, 0)
	Must(t, err)
	if _, err := f.WriteAt([]byte("pid 7"), 0); err != nil {
		t.Errorf("WriteAt of a locked file: %v", err)
	}
	// A lock belongs to the lock object rather than to the file, so that closing a separately opened file must not
	// release it.
	Must(t, f.Close())
	WantFile(t, fsys, "lock", "pid 7")
	WantNotAcquired(t, "after its file was opened and closed", b)
	WantErr(t, "Unlock of what is not held", b.Unlock(), fs.ErrInvalid)
	Must(t, a.Unlock())
	WantAcquired(t, "after Unlock", b)
	Must(t, b.Close())
	Must(t, b.Close())
	WantAcquired(t, "after Close", a)
	_, err = b.TryLock()
	WantErr(t, "TryLock after Close", err, fs.ErrClosed)
	WantList(t, fsys, ".", "lock", "lock2")
}

func testLockFileReplaced(t *testing.T, fsys vfs.FS) {
	a := OpenLock(t, fsys, "lock")
	b := OpenLock(t, fsys, "lock")
	c := OpenLock(t, fsys, "lock")
	Must(t, fsys.Remove("lock"))
	WantAcquired(t, "after the file was removed", a)
	if _, err := fsys.Stat("lock"); err != nil {
		t.Errorf("the lock file was not made anew: %v", err)
	}
	WantNotAcquired(t, "by one who still has the removed file", b)
	Put(t, fsys, "new", "")
	Must(t, fsys.Rename("new", "lock"))
	// The lock a is still held, but the rename has replaced its file. Another process that opens the name "lock" now
	// gets the new file. Therefore the lock c can be acquired.
	WantAcquired(t, "after the file was replaced", c)
	WantNotAcquired(t, "of the new file", b)
	Must(t, a.Unlock())
	WantNotAcquired(t, "after the old file was unlocked", b)
	WantNotAcquired(t, "by one whose file was replaced", a)
	Must(t, c.Unlock())
	WantAcquired(t, "after the new file was unlocked", a)
}

// testLockRace checks that a lock is exclusive even if its holders remove the lock file. A holder removes the file
// only while it has the lock.
func testLockRace(t *testing.T, fsys vfs.FS) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	inside, entered := 0, 0
	for w := range 4 {
		l := OpenLock(t, fsys, "lock")
		wg.Go(func() {
			for i := 0; i < 50; {
				ok, err := l.TryLock()
				if err != nil {
					t.Errorf("TryLock: %v", err)
					return
				}
				if !ok {
					continue
				}
				i++
				mu.Lock()
				inside++
				entered++
				if inside != 1 {
					t.Errorf("%d are inside", inside)
				}
				inside--
				mu.Unlock()
				if w == 0 && i%10 == 0 {
					if err := fsys.Remove("lock"); err != nil {
						t.Errorf("Remove: %v", err)
					}
				}
				if err := l.Unlock(); err != nil {
					t.Errorf("Unlock: %v", err)
				}
			}
		})
	}
	wg.Wait()
	if entered != 200 {
		t.Errorf("the lock was taken %d times, want 200", entered)
	}
}
