// Package vfstest is the contract of a file system, as tests that every
// implementation of [vfs.FS] passes.
package vfstest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/oxbow-memory/oxbow/vfs"
)

// Run runs the contract on the file systems that open returns: each test has a
// new one, which is empty.
func Run(t *testing.T, open func(t *testing.T) vfs.FS) {
	for _, tt := range []struct {
		name string
		run  func(t *testing.T, fsys vfs.FS)
	}{
		{"ReadWrite", testReadWrite}, {"Flags", testFlags}, {"Truncate", testTruncate},
		{"ClosedFile", testClosedFile}, {"Names", testNames}, {"Directories", testDirectories},
		{"Rename", testRename}, {"RenameOverOpenFile", testRenameOverOpenFile},
		{"RemoveWhileOpen", testRemoveWhileOpen}, {"Remove", testRemove},
		{"Lock", testLock}, {"LockFileReplaced", testLockFileReplaced}, {"LockRace", testLockRace},
		{"ReadFile", testReadFile}, {"WriteFile", testWriteFile}, {"RemoveAll", testRemoveAll},
		{"Concurrent", testConcurrent},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, open(t)) })
	}
}

// Must ends the test when there is an error.
func Must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// WantErr checks that the error matches the one that is wanted.
func WantErr(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s = %v, want an error matching %v", what, err, want)
	}
}

// Create makes a file, which must not be there, with that content, and returns it
// open.
func Create(t *testing.T, fsys vfs.FS, name, content string) vfs.File {
	t.Helper()
	f, err := fsys.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	Must(t, err)
	if n, err := f.WriteAt([]byte(content), 0); n != len(content) || err != nil {
		t.Fatalf("WriteAt(%q) = %d, %v, want %d, nil", content, n, err, len(content))
	}
	return f
}

// Put makes a file as [Create] does, and closes it.
func Put(t *testing.T, fsys vfs.FS, name, content string) {
	t.Helper()
	Must(t, Create(t, fsys, name, content).Close())
}

// WantFile checks the content of the file of that name.
func WantFile(t *testing.T, fsys vfs.FS, name, want string) {
	t.Helper()
	got, err := vfs.ReadFile(fsys, name, -1)
	if err != nil || string(got) != want {
		t.Errorf("ReadFile(%q) = %q, %v, want %q, nil", name, got, err, want)
	}
}

// WantOpen checks the content of an open file.
func WantOpen(t *testing.T, f vfs.File, want string) {
	t.Helper()
	got := make([]byte, len(want)+1)
	n, err := f.ReadAt(got, 0)
	if string(got[:n]) != want || err != io.EOF {
		t.Errorf("ReadAt of the open file = %q, %v, want %q, EOF", got[:n], err, want)
	}
}

// WantList checks the names in a directory; those of directories end in a slash.
func WantList(t *testing.T, fsys vfs.FS, dir string, want ...string) {
	t.Helper()
	entries, err := fsys.ReadDir(dir)
	Must(t, err)
	var got []string
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() {
			name += "/"
		}
		got = append(got, name)
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("ReadDir(%q) = %v, want %v", dir, got, want)
	}
}

func testReadWrite(t *testing.T, fsys vfs.FS) {
	f := Create(t, fsys, "a", "hello")
	defer f.Close()
	WantOpen(t, f, "hello")
	p := make([]byte, 3)
	if n, err := f.ReadAt(p, 2); n != 3 || err != nil && err != io.EOF || string(p) != "llo" {
		t.Errorf("ReadAt(2) = %d, %v, %q, want 3, nil, llo", n, err, p)
	}
	if n, err := f.ReadAt(p, 5); n != 0 || err != io.EOF {
		t.Errorf("ReadAt at the end = %d, %v, want 0, EOF", n, err)
	}
	if n, err := f.ReadAt(p, 500); n != 0 || err != io.EOF {
		t.Errorf("ReadAt behind the end = %d, %v, want 0, EOF", n, err)
	}
	if _, err := f.ReadAt(p, -1); err == nil {
		t.Errorf("ReadAt(-1) = nil, want an error")
	}
	if _, err := f.WriteAt(p, -1); err == nil {
		t.Errorf("WriteAt(-1) = nil, want an error")
	}
	if _, err := f.WriteAt([]byte("!"), 7); err != nil {
		t.Errorf("WriteAt behind the end: %v", err)
	}
	WantOpen(t, f, "hello\x00\x00!")
	if _, err := f.WriteAt(nil, 100); err != nil {
		t.Errorf("WriteAt of nothing: %v", err)
	}
	WantOpen(t, f, "hello\x00\x00!")
	Must(t, f.Sync())
	// Another handle sees it at once.
	WantFile(t, fsys, "a", "hello\x00\x00!")
	info, err := f.Stat()
	Must(t, err)
	if info.Size() != 8 || info.Name() != "a" || !info.Mode().IsRegular() {
		t.Errorf("Stat = %s, %d, %v, want a, 8, a regular file", info.Name(), info.Size(), info.Mode())
	}
	named, err := fsys.Stat("a")
	Must(t, err)
	if !vfs.SameFile(info, named) {
		t.Errorf("the open file and its name are not the same file")
	}
}

func testFlags(t *testing.T, fsys vfs.FS) {
	_, err := fsys.OpenFile("a", os.O_RDWR, 0)
	WantErr(t, "OpenFile of a missing file", err, fs.ErrNotExist)
	Put(t, fsys, "a", "abc")
	_, err = fsys.OpenFile("a", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	WantErr(t, "OpenFile with O_EXCL", err, fs.ErrExist)
	_, err = fsys.OpenFile("a", os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_TRUNC, 0o600)
	WantErr(t, "OpenFile with O_EXCL and O_TRUNC", err, fs.ErrExist)
	WantFile(t, fsys, "a", "abc")
	for name, flag := range map[string]int{
		"O_APPEND": os.O_RDWR | os.O_APPEND, "O_SYNC": os.O_RDWR | os.O_SYNC,
		"O_TRUNC of a file only read": os.O_RDONLY | os.O_TRUNC, "O_EXCL alone": os.O_RDWR | os.O_EXCL,
	} {
		_, err = fsys.OpenFile("a", flag, 0o600)
		WantErr(t, "OpenFile with "+name, err, fs.ErrInvalid)
	}
	r, err := fsys.OpenFile("a", os.O_RDONLY, 0)
	Must(t, err)
	defer r.Close()
	if _, err := r.WriteAt([]byte("x"), 0); err == nil {
		t.Errorf("WriteAt of a file only read = nil, want an error")
	}
	if err := r.Truncate(0); err == nil {
		t.Errorf("Truncate of a file only read = nil, want an error")
	}
	w, err := fsys.OpenFile("a", os.O_WRONLY|os.O_TRUNC, 0)
	Must(t, err)
	defer w.Close()
	if _, err := w.ReadAt(make([]byte, 1), 0); err == nil || err == io.EOF {
		t.Errorf("ReadAt of a file only written = %v, want an error", err)
	}
	WantOpen(t, r, "")
	f, err := fsys.OpenFile("x", os.O_RDWR|os.O_CREATE, 0o640)
	Must(t, err)
	defer f.Close()
	if info, err := f.Stat(); err != nil || os.PathSeparator == '/' && info.Mode() != 0o640 {
		t.Errorf("Stat = %v, %v, want permissions 0640", info.Mode(), err)
	}
}

func testTruncate(t *testing.T, fsys vfs.FS) {
	f := Create(t, fsys, "a", "abcdef")
	defer f.Close()
	Must(t, f.Truncate(2))
	WantOpen(t, f, "ab")
	Must(t, f.Truncate(4))
	WantOpen(t, f, "ab\x00\x00")
	// Node takes a negative length for none.
	if err := f.Truncate(-1); err == nil && runtime.GOOS != "js" {
		t.Errorf("Truncate(-1) = nil, want an error")
	}
	g, err := fsys.OpenFile("a", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	Must(t, err)
	defer g.Close()
	WantOpen(t, f, "")
}

func testClosedFile(t *testing.T, fsys vfs.FS) {
	f := Create(t, fsys, "a", "abc")
	Must(t, f.Close())
	_, rerr := f.ReadAt(make([]byte, 1), 0)
	_, werr := f.WriteAt(make([]byte, 1), 0)
	_, serr := f.Stat()
	for what, err := range map[string]error{"ReadAt": rerr, "WriteAt": werr, "Sync": f.Sync(),
		"Truncate": f.Truncate(0), "Close": f.Close(), "Stat": serr} {
		WantErr(t, what+" of a closed file", err, fs.ErrClosed)
	}
	WantFile(t, fsys, "a", "abc")
}

func testNames(t *testing.T, fsys vfs.FS) {
	Must(t, fsys.MkdirAll("d", 0o700))
	Put(t, fsys, "d/ok", "")
	Put(t, fsys, "a", "")
	for _, bad := range []string{"", "..", "../a", "d/../../a", "d/../a", "/a", "/etc/passwd", "./a", "a/", "d//ok", "a\x00b"} {
		_, openErr := fsys.OpenFile(bad, os.O_RDWR|os.O_CREATE, 0o600)
		_, statErr := fsys.Stat(bad)
		_, dirErr := fsys.ReadDir(bad)
		_, lockErr := fsys.OpenLock(bad)
		for what, err := range map[string]error{
			"OpenFile": openErr, "Stat": statErr, "ReadDir": dirErr, "OpenLock": lockErr,
			"MkdirAll": fsys.MkdirAll(bad, 0o700), "Remove": fsys.Remove(bad), "SyncDir": fsys.SyncDir(bad),
			"Rename from": fsys.Rename(bad, "b"), "Rename to": fsys.Rename("a", bad),
			"WriteFile": vfs.WriteFile(fsys, bad, nil, 0o600), "RemoveAll": vfs.RemoveAll(fsys, bad),
		} {
			WantErr(t, fmt.Sprintf("%s(%q)", what, bad), err, fs.ErrInvalid)
		}
	}
	for what, err := range map[string]error{
		"Remove": fsys.Remove("."), "RemoveAll": vfs.RemoveAll(fsys, "."),
		"Rename from": fsys.Rename(".", "b"), "Rename to": fsys.Rename("a", "."),
		"WriteFile": vfs.WriteFile(fsys, ".", nil, 0o600),
	} {
		WantErr(t, what+"(.)", err, fs.ErrInvalid)
	}
	for _, dir := range []string{".", "d"} {
		if _, err := fsys.OpenFile(dir, os.O_RDONLY, 0); err == nil {
			t.Errorf("OpenFile(%q) = nil, want an error: it is a directory", dir)
		}
		if _, err := fsys.OpenLock(dir); err == nil {
			t.Errorf("OpenLock(%q) = nil, want an error: it is a directory", dir)
		}
	}
	WantList(t, fsys, ".", "a", "d/")
	WantList(t, fsys, "d", "ok")
}

func testDirectories(t *testing.T, fsys vfs.FS) {
	Must(t, fsys.MkdirAll("x/y/z", 0o700))
	Must(t, fsys.MkdirAll("x/y", 0o700))
	Must(t, fsys.MkdirAll(".", 0o700))
	Put(t, fsys, "x/b", "1")
	Put(t, fsys, "x/a", "22")
	WantList(t, fsys, ".", "x/")
	WantList(t, fsys, "x", "a", "b", "y/")
	WantList(t, fsys, "x/y/z")
	entries, err := fsys.ReadDir("x")
	Must(t, err)
	if info, err := entries[0].Info(); err != nil || info.Size() != 2 {
		t.Errorf("Info of x/a = %v, %v, want 2 bytes", info, err)
	}
	if info, err := fsys.Stat("x/y"); err != nil || !info.IsDir() || info.Name() != "y" {
		t.Errorf("Stat(x/y) = %v, %v, want a directory y", info, err)
	}
	if info, err := fsys.Stat("."); err != nil || !info.IsDir() {
		t.Errorf("Stat(.) = %v, %v, want a directory", info, err)
	}
	if err := fsys.MkdirAll("x/a", 0o700); err == nil {
		t.Errorf("MkdirAll over a file = nil, want an error")
	}
	if err := fsys.MkdirAll("x/a/b", 0o700); err == nil {
		t.Errorf("MkdirAll below a file = nil, want an error")
	}
	if _, err := fsys.ReadDir("x/a"); err == nil {
		t.Errorf("ReadDir of a file = nil, want an error")
	}
	_, err = fsys.ReadDir("none")
	WantErr(t, "ReadDir of a missing directory", err, fs.ErrNotExist)
	_, err = fsys.Stat("none/a")
	WantErr(t, "Stat in a missing directory", err, fs.ErrNotExist)
	_, err = fsys.OpenFile("none/a", os.O_RDWR|os.O_CREATE, 0o600)
	WantErr(t, "OpenFile in a missing directory", err, fs.ErrNotExist)
	_, err = fsys.OpenLock("none/a")
	WantErr(t, "OpenLock in a missing directory", err, fs.ErrNotExist)
	Must(t, fsys.SyncDir("."))
	Must(t, fsys.SyncDir("x/y/z"))
	WantErr(t, "SyncDir of a missing directory", fsys.SyncDir("none"), fs.ErrNotExist)
	if err := fsys.SyncDir("x/a"); err == nil {
		t.Errorf("SyncDir of a file = nil, want an error")
	}
}

func testRename(t *testing.T, fsys vfs.FS) {
	Must(t, fsys.MkdirAll("d/e", 0o700))
	Put(t, fsys, "a", "A")
	Put(t, fsys, "b", "B")
	Must(t, fsys.Rename("a", "b"))
	WantList(t, fsys, ".", "b", "d/")
	WantFile(t, fsys, "b", "A")
	Must(t, fsys.Rename("b", "b"))
	Must(t, fsys.Rename("b", "d/e/c"))
	WantFile(t, fsys, "d/e/c", "A")
	WantErr(t, "Rename of a missing file", fsys.Rename("b", "c"), fs.ErrNotExist)
	WantErr(t, "Rename into a missing directory", fsys.Rename("d/e/c", "none/c"), fs.ErrNotExist)
	Must(t, fsys.Rename("d", "x"))
	WantFile(t, fsys, "x/e/c", "A")
	Put(t, fsys, "f", "F")
	WantErr(t, "Rename of a file over a directory", fsys.Rename("f", "x"), fs.ErrExist)
	if err := fsys.Rename("x", "f"); err == nil {
		t.Errorf("Rename of a directory over a file = nil, want an error")
	}
	if err := fsys.Rename("x", "x/e/x"); err == nil {
		t.Errorf("Rename of a directory into itself = nil, want an error")
	}
	Must(t, fsys.MkdirAll("empty", 0o700))
	WantErr(t, "Rename over an empty directory", fsys.Rename("x", "empty"), fs.ErrExist)
	WantFile(t, fsys, "x/e/c", "A")
	WantFile(t, fsys, "f", "F")
}

func testRenameOverOpenFile(t *testing.T, fsys vfs.FS) {
	f := Create(t, fsys, "a", "old")
	defer f.Close()
	g := Create(t, fsys, "b", "new")
	defer g.Close()
	Must(t, fsys.Rename("b", "a"))
	WantFile(t, fsys, "a", "new")
	WantOpen(t, f, "old")
	WantOpen(t, g, "new")
	if _, err := f.WriteAt([]byte("OLD!"), 0); err != nil {
		t.Errorf("WriteAt of a replaced file: %v", err)
	}
	Must(t, f.Sync())
	WantOpen(t, f, "OLD!")
	WantFile(t, fsys, "a", "new")
	named, err := fsys.Stat("a")
	Must(t, err)
	old, err := f.Stat()
	Must(t, err)
	moved, err := g.Stat()
	Must(t, err)
	if vfs.SameFile(named, old) || !vfs.SameFile(named, moved) {
		t.Errorf("SameFile with the replaced file %v, with the one moved %v, want false, true",
			vfs.SameFile(named, old), vfs.SameFile(named, moved))
	}
}

func testRemoveWhileOpen(t *testing.T, fsys vfs.FS) {
	f := Create(t, fsys, "a", "abc")
	defer f.Close()
	Must(t, fsys.Remove("a"))
	_, err := fsys.Stat("a")
	WantErr(t, "Stat of a removed file", err, fs.ErrNotExist)
	if _, err := f.WriteAt([]byte("X"), 3); err != nil {
		t.Errorf("WriteAt of a removed file: %v", err)
	}
	WantOpen(t, f, "abcX")
	if info, err := f.Stat(); err != nil || info.Size() != 4 {
		t.Errorf("Stat of a removed file: %v, want 4 bytes", err)
	}
	Put(t, fsys, "a", "other")
	WantOpen(t, f, "abcX")
}

func testRemove(t *testing.T, fsys vfs.FS) {
	Must(t, fsys.MkdirAll("d/e", 0o700))
	WantErr(t, "Remove of a missing file", fsys.Remove("a"), fs.ErrNotExist)
	if err := fsys.Remove("d"); err == nil {
		t.Errorf("Remove of a directory that is not empty = nil, want an error")
	}
	Must(t, fsys.Remove("d/e"))
	Must(t, fsys.Remove("d"))
	WantList(t, fsys, ".")
}

// OpenLock opens a lock, which is closed when the test ends.
func OpenLock(t *testing.T, fsys vfs.FS, name string) vfs.Lock {
	t.Helper()
	l, err := fsys.OpenLock(name)
	Must(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}

// WantTryLock checks whether the lock can be had at once.
func WantTryLock(t *testing.T, what string, l vfs.Lock, want bool) {
	t.Helper()
	if got, err := l.TryLock(); got != want || err != nil {
		t.Errorf("TryLock %s = %v, %v, want %v, nil", what, got, err, want)
	}
}

func testLock(t *testing.T, fsys vfs.FS) {
	a, b := OpenLock(t, fsys, "lock"), OpenLock(t, fsys, "lock")
	WantTryLock(t, "of a free lock", a, true)
	WantTryLock(t, "of a lock held by another", b, false)
	WantTryLock(t, "of a lock held by itself", a, false)
	other := OpenLock(t, fsys, "lock2")
	WantTryLock(t, "of another file", other, true)
	// The bytes of the file stay free, for a text about the holder.
	f, err := fsys.OpenFile("lock", os.O_RDWR, 0)
	Must(t, err)
	if _, err := f.WriteAt([]byte("pid 7"), 0); err != nil {
		t.Errorf("WriteAt of a locked file: %v", err)
	}
	Must(t, f.Close()) // and closing it does not release the lock
	WantFile(t, fsys, "lock", "pid 7")
	WantTryLock(t, "after its file was opened and closed", b, false)
	WantErr(t, "Unlock of what is not held", b.Unlock(), fs.ErrInvalid)
	Must(t, a.Unlock())
	WantTryLock(t, "after Unlock", b, true)
	Must(t, b.Close())
	Must(t, b.Close())
	WantTryLock(t, "after Close", a, true)
	_, err = b.TryLock()
	WantErr(t, "TryLock after Close", err, fs.ErrClosed)
	WantList(t, fsys, ".", "lock", "lock2")
}

func testLockFileReplaced(t *testing.T, fsys vfs.FS) {
	a, b, c := OpenLock(t, fsys, "lock"), OpenLock(t, fsys, "lock"), OpenLock(t, fsys, "lock")
	Must(t, fsys.Remove("lock"))
	WantTryLock(t, "after the file was removed", a, true)
	if _, err := fsys.Stat("lock"); err != nil {
		t.Errorf("the lock file was not made anew: %v", err)
	}
	WantTryLock(t, "by one who still has the removed file", b, false)
	Put(t, fsys, "new", "")
	Must(t, fsys.Rename("new", "lock"))
	// The holder's file is gone: its lock keeps out no caller that opens the name.
	WantTryLock(t, "after the file was replaced", c, true)
	WantTryLock(t, "of the new file", b, false)
	Must(t, a.Unlock())
	WantTryLock(t, "after the old file was unlocked", b, false)
	WantTryLock(t, "by one whose file was replaced", a, false)
	Must(t, c.Unlock())
	WantTryLock(t, "after the new file was unlocked", a, true)
}

// testLockRace lets several take the lock while one removes its file only
// while it holds the lock: never are two inside.
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

func testReadFile(t *testing.T, fsys vfs.FS) {
	Put(t, fsys, "a", "hello")
	Put(t, fsys, "empty", "")
	for _, max := range []int64{-1, 5, 6, 1 << 40} {
		if got, err := vfs.ReadFile(fsys, "a", max); string(got) != "hello" || err != nil {
			t.Errorf("ReadFile(a, %d) = %q, %v, want hello, nil", max, got, err)
		}
	}
	_, err := vfs.ReadFile(fsys, "a", 4)
	WantErr(t, "ReadFile of too long a file", err, vfs.ErrTooLarge)
	if got, err := vfs.ReadFile(fsys, "empty", 0); len(got) != 0 || err != nil {
		t.Errorf("ReadFile(empty) = %q, %v, want nothing, nil", got, err)
	}
	_, err = vfs.ReadFile(fsys, "none", -1)
	WantErr(t, "ReadFile of a missing file", err, fs.ErrNotExist)
}

func testWriteFile(t *testing.T, fsys vfs.FS) {
	Must(t, fsys.MkdirAll("d", 0o700))
	Must(t, vfs.WriteFile(fsys, "d/a", []byte("one"), 0o600))
	WantFile(t, fsys, "d/a", "one")
	f, err := fsys.OpenFile("d/a", os.O_RDONLY, 0)
	Must(t, err)
	defer f.Close()
	Must(t, vfs.WriteFile(fsys, "d/a", []byte("second"), 0o600))
	WantFile(t, fsys, "d/a", "second")
	WantOpen(t, f, "one")
	Must(t, vfs.WriteFile(fsys, "d/a", nil, 0o600))
	WantFile(t, fsys, "d/a", "")
	WantErr(t, "WriteFile over a directory", vfs.WriteFile(fsys, "d", nil, 0o600), fs.ErrExist)
	WantErr(t, "WriteFile in a missing directory", vfs.WriteFile(fsys, "none/a", nil, 0o600), fs.ErrNotExist)
	WantList(t, fsys, "d", "a")
	WantList(t, fsys, ".", "d/")
}

func testRemoveAll(t *testing.T, fsys vfs.FS) {
	Must(t, fsys.MkdirAll("d/e/f", 0o700))
	Put(t, fsys, "d/a", "")
	Put(t, fsys, "d/e/b", "")
	Put(t, fsys, "x", "")
	Must(t, vfs.RemoveAll(fsys, "d"))
	Must(t, vfs.RemoveAll(fsys, "d"))
	Must(t, vfs.RemoveAll(fsys, "none/at/all"))
	WantList(t, fsys, ".", "x")
	Must(t, vfs.RemoveAll(fsys, "x"))
	WantList(t, fsys, ".")
}

// testConcurrent is for the race detector, and checks that no write is lost.
func testConcurrent(t *testing.T, fsys vfs.FS) {
	f := Create(t, fsys, "a", "")
	defer f.Close()
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 20 {
				if _, err := f.WriteAt([]byte{'x'}, int64(4*i+w)); err != nil {
					t.Errorf("WriteAt: %v", err)
				}
				if err := vfs.WriteFile(fsys, "shared", []byte(strings.Repeat("y", 50)), 0o600); err != nil {
					t.Errorf("WriteFile: %v", err)
				}
				if got, err := vfs.ReadFile(fsys, "shared", -1); len(got) != 50 || err != nil {
					t.Errorf("ReadFile = %d bytes, %v, want 50, nil", len(got), err)
				}
			}
		})
	}
	wg.Wait()
	WantOpen(t, f, strings.Repeat("x", 80))
	WantList(t, fsys, ".", "a", "shared")
}
