// This file tests files: reading, writing, truncating, and functions for whole files.

package vfstest

import (
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/oxbow-memory/oxbow/vfs"
)

func testReadWrite(t *testing.T, fsys vfs.FS) {
	f := Create(t, fsys, "a", "hello")
	defer f.Close()
	WantOpen(t, f, "hello")
	p := make([]byte, 3)
	n, err := f.ReadAt(p, 2)
	if n != 3 || string(p) != "llo" {
		t.Errorf("ReadAt(2) = %d, %v, %q, want 3, nil, llo", n, err, p)
	}
	if err != nil && err != io.EOF {
		t.Errorf("ReadAt(2) = %v, want nil or EOF", err)
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
	// The write is visible immediately if the file is opened again.
	WantFile(t, fsys, "a", "hello\x00\x00!")
	info, err := f.Stat()
	Must(t, err)
	if info.Size() != 8 || info.Name() != "a" {
		t.Errorf("Stat = %s, %d, want a, 8", info.Name(), info.Size())
	}
	if !info.Mode().IsRegular() {
		t.Errorf("Stat = %v, want a regular file", info.Mode())
	}
	named, err := fsys.Stat("a")
	Must(t, err)
	if !vfs.SameFile(info, named) {
		t.Errorf("the open file and its name are not the same file")
	}
}

func testOpenFlags(t *testing.T, fsys vfs.FS) {
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
	info, err := f.Stat()
	Must(t, err)
	if os.PathSeparator == '/' && info.Mode() != 0o640 {
		t.Errorf("Stat = %v, want permissions 0640", info.Mode())
	}
}

func testTruncate(t *testing.T, fsys vfs.FS) {
	f := Create(t, fsys, "a", "abcdef")
	defer f.Close()
	Must(t, f.Truncate(2))
	WantOpen(t, f, "ab")
	Must(t, f.Truncate(4))
	WantOpen(t, f, "ab\x00\x00")
	// Do not require an error in a browser or Node.js, because Node.js treats a negative length as 0.
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

// testConcurrentWrites checks that no write is lost. It also lets the race detector find races.
func testConcurrentWrites(t *testing.T, fsys vfs.FS) {
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
