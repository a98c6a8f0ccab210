// This file tests names: directories, renames and removals.

package vfstest

import (
	"fmt"
	"io/fs"
	"os"
	"testing"

	"github.com/oxbow-memory/oxbow/vfs"
)

func testFileNames(t *testing.T, fsys vfs.FS) {
	Must(t, fsys.MkdirAll("d", 0o700))
	Put(t, fsys, "d/ok", "")
	Put(t, fsys, "a", "")
	for _, bad := range []string{"", "..", "../a", "d/../../a", "d/../a", "/a", "/etc/passwd", "./a", "a/", "d//ok",
		"a\x00b"} {
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
	info, err := fsys.Stat("x/y")
	Must(t, err)
	if !info.IsDir() || info.Name() != "y" {
		t.Errorf("Stat(x/y) = %v, want a directory y", info)
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
