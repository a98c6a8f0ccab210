// This file tests that text that was erased, dropped by a compaction, or removed does not stay in the index file.

package oxbow

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

// TestIndexAfterCompaction tests that the hits are right after a compaction. A compaction keeps the hash chain of the
// log, which the index file is compared with. The index file remains usable only if the compaction keeps enough
// history.
func TestIndexAfterCompaction(t *testing.T) {
	for _, days := range []int{0, 1 << 14} {
		h := newIndexHome(t, 300)
		m := h.open(nil)
		for i := range 30 {
			if _, err := m.Remember(
				t.Context(),
				Entry{Name: fmt.Sprint("entry ", i), Content: "after w7"},
			); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := m.Store().(Compactor).Compact(
			t.Context(),
			time.Unix(1776200000, 0).AddDate(0, 0, days-1),
			false,
		); err != nil {
			t.Fatal(err)
		}
		h.agree(m)
		h.close(m)
		m = h.open(nil)
		h.agree(m)
		h.close(m)
	}
}

// TestIndexOfWhatIsDropped tests that the index file does not contain the text of a forgotten entry after a compaction
// has dropped the entry.
func TestIndexOfWhatIsDropped(t *testing.T) {
	h := newIndexHome(t, 300)
	m := h.open(nil)
	if _, err := m.Remember(t.Context(), Entry{Name: "old", Content: "xyzzyplugh beta"}); err != nil {
		t.Fatal(err)
	}
	if err := h.fs.Remove(indexTestFile); err != nil {
		t.Fatal(err)
	}
	h.recall(m, "alpha")
	h.close(m)
	m = h.open(nil)
	if err := m.Forget(t.Context(), "old"); err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(h.file(), []byte("xyzzyplugh")) {
		t.Fatal("the index file does not hold the word, so the test shows nothing")
	}
	before := time.Unix(1776300000, 0) // later than all changes
	if _, err := m.Store().(Compactor).Compact(t.Context(), before, true); err != nil {
		t.Fatal(err)
	}
	if len(h.file()) == 0 {
		t.Error("a dry run removed the index file")
	}
	if _, err := m.Store().(Compactor).Compact(t.Context(), before, false); err != nil {
		t.Fatal(err)
	}
	h.nowhere("xyzzyplugh")
	h.agree(m)
	h.close(m)
	h.nowhere("xyzzyplugh")
}

// TestIndexOfWhatIsErased tests that the index file and its temporary files do not contain an erased entry. A reader
// that has opened the index file from before the erasure must not find the entry either.
func TestIndexOfWhatIsErased(t *testing.T) {
	h := newIndexHome(t, 300)
	m := h.open(nil)
	if _, err := m.Remember(t.Context(), Entry{Name: "secret", Content: "xyzzyplugh beta"}); err != nil {
		t.Fatal(err)
	}
	if err := h.fs.Remove(indexTestFile); err != nil {
		t.Fatal(err)
	}
	h.recall(m, "alpha")
	h.close(m)
	if !bytes.Contains(h.file(), []byte("xyzzyplugh")) {
		t.Fatal("the index file does not hold the word, so the test shows nothing")
	}
	if err := vfs.WriteFile(h.fs, indexTestFile+".0000000000000001.tmp", h.file(), 0o600); err != nil {
		t.Fatal(err)
	}
	reader := h.open(&Options{ReadOnly: true, KeepIndex: true})
	h.recall(reader, "alpha")
	late := h.open(&Options{ReadOnly: true, KeepIndex: true})
	h.recall(late, "alpha")

	m = h.open(nil)
	if _, err := m.Redact(t.Context(), "secret", true); err != nil {
		t.Fatal(err)
	}
	if len(h.file()) == 0 {
		t.Error("a dry run removed the index file")
	}
	if _, err := m.Redact(t.Context(), "secret", false); err != nil {
		t.Fatal(err)
	}
	h.nowhere("xyzzyplugh")
	if hits := h.recall(reader, "xyzzyplugh"); len(hits) > 0 {
		t.Errorf("an opened memory still finds %v", names(hits))
	}
	h.agree(reader)
	h.close(m)
	h.close(reader)
	h.close(late)
	h.nowhere("xyzzyplugh")
	m = h.open(nil)
	h.agree(m)
	h.close(m)
}

// nowhere reports an error for each file that contains the word.
func (h *indexHome) nowhere(word string) {
	h.t.Helper()
	es, err := h.fs.ReadDir(".")
	if err != nil {
		h.t.Fatal(err)
	}
	for _, e := range es {
		if b, err := vfs.ReadFile(h.fs, e.Name(), -1); err == nil && bytes.Contains(b, []byte(word)) {
			h.t.Errorf("%s still holds %q", e.Name(), word)
		}
	}
}

// TestIndexThatGoes tests that queries still return the right answers if the index file is truncated while it is in
// use. All 300 entries are then indexed anew.
func TestIndexThatGoes(t *testing.T) {
	h := newIndexHome(t, 300)
	m := h.open(nil)
	h.recall(m, "alpha")
	f, err := h.fs.OpenFile(indexTestFile, 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(0), f.Close()); err != nil {
		t.Fatal(err)
	}
	h.agree(m)
	if n := countIndexed(m); n != 300 {
		t.Errorf("%d entries were indexed anew, want all 300", n)
	}
	h.close(m)
}

// TestRedactedUnderAnIndex tests a memory that has read the whole log and no snapshot. After another process has
// redacted an entry, the memory must not find this entry.
func TestRedactedUnderAnIndex(t *testing.T) {
	h := newIndexHome(t, 20)
	m := h.open(nil)
	if err := h.fs.Remove("memory.oxbow.snap"); err != nil {
		t.Fatal(err)
	}
	other := h.open(nil)
	if _, err := m.Remember(t.Context(), Entry{Name: "secret", Content: "xyzzyplugh beta"}); err != nil {
		t.Fatal(err)
	}
	if hits := h.recall(other, "xyzzyplugh"); len(hits) != 1 || isFromSnapshot(other) {
		t.Fatalf("the other finds %v", names(hits))
	}
	if _, err := m.Redact(t.Context(), "secret", false); err != nil {
		t.Fatal(err)
	}
	if hits := h.recall(other, "xyzzyplugh"); len(hits) > 0 {
		t.Errorf("an opened memory still finds %v", names(hits))
	}
	h.close(m)
	h.close(other)
}
