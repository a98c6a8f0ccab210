// This file tests checkpoints, which write the index of a memory to the index file. It tests what a checkpoint writes,
// when no checkpoint is due, and which files exist after Close.

package oxbow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/log/logstore"
	"github.com/oxbow-memory/oxbow/test/crashfs"
	"github.com/oxbow-memory/oxbow/vfs"
)

// settleIndex waits for the index file that is being written.
func settleIndex(m *Memory) {
	for m.isIndexSavePlanned.Load() {
		runtime.Gosched()
	}
}

// change replaces some entries of a store.
func (h *indexHome) change(m *Memory, from, to int) {
	h.t.Helper()
	var ops []Op
	for i := from; i < to; i++ {
		ops = append(ops, Update{Name: fmt.Sprint("entry ", i), Content: fmt.Sprint("kestrel changed w", i)})
	}
	if err := m.Apply(h.t.Context(), ops...); err != nil {
		h.t.Fatal(err)
	}
}

func (h *indexHome) checkpoint(m *Memory) {
	h.t.Helper()
	if err := m.Checkpoint(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
}

// TestCloseLeavesALargeStore tests that Close writes neither the index file nor the snapshot of a large store, even if
// many entries have changed. A checkpoint must write both files, so that the next process does not index any entry
// again.
func TestCloseLeavesALargeStore(t *testing.T) {
	h := newIndexHome(t, maxEntriesToSaveAtClose+1000)
	index, snapshot := h.file(), h.snapshot()
	if len(index) == 0 || len(snapshot) == 0 {
		t.Fatal("a checkpoint wrote no files")
	}
	m := h.open(nil)
	h.recall(m, "harbor")
	h.change(m, 0, 3000)
	h.recall(m, "kestrel")
	h.close(m)
	if !bytes.Equal(index, h.file()) || !bytes.Equal(snapshot, h.snapshot()) {
		t.Error("Close wrote a file of a large store")
	}
	m = h.open(nil)
	h.recall(m, "kestrel")
	if n := countIndexed(m); n != 3000 {
		t.Errorf("%d entries are indexed again, want 3000", n)
	}
	h.checkpoint(m)
	h.agree(m)
	h.close(m)
	m = h.open(nil)
	h.agree(m)
	if n := countIndexed(m); n != 0 || snapshotSeq(m) != lastSeq(t, m) {
		t.Errorf("after a checkpoint %d entries are indexed again, and the state rests on change %d", n, snapshotSeq(m))
	}
	h.close(m)
}

// TestCheckpointThatIsNotDue tests when Checkpoint writes the index file. Checkpoint must leave the file alone if only
// few changes are missing in it, if the memory is read-only without KeepIndex, if the context is cancelled, or if
// another process holds the lock for writing.
func TestCheckpointThatIsNotDue(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	for what, try := range map[string]struct {
		o      Options
		ctx    context.Context
		locked bool
		n      int
		want   error
		writes bool
	}{
		"few changes":      {Options{}, t.Context(), false, 10, nil, false},
		"many changes":     {Options{}, t.Context(), false, 300, nil, true},
		"a reader":         {Options{ReadOnly: true}, t.Context(), false, 300, nil, false},
		"a keeping reader": {Options{ReadOnly: true, KeepIndex: true}, t.Context(), false, 300, nil, true},
		"an ended context": {Options{}, ended, false, 300, context.Canceled, false},
		"a busy store":     {Options{}, t.Context(), true, 300, nil, false},
	} {
		h := newIndexHome(t, 600)
		writer := h.open(nil)
		h.change(writer, 0, try.n)
		m := h.open(&try.o)
		h.recall(m, "kestrel")
		before := h.file()
		l, err := h.fs.OpenLock("memory.oxbow.lock")
		if err != nil {
			t.Fatal(err)
		}
		if try.locked {
			if ok, err := l.TryLock(); !ok || err != nil {
				t.Fatal(ok, err)
			}
		}
		if err := m.Checkpoint(try.ctx); !errors.Is(err, try.want) {
			t.Errorf("%s: Checkpoint() = %v, want %v", what, err, try.want)
		}
		if wrote := !bytes.Equal(before, h.file()); wrote != try.writes {
			t.Errorf("%s: the index file is another: %v", what, wrote)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		h.agree(m)
		h.close(m)
		h.close(writer)
	}
}

// TestIndexFileWhileOpen tests that a process that stays open writes the index file if the earlier processes did not
// write it. The process must write the file again when the file lacks many entries. Recall and Apply must work
// meanwhile.
func TestIndexFileWhileOpen(t *testing.T) {
	h := newIndexHome(t, 600)
	m := h.open(&Options{longLivedCallCount: 4})
	h.change(m, 0, 500)
	before := h.file()
	for i := range 4 {
		settleIndex(m)
		if !bytes.Equal(before, h.file()) {
			t.Fatalf("the index file was written before recall %d", i+1)
		}
		h.recall(m, "kestrel")
	}
	settleIndex(m)
	if bytes.Equal(before, h.file()) || countIndexed(m) > 256 {
		t.Fatalf("the index file was not written; %d entries", countIndexed(m))
	}
	written := 0
	for i := range 20 {
		before = h.file()
		var ops []Op
		for j := range 500 {
			ops = append(ops, Add{Name: fmt.Sprintf("new %d %d", i, j), Content: "kestrel lantern"})
		}
		if err := m.Apply(t.Context(), ops...); err != nil {
			t.Fatal(err)
		}
		h.recall(m, "kestrel")
		settleIndex(m)
		if !bytes.Equal(before, h.file()) {
			written++
		}
	}
	if written != 2 {
		t.Errorf("for 10,000 entries the index file was written %d times, want 2", written)
	}
	h.agree(m)
	h.close(m)
	m = h.open(nil)
	h.agree(m)
	h.close(m)
}

// TestIndexFileIsOvertaken tests that another process may erase an entry before saveIndex writes the index file, or
// while saveIndex writes the file. In both cases, saveIndex must fail with ErrDerivedFile, and no file may contain the
// erased text.
func TestIndexFileIsOvertaken(t *testing.T) {
	for _, at := range []string{"before", "while it is written"} {
		h := newIndexHome(t, 300)
		fs := &runsFS{Mem: h.fs}
		m := h.openRuns(fs, 1<<30)
		if err := m.Apply(t.Context(), Add{Name: "a secret", Content: "topsecret"}); err != nil {
			t.Fatal(err)
		}
		h.recall(m, "topsecret")
		f, err := m.freezeIndexForSaving(t.Context(), m.Store().(*logstore.DB))
		if err != nil || f == nil {
			t.Fatal(f, err)
		}
		other, done := h.open(nil), false
		redact := func() {
			done = true
			if _, err := other.Redact(context.Background(), "a secret", false); err != nil {
				t.Errorf("%s: %v", at, err)
			}
		}
		if at == "before" {
			redact()
		} else {
			fs.onWrite = func(string, int64) error {
				if !done {
					redact()
				}
				return nil
			}
		}
		if err := saveIndex(
			t.Context(),
			m.Store().(*logstore.DB),
			&f.immutableIndexState,
		); !errors.Is(err, logstore.ErrDerivedFileNotWritten) || !done {
			t.Errorf("%s: saveIndex after an erasure: %v, done %v", at, err, done)
		}
		h.nowhere("topsecret")
		h.agree(m)
		h.close(m)
		h.close(other)
		h.nowhere("topsecret")
	}
}

// TestCheckpointCrash stops the disk at each operation of a checkpoint in turn. After each crash, a memory that is
// opened on the files that are left must still return the right answers.
func TestCheckpointCrash(t *testing.T) {
	h := newIndexHome(t, 300)
	writer := h.open(nil)
	h.change(writer, 0, 280)
	h.close(writer)
	img, images := h.fs, 0
	for k := 1; ; k++ {
		disk := crashfs.New(img.Clone())
		o := &Options{}
		one := &indexHome{t, img}
		m := one.open(o)
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		o.FS = disk.StartProcess()
		m, err := Open("memory.oxbow", o)
		if err != nil {
			t.Fatal(err)
		}
		h.recall(m, "kestrel")
		before := disk.CountOps()
		disk.StopAt(before + k)
		_ = m.Checkpoint(t.Context()) // the disk stops
		over := disk.CountOps() < before+k
		disk.Stop()
		n := 0
		disk.EachCrashFileSystem(func(left *vfs.Mem, label string) bool {
			n++
			if n > 4 && n%29 != 0 {
				return true
			}
			images++
			after := &indexHome{t, left}
			m := after.open(&Options{ReadOnly: true})
			after.agree(m)
			if err := m.Close(); err != nil {
				t.Fatal(label, err)
			}
			return !t.Failed()
		})
		if over || t.Failed() {
			break
		}
	}
	if images < 20 {
		t.Errorf("%d images", images)
	}
}

// A checkpoint succeeds even if the index file was truncated while the index still reads from it. A later checkpoint
// writes the file again.
func TestCheckpointAfterIndexFileIsTruncated(t *testing.T) {
	for _, c := range []struct {
		what     string
		truncate func(h *indexHome, m *Memory) error
	}{
		{"a compaction", func(h *indexHome, m *Memory) error {
			_, err := m.Compact(h.t.Context(), Compaction{Before: time.Unix(1776300000, 0)})
			return err
		}},
		{"another program", func(h *indexHome, _ *Memory) error {
			f, err := h.fs.OpenFile(indexTestFile, os.O_RDWR, 0)
			if err != nil {
				return err
			}
			return errors.Join(f.Truncate(0), f.Close())
		}},
	} {
		h := newIndexHome(t, 1200)
		m := h.open(nil)
		h.recall(m, "harbor")
		h.change(m, 0, 300)
		s := m.searcher.Load()
		if s.savedIndex == nil {
			t.Fatal("the index does not read from the index file")
		}
		// Load the table of entries into memory, so that the checkpoint fails only when it reads the words.
		s.newView(t.Context(), s.scorer(RankOxbow)).allRows()
		if err := c.truncate(h, m); err != nil {
			t.Fatal(err)
		}
		if n := len(h.file()); n > 0 {
			t.Fatalf("%s left %d bytes of the index file", c.what, n)
		}
		for range 2 {
			if err := m.Checkpoint(t.Context()); err != nil {
				t.Errorf("Checkpoint after %s: %v", c.what, err)
			}
			h.agree(m)
		}
		if len(h.file()) == 0 {
			t.Errorf("no checkpoint wrote the index file after %s", c.what)
		}
		h.close(m)
		m = h.open(nil)
		h.agree(m)
		if n := countIndexed(m); n != 0 {
			t.Errorf("%d entries are indexed again after %s, want 0", n, c.what)
		}
		h.close(m)
	}
}
