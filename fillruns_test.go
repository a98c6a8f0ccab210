// This file tests indexes that are built with the help of temporary files. Such an index must be equal to an index that
// was built in memory, and all temporary files must be deleted afterwards.

package oxbow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

// runsFS is an in-memory file system that observes writes to runs, which are temporary files from which an index is
// built. Its function onWrite can make such a write fail.
type runsFS struct {
	*vfs.Mem
	runs atomic.Int64 // files that were made
	// onWrite is called before each write to a run, with the name of the file and its number. If onWrite returns an
	// error, the write fails with this error. onWrite may be nil.
	onWrite func(name string, n int64) error
}

type runsFile struct {
	vfs.File
	of   *runsFS
	name string
	n    int64
}

func isRun(name string) bool {
	return strings.HasPrefix(path.Base(name), indexTestFile+".") && strings.HasSuffix(name, ".tmp")
}

func (r *runsFS) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := r.Mem.OpenFile(name, flag, perm)
	if err == nil && isRun(name) {
		return &runsFile{f, r, name, r.runs.Add(1)}, nil
	}
	return f, err
}

func (f *runsFile) WriteAt(b []byte, at int64) (int, error) {
	if f.of.onWrite != nil {
		if err := f.of.onWrite(f.name, f.n); err != nil {
			return 0, err
		}
	}
	return f.File.WriteAt(b, at)
}

// runsHome returns a home with a store and without an index. The store's content is made at random from seed: runsHome
// applies 300 operations and then forgets 20 entries.
func runsHome(t *testing.T, seed uint64) *indexHome {
	t.Helper()
	h := &indexHome{t, vfs.NewMem()}
	m := h.open(nil)
	r := rand.New(rand.NewPCG(seed, 3))
	for range 3 {
		if err := m.Apply(t.Context(), someOps(r, 100)...); err != nil {
			t.Fatal(err)
		}
	}
	for range 20 {
		if es, _, err := m.Newest(t.Context(), Filter{}, r.IntN(200), 1); err != nil ||
			m.Forget(t.Context(), es[0].Name) != nil {
			t.Fatal(err)
		}
	}
	h.close(m)
	return h
}

func someOps(r *rand.Rand, n int) (ops []Op) {
	for range n {
		add := Add{
			Name:    fmt.Sprint("entry ", r.Uint64()),
			Content: words(r, 12),
			Created: time.Unix(1776162225+r.Int64N(1e6), 0),
		}
		switch r.IntN(20) {
		case 0: // no word finds it
			add.Labels = []Label{{Key: LabelQuarantine, Value: "test"}}
		case 1:
			add.Content += fmt.Sprint(" own", r.Uint64())
		}
		ops = append(ops, add)
	}
	return ops
}

// openRuns opens the store in the file system fs. If the documents in memory need more than room bytes while the index
// is built, a part of the index is written to a temporary file (a run).
func (h *indexHome) openRuns(fs vfs.FS, room int) *Memory {
	h.t.Helper()
	now := time.Unix(1777000000, 0)
	m, err := Open("memory.oxbow", &Options{FS: fs, Clock: func() time.Time {
		return now
	}, maxIndexPartBytes: room, snapshotLeast: 1})
	if err != nil {
		h.t.Fatal(err)
	}
	return m
}

// tidy reports an error for each temporary file with a part of the index (a run) that still exists. The code that
// builds the index must delete these files.
func (h *indexHome) tidy() {
	h.t.Helper()
	for _, name := range h.fs.Names() {
		if isRun(name) {
			h.t.Errorf("%s is left", name)
		}
	}
}

// TestIndexOfRuns tests that the index file always has the same bytes. The memory may build the index completely in
// memory, or, if the memory limit is small, write parts of the index to temporary files (runs) and merge these files.
func TestIndexOfRuns(t *testing.T) {
	made := int64(0)
	for seed := range uint64(6) {
		h := runsHome(t, seed)
		file := func(most int) []byte {
			of := &indexHome{t, h.fs.Clone()}
			fs := &runsFS{Mem: of.fs}
			m := of.openRuns(fs, most)
			if err := m.MakeIndex(t.Context()); err != nil {
				t.Fatal(err)
			}
			if s := m.searcher.Load(); (s.savedIndex != nil) != (fs.runs.Load() > 0) ||
				len(s.indexPartFiles.tempFiles) > 0 {
				t.Errorf("seed %d: after %d files the index is not in one file", seed, fs.runs.Load())
			}
			of.agree(m)
			of.tidy()
			of.close(m)
			of.tidy()
			made = max(made, fs.runs.Load())
			return of.file()
		}
		want := file(1 << 30)
		for _, room := range []int{1, 3000, 20_000, 100_000} {
			if got := file(room); len(want) == 0 || !bytes.Equal(got, want) {
				t.Errorf(
					"seed %d: with %d bytes in memory the index file has %d bytes, want the %d of one filled in memory",
					seed,
					room,
					len(got),
					len(want),
				)
			}
		}
	}
	if made < 100 {
		t.Errorf("at most %d files were made: too few to say something", made)
	}
}

// TestIndexOfRunsAhead tests an index that is built while entries are written to an empty store. If the index is built
// from temporary files with parts of the index (runs), the index file must contain the same bytes as if it is built in
// memory. The temporary files must be deleted.
func TestIndexOfRunsAhead(t *testing.T) {
	file := func(most int) []byte {
		h := &indexHome{t, vfs.NewMem()}
		now := time.Unix(1777000000, 0)
		open := func(most int) *Memory {
			m, err := Open("memory.oxbow", &Options{FS: h.fs, Clock: func() time.Time {
				return now
			}, Rand: strings.NewReader(strings.Repeat("x", 1000)), maxIndexPartBytes: most, snapshotLeast: 1})
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		m := open(most)
		if err := m.MakeIndex(t.Context()); err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(9, 9))
		for range 10 {
			if err := m.Apply(t.Context(), someOps(r, 50)...); err != nil {
				t.Fatal(err)
			}
		}
		if m.pendingChanges.filler == nil {
			t.Fatal("the index is not filled while the store is written to")
		}
		if err := m.MakeIndex(t.Context()); err != nil {
			t.Fatal(err)
		}
		if m.searcher.Load().savedIndex != nil && m.searcher.Load().unsavedAnalysisWork.Load() != 0 {
			t.Error("the index in a file is not the index file")
		}
		h.agree(m)
		h.close(m)
		h.tidy()
		return h.file()
	}
	want := file(1 << 30)
	if got := file(10_000); len(want) == 0 || !bytes.Equal(got, want) {
		t.Errorf("by runs the index file has %d bytes, want the %d of one filled in memory", len(got), len(want))
	}
}

// TestIndexOfRunsOnAFullDisk tests that the index is built correctly if the disk becomes full at any write of temporary
// files with parts of the index (runs). MakeIndex must not return an error, queries must return the right answers, and
// no temporary file may remain.
func TestIndexOfRunsOnAFullDisk(t *testing.T) {
	h := runsHome(t, 1)
	failed := 0
	for left := int64(0); ; left += 1 + left/4 {
		of := &indexHome{t, h.fs.Clone()}
		fs := &runsFS{Mem: of.fs}
		n := left
		fs.onWrite = func(string, int64) error {
			n--
			if n < 0 {
				return errors.New("the disk is full")
			}
			return nil
		}
		m := of.openRuns(fs, 4000)
		if err := m.MakeIndex(t.Context()); err != nil {
			t.Fatalf("after %d writes: %v", left, err)
		}
		of.agree(m)
		of.close(m)
		of.tidy()
		if n >= 0 {
			break
		}
		failed++
	}
	if failed < 5 {
		t.Errorf("%d writes failed, and then all did not: too few to say something", failed)
	}
}

// TestIndexOfRunsOfWhatIsErased tests a redaction by another process while the index is filled or merged. Afterwards no
// file may contain the redacted text, even if the process crashes. A recall must not find the text.
func TestIndexOfRunsOfWhatIsErased(t *testing.T) {
	const word = "xyzzyplugh"
	erased, named := 0, 0
	for at := int64(1); ; at++ {
		h := runsHome(t, 2)
		m := h.open(nil)
		if _, err := m.Remember(t.Context(), Entry{Name: "secret", Content: word + " beta"}); err != nil {
			t.Fatal(err)
		}
		if err := m.Apply(t.Context(), someOps(rand.New(rand.NewPCG(4, 4)), 20)...); err != nil {
			t.Fatal(err)
		}
		h.close(m)
		_ = h.fs.Remove(indexTestFile)
		done := false
		fs := &runsFS{Mem: h.fs}
		fs.onWrite = func(name string, n int64) error {
			if done || n < at {
				if done {
					h.nowhere(word) // no file may contain the word, because the process may crash now
				}
				return nil
			}
			done = true
			if _, err := h.fs.Stat(name); err == nil {
				named++
			}
			other := h.open(nil)
			if _, err := other.Redact(context.Background(), "secret", false); err != nil {
				t.Error(err)
			}
			h.close(other)
			h.nowhere(word)
			return nil
		}
		m = h.openRuns(fs, 20_000)
		if err := m.MakeIndex(t.Context()); err != nil {
			t.Fatal(err)
		}
		if hits := h.recall(m, word); done && len(hits) > 0 {
			t.Errorf("erased at file %d, it is found: %v", at, names(hits))
		}
		h.agree(m)
		h.close(m)
		h.tidy()
		if !done {
			break
		}
		h.nowhere(word)
		erased++
	}
	if erased < 4 || named == 0 {
		t.Errorf("erased in %d files, %d of which have a name: too few to say something", erased, named)
	}
}

// TestIndexOfRunsAfterAKill tests that a process that is killed while it builds the index leaves at most one temporary
// file with a part of the index (a run). The next process that builds the index must delete this file.
func TestIndexOfRunsAfterAKill(t *testing.T) {
	h := runsHome(t, 3)
	fs := &runsFS{Mem: h.fs.Clone()}
	var killed []*vfs.Mem
	fs.onWrite = func(string, int64) error {
		killed = append(killed, fs.Clone())
		return nil
	}
	m := h.openRuns(fs, 10_000)
	if err := m.MakeIndex(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	left := 0
	for _, fs := range killed {
		of := &indexHome{t, fs}
		n := 0
		for _, name := range fs.Names() {
			if isRun(name) {
				n++
			}
		}
		left += n
		if n > 1 {
			t.Errorf("a killed process left %d files", n)
		}
		m := of.openRuns(fs, 1<<30)
		if err := m.MakeIndex(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		of.tidy()
		m = of.open(nil)
		of.agree(m)
		of.close(m)
	}
	if len(killed) < 5 || left == 0 {
		t.Errorf("killed %d times, %d files were left: too few to say something", len(killed), left)
	}
}

// TestIndexOfRunsBesideAWriter tests MakeIndex while another process holds the lock. The index must then be in a file
// without a name, so that the index file does not exist. The index file must be written when the memory is closed,
// after the lock was released.
func TestIndexOfRunsBesideAWriter(t *testing.T) {
	h := runsHome(t, 5)
	l, err := h.fs.OpenLock("memory.oxbow.lock")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := l.TryLock(); !got || err != nil {
		t.Fatal(got, err)
	}
	m := h.openRuns(h.fs, 5000)
	if err := m.MakeIndex(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := m.searcher.Load(); s.savedIndex == nil || len(h.file()) > 0 || countIndexed(m) == 0 {
		t.Error("the index is not in a file without a name")
	}
	h.tidy()
	h.agree(m)
	if err := errors.Join(l.Unlock(), l.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Remember(t.Context(), Entry{Name: "later", Content: "alpha beta"}); err != nil {
		t.Fatal(err)
	}
	h.agree(m)
	h.close(m)
	h.tidy()
	m = h.open(nil)
	h.recall(m, "alpha")
	if countIndexed(m) > 0 {
		t.Error("the index file was not written")
	}
	h.agree(m)
	h.close(m)
}

// TestIndexOfRunsOnlyRead tests that a read-only memory writes no temporary files (runs) when it builds its index.
func TestIndexOfRunsOnlyRead(t *testing.T) {
	h := runsHome(t, 6)
	fs := &runsFS{Mem: h.fs}
	m, err := Open("memory.oxbow", &Options{FS: fs, ReadOnly: true, maxIndexPartBytes: 1})
	if err != nil {
		t.Fatal(err)
	}
	h.recall(m, "alpha")
	if err := m.MakeIndex(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.agree(m)
	h.close(m)
	if fs.runs.Load() > 0 {
		t.Errorf("%d files were made", fs.runs.Load())
	}
}
