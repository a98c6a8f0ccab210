// This file tests stores that are opened from a snapshot, without reading the log. Such a store must detect a damaged
// file, and must not use the index file of another store.

package oxbow

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

// TestFromSnapshotDamage tests a memory that starts from a snapshot of a store with one damaged record. The memory
// reads each record only when a call needs the record. A call that needs the damaged record must fail with ErrCorrupt,
// and so must all later calls. Calls before that must still return sound entries.
func TestFromSnapshotDamage(t *testing.T) {
	h := newIndexHome(t, 300)
	w := h.open(nil)
	for i := range 300 { // Remember writes a record for each entry.
		if _, err := w.Remember(
			t.Context(),
			Entry{Name: fmt.Sprint("own ", i), Content: fmt.Sprint("kestrel number", i)},
		); err != nil {
			t.Fatal(err)
		}
	}
	h.recall(w, "kestrel")
	h.close(w)
	sound, err := vfs.ReadFile(h.fs, "memory.oxbow", -1)
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(sound)
	at := bytes.Index(damaged, []byte("kestrel number150"))
	damaged[at+3] ^= 4
	put := func(b []byte) {
		t.Helper()
		if err := h.fs.Put("memory.oxbow", b, 0o600, time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
	}
	put(damaged)
	m := h.fromSnapshot()
	if hits, err := m.Recall(t.Context(), Query{Text: "number7"}); err != nil || len(hits) != 1 ||
		hits[0].Entry.Content != "kestrel number7" {
		t.Errorf("an entry that is sound: %v %v", names(hits), err)
	}
	if hits, err := m.Recall(t.Context(), Query{Text: "number150"}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("an entry that is damaged: %v %v", names(hits), err)
	}
	if hits, err := m.Recall(t.Context(), Query{Text: "number7"}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("after the damage was found: %v %v", names(hits), err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	m = h.fromSnapshot()
	if _, err := m.Get(t.Context(), "own 150"); !errors.Is(err, ErrCorrupt) {
		t.Errorf("get: %v", err)
	}
	if _, err := m.Get(t.Context(), "own 7"); !errors.Is(err, ErrCorrupt) {
		t.Errorf("get after the damage was found: %v", err)
	}
	if err := m.Apply(t.Context(), Add{Name: "x", Content: "y"}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("add after the damage was found: %v", err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	m = h.fromSnapshot()
	if e, err := m.Get(t.Context(), "own 7"); err != nil || e.Content != "kestrel number7" {
		t.Errorf("get of what is sound: %v, %v", e, err)
	}
	if err := m.Apply(t.Context(), Remove{Name: "own 150"}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("removal of what is damaged: %v", err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	put(sound)
	m = h.fromSnapshot()
	h.snapshotAgrees(m)
	h.close(m)
}

// TestFromSnapshotOfAnother tests snapshots and index files that were made from another log than the log that is there.
// The memory must ignore the snapshot and read the log.
func TestFromSnapshotOfAnother(t *testing.T) {
	h := newIndexHome(t, 300)
	file, snap := h.file(), h.snapshot()
	old, err := vfs.ReadFile(h.fs, "memory.oxbow", -1)
	if err != nil {
		t.Fatal(err)
	}
	m := h.open(nil)
	for i := range 300 {
		if _, err := m.Remember(
			t.Context(),
			Entry{Name: fmt.Sprint("later ", i), Content: "gamma delta w7"},
		); err != nil {
			t.Fatal(err)
		}
	}
	h.recall(m, "gamma")
	h.close(m)
	newer, newerSnap := h.file(), h.snapshot()
	for what, try := range map[string]func(){
		"an older copy of the log": func() {
			if err := h.fs.Put("memory.oxbow", old, 0o600, time.Unix(1, 0)); err != nil {
				t.Fatal(err)
			}
			h.put(newer)
			h.putSnapshot(newerSnap)
		},
		// This log has as many changes as the indexed log, and the changes have the same lengths. Only the words are in
		// another order.
		"another history": func() {
			if err := h.fs.Put("memory.oxbow", old, 0o600, time.Unix(1, 0)); err != nil {
				t.Fatal(err)
			}
			_ = h.fs.Remove("memory.oxbow.lock")
			m := h.open(nil)
			for i := range 300 {
				if _, err := m.Remember(
					t.Context(),
					Entry{Name: fmt.Sprint("later ", i), Content: "delta gamma w7"},
				); err != nil {
					t.Fatal(err)
				}
			}
			h.close(m)
			h.put(newer)
			h.putSnapshot(newerSnap)
		},
		"no log": func() { _ = h.fs.Remove("memory.oxbow") },
		"another store": func() {
			_ = h.fs.Remove("memory.oxbow")
			m := h.open(nil)
			for i := range 300 {
				if err := m.Apply(
					t.Context(),
					Add{Name: fmt.Sprint("entry ", i), Content: "alpha of another"},
				); err != nil {
					t.Fatal(err)
				}
			}
			h.close(m)
			h.put(file)
			h.putSnapshot(snap)
		},
	} {
		try()
		m := h.open(nil)
		if isFromSnapshot(m) {
			t.Errorf("%s: the index file was believed", what)
		}
		h.agree(m)
		h.close(m)
	}
}
