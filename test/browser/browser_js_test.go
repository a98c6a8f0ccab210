// This file tests properties of the browser's files that the tests of package vfs do not cover. The tests run in a
// browser. Elsewhere they are skipped, because there is no IndexedDB.

package browser

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
	"syscall/js"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

// openAs opens the file system with this name. It skips the test if there is no browser.
func openAs(t *testing.T, name string, o *Options) *FS {
	t.Helper()
	f, err := Open(t.Context(), name, o)
	if errors.Is(err, vfs.ErrUnsupported) {
		t.Skipf("needs a browser: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Errorf("Close() = %v", err)
		}
	})
	return f
}

func open(t *testing.T) *FS { return openAs(t, strings.ReplaceAll(t.Name(), "/", "-"), nil) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func openFile(t *testing.T, fsys vfs.FS, name string, flag int) vfs.File {
	t.Helper()
	f, err := fsys.OpenFile(name, flag, 0o600)
	must(t, err)
	return f
}

// rows returns how many nodes and chunks the database contains.
func (f *FS) rows(t *testing.T) (nodes, chunks int) {
	t.Helper()
	must(t, f.viewTransaction(func(x *transaction) error {
		n, err := runRequest(x.nodeObjects, "count")
		if err != nil {
			return err
		}
		c, err := runRequest(x.chunkObjects, "count")
		nodes, chunks = n.Int(), c.Int()
		return err
	}))
	return nodes, chunks
}

// TestChunks makes random writes and truncations in a browser's file and in memory. Both files must have the same
// bytes, and the database must contain no empty chunk.
func TestChunks(t *testing.T) {
	fsys, mem := open(t), vfs.NewMem()
	f := openFile(t, fsys, "a", os.O_RDWR|os.O_CREATE)
	defer f.Close()
	m := openFile(t, mem, "a", os.O_RDWR|os.O_CREATE)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	// In three of four calls, the offset is at an edge of a chunk or next to it. Otherwise it is anywhere in a chunk.
	offset := func() int64 {
		return max(0, r.Int64N(5)*chunkSize+[]int64{-1, 0, 1, r.Int64N(chunkSize)}[r.IntN(4)])
	}
	for step := range 80 {
		switch at := offset(); r.IntN(4) {
		case 0, 1:
			p := make([]byte, r.IntN(3*chunkSize))
			for i := range p {
				if r.IntN(4) == 0 || (i < 20 && step%3 > 0) {
					p[i] = byte(r.Uint32())
				}
			}
			if r.IntN(4) == 0 {
				clear(p)
			}
			n, err := f.WriteAt(p, at)
			if n != len(p) || err != nil {
				t.Fatalf("step %d: WriteAt(%d bytes, %d) = %d, %v", step, len(p), at, n, err)
			}
			if _, err := m.WriteAt(p, at); err != nil {
				t.Fatal(err)
			}
		case 2:
			must(t, f.Truncate(at))
			must(t, m.Truncate(at))
		}
		for _, p := range [][]byte{make([]byte, r.IntN(2*chunkSize)), make([]byte, 9*chunkSize)} {
			at, want := offset(), make([]byte, len(p))
			n, err := f.ReadAt(p, at)
			wn, werr := m.ReadAt(want, at)
			if n != wn || err != werr || string(p[:n]) != string(want[:n]) {
				t.Fatalf(
					"step %d: ReadAt(%d bytes, %d) = %d, %v, want %d, %v; the same bytes: %v",
					step,
					len(p),
					at,
					n,
					err,
					wn,
					werr,
					string(p[:n]) == string(want[:n]),
				)
			}
		}
	}
	must(t, f.Truncate(0))
	must(t, f.Truncate(maxFileBytes))
	if _, err := f.WriteAt(make([]byte, 5*chunkSize), 7); err != nil {
		t.Fatal(err)
	}
	if n, c := fsys.rows(t); n != 2 || c != 0 {
		t.Errorf("a file of zeros has %d nodes (with the root) and %d chunks, want 2 and 0", n, c)
	}
	if n, err := f.ReadAt(make([]byte, 10), maxFileBytes-4); n != 4 || err != io.EOF {
		t.Errorf("ReadAt near the end = %d, %v, want 4, EOF", n, err)
	}
	if _, err := f.WriteAt([]byte("x"), maxFileBytes); !errors.Is(err, vfs.ErrTooLarge) {
		t.Errorf("WriteAt behind the longest file = %v, want %v", err, vfs.ErrTooLarge)
	}
	if err := f.Truncate(maxFileBytes + 1); !errors.Is(err, vfs.ErrTooLarge) {
		t.Errorf("Truncate to more than the longest file = %v, want %v", err, vfs.ErrTooLarge)
	}
}

// TestReadMuch tests a read of so many bytes that it sends several requests to the browser.
func TestReadMuch(t *testing.T) {
	fsys := open(t)
	text := []byte(strings.Repeat("0123456789abcdef", (chunksPerRead+3)*chunkSize/16))
	must(t, vfs.WriteFile(fsys, "a", text, 0o600))
	got, err := vfs.ReadFile(fsys, "a", -1)
	if err != nil || string(got) != string(text) {
		t.Errorf("ReadFile = %d bytes, %v, want the %d that were written", len(got), err, len(text))
	}
}

// TestTwoOpenings opens a file system twice. Both openings must behave like two processes: each sees the changes of
// the other, and can still read a file that it has open and that the other has removed.
func TestTwoOpenings(t *testing.T) {
	a, b := open(t), open(t)
	must(t, vfs.WriteFile(a, "f", []byte("old"), 0o600))
	r := openFile(t, b, "f", os.O_RDONLY)
	before, err := r.Stat()
	must(t, err)
	must(t, vfs.WriteFile(a, "f", []byte("new"), 0o600))
	p := make([]byte, 3)
	if _, err := r.ReadAt(p, 0); err != nil || string(p) != "old" {
		t.Errorf("the replaced file holds %q, %v, want old", p, err)
	}
	now, err := b.Stat("f")
	must(t, err)
	if vfs.SameFile(before, now) {
		t.Error("the replaced file and its successor are the same")
	}
	if again, err := a.Stat("f"); err != nil || !vfs.SameFile(now, again) {
		t.Errorf("the same file, seen by two, is not the same: %v", err)
	}
	if n, c := a.rows(t); n != 3 || c != 2 {
		t.Errorf("there are %d nodes and %d chunks while the old file is open, want 3 and 2", n, c)
	}
	must(t, r.Close())
	if n, c := a.rows(t); n != 2 || c != 1 {
		t.Errorf("there are %d nodes and %d chunks after the old file was closed, want 2 and 1", n, c)
	}
	other := openAs(t, t.Name()+"2", nil)
	must(t, vfs.WriteFile(other, "f", []byte("x"), 0o600))
	x, err := other.Stat("f")
	must(t, err)
	if vfs.SameFile(x, now) {
		t.Error("files of two file systems are the same")
	}
}

// TestSweep removes a file while it is open, and then closes the file system, as if the page of the browser had ended.
// The next opening of the file system must delete the bytes of the file.
func TestSweep(t *testing.T) {
	a := open(t)
	f := openFile(t, a, "f", os.O_RDWR|os.O_CREATE)
	if _, err := f.WriteAt([]byte("x"), 0); err != nil {
		t.Fatal(err)
	}
	must(t, a.Remove("f"))
	if n, c := a.rows(t); n != 2 || c != 1 {
		t.Errorf("there are %d nodes and %d chunks while the file is open, want 2 and 1", n, c)
	}
	must(t, a.Close())
	b := open(t)
	if n, c := b.rows(t); n != 1 || c != 0 {
		t.Errorf("there are %d nodes and %d chunks after another opening, want 1 and 0", n, c)
	}
}

// TestLockOfTwoOpenings opens the same file system twice. If one of the two holds a lock, the other must not get it.
// When the first file system is closed, the other must get the lock.
func TestLockOfTwoOpenings(t *testing.T) {
	a, b := open(t), open(t)
	la, err := a.OpenLock("lock")
	must(t, err)
	lb, err := b.OpenLock("lock")
	must(t, err)
	for _, step := range []struct {
		what string
		do   func() (bool, error)
		want bool
	}{
		{"a takes it", la.TryLock, true},
		{"b cannot", lb.TryLock, false},
		{"a goes, and b can", func() (bool, error) { return true, a.Close() }, true},
		{"b takes it", lb.TryLock, true},
	} {
		if got, err := step.do(); got != step.want || err != nil {
			t.Errorf("%s: %v, %v, want %v", step.what, got, err, step.want)
		}
	}
	if _, err := la.TryLock(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("TryLock() after Close() = %v, want %v", err, fs.ErrClosed)
	}
	must(t, lb.Close())
}

func TestClosed(t *testing.T) {
	a := open(t)
	f := openFile(t, a, "f", os.O_RDWR|os.O_CREATE)
	must(t, a.Close())
	must(t, a.Close())
	_, openErr := a.OpenFile("f", os.O_RDONLY, 0)
	_, statErr := a.Stat("f")
	_, writeErr := f.WriteAt([]byte("x"), 0)
	_, lockErr := a.OpenLock("lock")
	for what, err := range map[string]error{"OpenFile": openErr, "Stat": statErr, "WriteAt": writeErr,
		"OpenLock": lockErr,
		"Sync":     f.Sync(), "SyncDir": a.SyncDir("."), "Rename": a.Rename("f", "g"), "Remove": a.Remove("f"),
		"MkdirAll": a.MkdirAll("d", 0o700)} {
		if !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s after Close() = %v, want %v", what, err, fs.ErrClosed)
		}
	}
	must(t, f.Close())
}

// TestTimes tests that each change of a file gets a later time than the previous change, even if the clock stands
// still.
func TestTimes(t *testing.T) {
	day := time.Date(2026, 4, 18, 9, 30, 0, 0, time.UTC)
	fsys := openAs(t, t.Name(), &Options{Clock: func() time.Time { return day }})
	f := openFile(t, fsys, "f", os.O_RDWR|os.O_CREATE)
	defer f.Close()
	last := day.Add(-1)
	for i, change := range []func() error{
		func() error { return nil },
		func() error { _, err := f.WriteAt([]byte("x"), 0); return err },
		func() error { _, err := f.WriteAt([]byte("x"), 0); return err },
		func() error { return f.Truncate(1) },
	} {
		must(t, change())
		info, err := fsys.Stat("f")
		must(t, err)
		if now := info.ModTime(); !now.After(last) {
			t.Errorf("change %d bears the time %v, the one before %v", i, now, last)
		} else {
			last = now
		}
	}
	n := node{modTimeMillis: fsys.nextChangeTime(0)}
	for i := range 10000 {
		before := fsys.newNodeInfo(n, "f").ModTime()
		n.modTimeMillis = fsys.nextChangeTime(n.modTimeMillis)
		if now := fsys.newNodeInfo(n, "f").ModTime(); !now.After(before) {
			t.Fatalf("change %d bears the time %v, the one before %v", i, now, before)
		}
	}
	if d := fsys.newNodeInfo(n, "f").ModTime().Sub(day); d > 11*time.Millisecond {
		t.Errorf("after 10000 changes the time is %v from the clock's, want a microsecond each", d)
	}
}

// TestNames tests that similar names stay different names: names that differ in case, and names that look alike but
// consist of different characters. They must be listed in byte order.
func TestNames(t *testing.T) {
	fsys := open(t)
	names := []string{"A", "a", "e\u0301", "\u00e9", "\uff21", "\U0001f600"} // The names are in byte order.
	for _, n := range names {
		must(t, vfs.WriteFile(fsys, n, []byte(n), 0o600))
	}
	entries, err := fsys.ReadDir(".")
	must(t, err)
	if len(entries) != len(names) {
		t.Fatalf("ReadDir found %d names, want %d", len(entries), len(names))
	}
	for i, n := range names {
		if got, err := vfs.ReadFile(fsys, n, -1); entries[i].Name() != n || string(got) != n || err != nil {
			t.Errorf("name %d is %q and holds %q, %v, want %q", i, entries[i].Name(), got, err, n)
		}
	}
}

// foreign creates a database with this name that another program might have made. It contains no file system.
func foreign(t *testing.T, name string, version int) {
	t.Helper()
	factory := js.Global().Get("indexedDB")
	if !factory.Truthy() {
		t.Skip("needs a browser: there is no IndexedDB here")
	}
	db, err := watchRequest(factory.Call("open", name, version)).waitForAnswer()
	must(t, err)
	db.Call("close")
}

func TestForeign(t *testing.T) {
	foreign(t, "theirs", 1)
	if _, err := Open(t.Context(), "theirs", nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Open of another program's database = %v, want %v", err, fs.ErrExist)
	}
	foreign(t, "newer", 7)
	if _, err := Open(t.Context(), "newer", nil); !errors.Is(err, vfs.ErrUnsupported) ||
		!strings.Contains(err.Error(), "newer") {
		t.Errorf("Open of a newer database = %v, want %v", err, vfs.ErrUnsupported)
	}
	if _, err := Open(t.Context(), "", nil); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("Open without a name = %v, want %v", err, fs.ErrInvalid)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if f, err := Open(ctx, "late", nil); err == nil {
		must(t, f.Close()) // Open may succeed with a canceled context if the browser answers at once.
	} else if !errors.Is(err, context.Canceled) {
		t.Errorf("Open with a context that ended = %v, want %v", err, context.Canceled)
	}
}

// TestVersionChange tests that a newer page can upgrade the database while an older page has it open. Calls of the
// older page then fail with fs.ErrClosed. Closing a lock that the older page holds must still succeed.
func TestVersionChange(t *testing.T) {
	a := open(t)
	l, err := a.OpenLock("lock")
	must(t, err)
	if ok, err := l.TryLock(); !ok || err != nil {
		t.Fatalf("TryLock() = %v, %v", ok, err)
	}
	db, err := watchRequest(js.Global().Get("indexedDB").Call("open", a.Name(), databaseVersion+1)).waitForAnswer()
	must(t, err)
	db.Call("close")
	if _, err := a.Stat("lock"); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Stat() of a database that another page has changed = %v, want %v", err, fs.ErrClosed)
	}
	must(t, l.Close())
}

func TestErrors(t *testing.T) {
	full := browserError(js.ValueOf(map[string]any{"name": "QuotaExceededError", "message": "no room"}))
	if !vfs.IsFull(&fs.PathError{Err: full}) || full.Error() != "QuotaExceededError: no room" {
		t.Errorf("%v is no error of a full disk", full)
	}
	if err := browserError(js.Null()); err != errNoReason {
		t.Errorf("failure(null) = %v, want %v", err, errNoReason)
	}
	if err := browserError(js.ValueOf(map[string]any{"name": "AbortError", "message": 7})); err.Error() != "AbortError" ||
		vfs.IsFull(err) {
		t.Errorf("failure(AbortError) = %v", err)
	}
	if _, err := callMethod(js.Global(), "decodeURIComponent", "%"); err == nil ||
		!strings.Contains(err.Error(), "URIError") {
		t.Errorf("call of what throws = %v, want its error", err)
	}
}
