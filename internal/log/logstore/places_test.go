// This file tests that an entry that is read by its position in a large record equals the entry in the record, and
// that damage is detected.

package logstore

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"reflect"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/base/cache"
	"github.com/oxbow-memory/oxbow/store"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestPlaces(t *testing.T) {
	disk := vfs.NewMem()
	open := func(o Options) *DB { return openTest(t, disk, "memory.oxbow", o) }
	w := open(Options{MinSnapshotOps: 1})
	var first []store.Op
	for i := range 600 {
		first = append(first, store.Add{Name: fmt.Sprint("entry ", i), Content: fmt.Sprint("the harbor of ", i)})
	}
	if err := w.Apply(t.Context(), first...); err != nil {
		t.Fatal(err)
	}
	if err := w.Apply(
		t.Context(),
		store.Update{Name: "entry 5", Content: "not there any more"},
		store.Remove{Name: "entry 6"},
	); err != nil {
		t.Fatal(err)
	}
	var ops []store.Op
	for i := range 300 { // If a record has two versions of an entry, the later version counts.
		name := fmt.Sprint("twice ", i)
		ops = append(
			ops,
			store.Add{Name: name, Content: "kestrel of old"},
			store.Update{Name: name, Content: fmt.Sprint("kestrel of now ", i)},
		)
	}
	if err := w.Apply(
		store.WithSource(t.Context(), store.Source{Actor: store.Agent, Door: "mcp", Ref: "a place"}),
		ops...,
	); err != nil {
		t.Fatal(err)
	}
	// The record of an undo also contains the numbers of the changes that it reverts.
	var removals []store.Op
	for i := range 300 {
		removals = append(removals, store.Remove{Name: fmt.Sprint("entry ", 100+i)})
	}
	removed, err := w.Commit(t.Context(), removals...)
	if err == nil {
		_, err = w.Revert(t.Context(), removed.Seq)
	}
	if err != nil {
		t.Fatal(err)
	}
	checkAndCloseStore(t, w)

	m := open(Options{CacheBudget: cache.NewSizeBudget(1)})
	s := m.st.base
	if s == nil || s.len() < 800 {
		t.Fatalf("the store has no snapshot of what was written: %v", s)
	}
	read := func(row int) *store.Entry {
		r, err := s.log.RecordAt(s.entryField(row, 2))
		if err != nil {
			t.Fatal(err)
		}
		es, err := s.decodeAndCache(&r, nil)
		if err != nil {
			t.Fatal(err)
		}
		return es[row]
	}
	for row := range s.len() {
		want := read(row)
		// The first read of the record stores the positions.
		if got := s.readEntry(row); !reflect.DeepEqual(got, want) {
			t.Fatalf("row %d: got %+v, want %+v", row, got, want)
		}
		large := want.Name != "entry 5"
		if got := s.readSingleEntry(row); (got != nil) != large || (large && !reflect.DeepEqual(got, want)) {
			t.Fatalf("row %d by its place: got %+v, want %+v", row, got, want)
		}
	}

	b, err := vfs.ReadFile(disk, "memory.oxbow", -1)
	if err != nil {
		t.Fatal(err)
	}
	row, _ := s.findRowByName("twice 7")
	at := bytes.Index(b, []byte("kestrel of now 7"))
	f, err := disk.OpenFile("memory.oxbow", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	put := func(c byte) {
		if _, err := f.WriteAt([]byte{c}, int64(at)); err != nil {
			t.Fatal(err)
		}
	}
	put(b[at] ^ 4)
	if s.readSingleEntry(row) != nil {
		t.Error("an entry is read of bytes that are damaged")
	}
	if e, err := m.Get(t.Context(), "twice 7"); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("Get of what is damaged = %q, %v", e.Content, err)
	}
	put(b[at])
	if err := errors.Join(f.Close(), m.Close()); err != nil {
		t.Error(err)
	}
	checkAndCloseStore(t, open(Options{}))
}
