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

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantErr(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s = %v, want an error matching %v", what, err, want)
	}
}

func create(t *testing.T, fsys vfs.FS, name, content string) vfs.File {
	t.Helper()
	f, err := fsys.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	must(t, err)
	if n, err := f.WriteAt([]byte(content), 0); n != len(content) || err != nil {
		t.Fatalf("WriteAt(%q) = %d, %v, want %d, nil", content, n, err, len(content))
	}
	return f
}

// put makes a file and closes it.
func put(t *testing.T, fsys vfs.FS, name, content string) {
	t.Helper()
	must(t, create(t, fsys, name, content).Close())
}

func wantFile(t *testing.T, fsys vfs.FS, name, want string) {
	t.Helper()
	got, err := vfs.ReadFile(fsys, name, -1)
	if err != nil || string(got) != want {
		t.Errorf("ReadFile(%q) = %q, %v, want %q, nil", name, got, err, want)
	}
}

func wantOpen(t *testing.T, f vfs.File, want string) {
	t.Helper()
	got := make([]byte, len(want)+1)
	n, err := f.ReadAt(got, 0)
	if string(got[:n]) != want || err != io.EOF {
		t.Errorf("ReadAt of the open file = %q, %v, want %q, EOF", got[:n], err, want)
	}
}

func wantList(t *testing.T, fsys vfs.FS, dir string, want ...string) {
	t.Helper()
	entries, err := fsys.ReadDir(dir)
	must(t, err)
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
	f := create(t, fsys, "a", "hello")
	defer f.Close()
	wantOpen(t, f, "hello")
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
	wantOpen(t, f, "hello\x00\x00!")
	if _, err := f.WriteAt(nil, 100); err != nil {
		t.Errorf("WriteAt of nothing: %v", err)
	}
	wantOpen(t, f, "hello\x00\x00!")
	must(t, f.Sync())
	// Another handle sees it at once.
	wantFile(t, fsys, "a", "hello\x00\x00!")
	info, err := f.Stat()
	must(t, err)
	if info.Size() != 8 || info.Name() != "a" || !info.Mode().IsRegular() {
		t.Errorf("Stat = %s, %d, %v, want a, 8, a regular file", info.Name(), info.Size(), info.Mode())
	}
	named, err := fsys.Stat("a")
	must(t, err)
	if !vfs.SameFile(info, named) {
		t.Errorf("the open file and its name are not the same file")
	}
}

func testFlags(t *testing.T, fsys vfs.FS) {
	_, err := fsys.OpenFile("a", os.O_RDWR, 0)
	wantErr(t, "OpenFile of a missing file", err, fs.ErrNotExist)
	put(t, fsys, "a", "abc")
	_, err = fsys.OpenFile("a", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	wantErr(t, "OpenFile with O_EXCL", err, fs.ErrExist)
	_, err = fsys.OpenFile("a", os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_TRUNC, 0o600)
	wantErr(t, "OpenFile with O_EXCL and O_TRUNC", err, fs.ErrExist)
	wantFile(t, fsys, "a", "abc")
	for name, flag := range map[string]int{
		"O_APPEND": os.O_RDWR | os.O_APPEND, "O_SYNC": os.O_RDWR | os.O_SYNC,
		"O_TRUNC of a file only read": os.O_RDONLY | os.O_TRUNC, "O_EXCL alone": os.O_RDWR | os.O_EXCL,
	} {
		_, err = fsys.OpenFile("a", flag, 0o600)
		wantErr(t, "OpenFile with "+name, err, fs.ErrInvalid)
	}
	r, err := fsys.OpenFile("a", os.O_RDONLY, 0)
	must(t, err)
	defer r.Close()
	if _, err := r.WriteAt([]byte("x"), 0); err == nil {
		t.Errorf("WriteAt of a file only read = nil, want an error")
	}
	if err := r.Truncate(0); err == nil {
		t.Errorf("Truncate of a file only read = nil, want an error")
	}
	w, err := fsys.OpenFile("a", os.O_WRONLY|os.O_TRUNC, 0)
	must(t, err)
	defer w.Close()
	if _, err := w.ReadAt(make([]byte, 1), 0); err == nil || err == io.EOF {
		t.Errorf("ReadAt of a file only written = %v, want an error", err)
	}
	wantOpen(t, r, "")
	f, err := fsys.OpenFile("x", os.O_RDWR|os.O_CREATE, 0o640)
	must(t, err)
	defer f.Close()
	if info, err := f.Stat(); err != nil || os.PathSeparator == '/' && info.Mode() != 0o640 {
		t.Errorf("Stat = %v, %v, want permissions 0640", info.Mode(), err)
	}
}

func testTruncate(t *testing.T, fsys vfs.FS) {
	f := create(t, fsys, "a", "abcdef")
	defer f.Close()
	must(t, f.Truncate(2))
	wantOpen(t, f, "ab")
	must(t, f.Truncate(4))
	wantOpen(t, f, "ab\x00\x00")
	// Node takes a negative length for none.
	if err := f.Truncate(-1); err == nil && runtime.GOOS != "js" {
		t.Errorf("Truncate(-1) = nil, want an error")
	}
	g, err := fsys.OpenFile("a", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	must(t, err)
	defer g.Close()
	wantOpen(t, f, "")
}

func testClosedFile(t *testing.T, fsys vfs.FS) {
	f := create(t, fsys, "a", "abc")
	must(t, f.Close())
	_, rerr := f.ReadAt(make([]byte, 1), 0)
	_, werr := f.WriteAt(make([]byte, 1), 0)
	_, serr := f.Stat()
	for what, err := range map[string]error{"ReadAt": rerr, "WriteAt": werr, "Sync": f.Sync(),
		"Truncate": f.Truncate(0), "Close": f.Close(), "Stat": serr} {
		wantErr(t, what+" of a closed file", err, fs.ErrClosed)
	}
	wantFile(t, fsys, "a", "abc")
}

func testNames(t *testing.T, fsys vfs.FS) {
	must(t, fsys.MkdirAll("d", 0o700))
	put(t, fsys, "d/ok", "")
	put(t, fsys, "a", "")
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
			wantErr(t, fmt.Sprintf("%s(%q)", what, bad), err, fs.ErrInvalid)
		}
	}
	for what, err := range map[string]error{
		"Remove": fsys.Remove("."), "RemoveAll": vfs.RemoveAll(fsys, "."),
		"Rename from": fsys.Rename(".", "b"), "Rename to": fsys.Rename("a", "."),
		"WriteFile": vfs.WriteFile(fsys, ".", nil, 0o600),
	} {
		wantErr(t, what+"(.)", err, fs.ErrInvalid)
	}
	for _, dir := range []string{".", "d"} {
		if _, err := fsys.OpenFile(dir, os.O_RDONLY, 0); err == nil {
			t.Errorf("OpenFile(%q) = nil, want an error: it is a directory", dir)
		}
		if _, err := fsys.OpenLock(dir); err == nil {
			t.Errorf("OpenLock(%q) = nil, want an error: it is a directory", dir)
		}
	}
	wantList(t, fsys, ".", "a", "d/")
	wantList(t, fsys, "d", "ok")
}

func testDirectories(t *testing.T, fsys vfs.FS) {
	must(t, fsys.MkdirAll("x/y/z", 0o700))
	must(t, fsys.MkdirAll("x/y", 0o700))
	must(t, fsys.MkdirAll(".", 0o700))
	put(t, fsys, "x/b", "1")
	put(t, fsys, "x/a", "22")
	wantList(t, fsys, ".", "x/")
	wantList(t, fsys, "x", "a", "b", "y/")
	wantList(t, fsys, "x/y/z")
	entries, err := fsys.ReadDir("x")
	must(t, err)
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
	wantErr(t, "ReadDir of a missing directory", err, fs.ErrNotExist)
	_, err = fsys.Stat("none/a")
	wantErr(t, "Stat in a missing directory", err, fs.ErrNotExist)
	_, err = fsys.OpenFile("none/a", os.O_RDWR|os.O_CREATE, 0o600)
	wantErr(t, "OpenFile in a missing directory", err, fs.ErrNotExist)
	_, err = fsys.OpenLock("none/a")
	wantErr(t, "OpenLock in a missing directory", err, fs.ErrNotExist)
	must(t, fsys.SyncDir("."))
	must(t, fsys.SyncDir("x/y/z"))
	wantErr(t, "SyncDir of a missing directory", fsys.SyncDir("none"), fs.ErrNotExist)
	if err := fsys.SyncDir("x/a"); err == nil {
		t.Errorf("SyncDir of a file = nil, want an error")
	}
}

func testRename(t *testing.T, fsys vfs.FS) {
	must(t, fsys.MkdirAll("d/e", 0o700))
	put(t, fsys, "a", "A")
	put(t, fsys, "b", "B")
	must(t, fsys.Rename("a", "b"))
	wantList(t, fsys, ".", "b", "d/")
	wantFile(t, fsys, "b", "A")
	must(t, fsys.Rename("b", "b"))
	must(t, fsys.Rename("b", "d/e/c"))
	wantFile(t, fsys, "d/e/c", "A")
	wantErr(t, "Rename of a missing file", fsys.Rename("b", "c"), fs.ErrNotExist)
	wantErr(t, "Rename into a missing directory", fsys.Rename("d/e/c", "none/c"), fs.ErrNotExist)
	must(t, fsys.Rename("d", "x"))
	wantFile(t, fsys, "x/e/c", "A")
	put(t, fsys, "f", "F")
	wantErr(t, "Rename of a file over a directory", fsys.Rename("f", "x"), fs.ErrExist)
	if err := fsys.Rename("x", "f"); err == nil {
		t.Errorf("Rename of a directory over a file = nil, want an error")
	}
	if err := fsys.Rename("x", "x/e/x"); err == nil {
		t.Errorf("Rename of a directory into itself = nil, want an error")
	}
	must(t, fsys.MkdirAll("empty", 0o700))
	wantErr(t, "Rename over an empty directory", fsys.Rename("x", "empty"), fs.ErrExist)
	wantFile(t, fsys, "x/e/c", "A")
	wantFile(t, fsys, "f", "F")
}

func testRenameOverOpenFile(t *testing.T, fsys vfs.FS) {
	f := create(t, fsys, "a", "old")
	defer f.Close()
	g := create(t, fsys, "b", "new")
	defer g.Close()
	must(t, fsys.Rename("b", "a"))
	wantFile(t, fsys, "a", "new")
	wantOpen(t, f, "old")
	wantOpen(t, g, "new")
	if _, err := f.WriteAt([]byte("OLD!"), 0); err != nil {
		t.Errorf("WriteAt of a replaced file: %v", err)
	}
	must(t, f.Sync())
	wantOpen(t, f, "OLD!")
	wantFile(t, fsys, "a", "new")
	named, err := fsys.Stat("a")
	must(t, err)
	old, err := f.Stat()
	must(t, err)
	moved, err := g.Stat()
	must(t, err)
	if vfs.SameFile(named, old) || !vfs.SameFile(named, moved) {
		t.Errorf("SameFile with the replaced file %v, with the one moved %v, want false, true",
			vfs.SameFile(named, old), vfs.SameFile(named, moved))
	}
}

func testRemoveWhileOpen(t *testing.T, fsys vfs.FS) {
	f := create(t, fsys, "a", "abc")
	defer f.Close()
	must(t, fsys.Remove("a"))
	_, err := fsys.Stat("a")
	wantErr(t, "Stat of a removed file", err, fs.ErrNotExist)
	if _, err := f.WriteAt([]byte("X"), 3); err != nil {
		t.Errorf("WriteAt of a removed file: %v", err)
	}
	wantOpen(t, f, "abcX")
	if info, err := f.Stat(); err != nil || info.Size() != 4 {
		t.Errorf("Stat of a removed file: %v, want 4 bytes", err)
	}
	put(t, fsys, "a", "other")
	wantOpen(t, f, "abcX")
}

func testRemove(t *testing.T, fsys vfs.FS) {
	must(t, fsys.MkdirAll("d/e", 0o700))
	wantErr(t, "Remove of a missing file", fsys.Remove("a"), fs.ErrNotExist)
	if err := fsys.Remove("d"); err == nil {
		t.Errorf("Remove of a directory that is not empty = nil, want an error")
	}
	must(t, fsys.Remove("d/e"))
	must(t, fsys.Remove("d"))
	wantList(t, fsys, ".")
}

func lockOf(t *testing.T, fsys vfs.FS, name string) vfs.Lock {
	t.Helper()
	l, err := fsys.OpenLock(name)
	must(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}

func wantTry(t *testing.T, what string, l vfs.Lock, want bool) {
	t.Helper()
	if got, err := l.TryLock(); got != want || err != nil {
		t.Errorf("TryLock %s = %v, %v, want %v, nil", what, got, err, want)
	}
}

func testLock(t *testing.T, fsys vfs.FS) {
	a, b := lockOf(t, fsys, "lock"), lockOf(t, fsys, "lock")
	wantTry(t, "of a free lock", a, true)
	wantTry(t, "of a lock held by another", b, false)
	wantTry(t, "of a lock held by itself", a, false)
	other := lockOf(t, fsys, "lock2")
	wantTry(t, "of another file", other, true)
	// The bytes of the file stay free, for a text about the holder.
	f, err := fsys.OpenFile("lock", os.O_RDWR, 0)
	must(t, err)
	if _, err := f.WriteAt([]byte("pid 7"), 0); err != nil {
		t.Errorf("WriteAt of a locked file: %v", err)
	}
	must(t, f.Close()) // and closing it does not release the lock
	wantFile(t, fsys, "lock", "pid 7")
	wantTry(t, "after its file was opened and closed", b, false)
	wantErr(t, "Unlock of what is not held", b.Unlock(), fs.ErrInvalid)
	must(t, a.Unlock())
	wantTry(t, "after Unlock", b, true)
	must(t, b.Close())
	must(t, b.Close())
	wantTry(t, "after Close", a, true)
	_, err = b.TryLock()
	wantErr(t, "TryLock after Close", err, fs.ErrClosed)
	wantList(t, fsys, ".", "lock", "lock2")
}

func testLockFileReplaced(t *testing.T, fsys vfs.FS) {
	a, b, c := lockOf(t, fsys, "lock"), lockOf(t, fsys, "lock"), lockOf(t, fsys, "lock")
	must(t, fsys.Remove("lock"))
	wantTry(t, "after the file was removed", a, true)
	if _, err := fsys.Stat("lock"); err != nil {
		t.Errorf("the lock file was not made anew: %v", err)
	}
	wantTry(t, "by one who still has the removed file", b, false)
	put(t, fsys, "new", "")
	must(t, fsys.Rename("new", "lock"))
	// The holder's file is gone: its lock keeps out no caller that opens the name.
	wantTry(t, "after the file was replaced", c, true)
	wantTry(t, "of the new file", b, false)
	must(t, a.Unlock())
	wantTry(t, "after the old file was unlocked", b, false)
	wantTry(t, "by one whose file was replaced", a, false)
	must(t, c.Unlock())
	wantTry(t, "after the new file was unlocked", a, true)
}

// testLockRace lets several take the lock while one removes its file only
// while it holds the lock: never are two inside.
func testLockRace(t *testing.T, fsys vfs.FS) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	inside, entered := 0, 0
	for w := range 4 {
		l := lockOf(t, fsys, "lock")
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
	put(t, fsys, "a", "hello")
	put(t, fsys, "empty", "")
	for _, max := range []int64{-1, 5, 6, 1 << 40} {
		if got, err := vfs.ReadFile(fsys, "a", max); string(got) != "hello" || err != nil {
			t.Errorf("ReadFile(a, %d) = %q, %v, want hello, nil", max, got, err)
		}
	}
	_, err := vfs.ReadFile(fsys, "a", 4)
	wantErr(t, "ReadFile of too long a file", err, vfs.ErrTooLarge)
	if got, err := vfs.ReadFile(fsys, "empty", 0); len(got) != 0 || err != nil {
		t.Errorf("ReadFile(empty) = %q, %v, want nothing, nil", got, err)
	}
	_, err = vfs.ReadFile(fsys, "none", -1)
	wantErr(t, "ReadFile of a missing file", err, fs.ErrNotExist)
}

func testWriteFile(t *testing.T, fsys vfs.FS) {
	must(t, fsys.MkdirAll("d", 0o700))
	must(t, vfs.WriteFile(fsys, "d/a", []byte("one"), 0o600))
	wantFile(t, fsys, "d/a", "one")
	f, err := fsys.OpenFile("d/a", os.O_RDONLY, 0)
	must(t, err)
	defer f.Close()
	must(t, vfs.WriteFile(fsys, "d/a", []byte("second"), 0o600))
	wantFile(t, fsys, "d/a", "second")
	wantOpen(t, f, "one")
	must(t, vfs.WriteFile(fsys, "d/a", nil, 0o600))
	wantFile(t, fsys, "d/a", "")
	wantErr(t, "WriteFile over a directory", vfs.WriteFile(fsys, "d", nil, 0o600), fs.ErrExist)
	wantErr(t, "WriteFile in a missing directory", vfs.WriteFile(fsys, "none/a", nil, 0o600), fs.ErrNotExist)
	wantList(t, fsys, "d", "a")
	wantList(t, fsys, ".", "d/")
}

func testRemoveAll(t *testing.T, fsys vfs.FS) {
	must(t, fsys.MkdirAll("d/e/f", 0o700))
	put(t, fsys, "d/a", "")
	put(t, fsys, "d/e/b", "")
	put(t, fsys, "x", "")
	must(t, vfs.RemoveAll(fsys, "d"))
	must(t, vfs.RemoveAll(fsys, "d"))
	must(t, vfs.RemoveAll(fsys, "none/at/all"))
	wantList(t, fsys, ".", "x")
	must(t, vfs.RemoveAll(fsys, "x"))
	wantList(t, fsys, ".")
}

// testConcurrent is for the race detector, and checks that no write is lost.
func testConcurrent(t *testing.T, fsys vfs.FS) {
	f := create(t, fsys, "a", "")
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
	wantOpen(t, f, strings.Repeat("x", 80))
	wantList(t, fsys, ".", "a", "shared")
}
