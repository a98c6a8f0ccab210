// This file tests the files that other packages derive from the log: when they are written, how they find the versions
// in the log, and when they are removed.

package logstore

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/logpos"
	"github.com/oxbow-memory/oxbow/store"
	"github.com/oxbow-memory/oxbow/vfs"
)

const testSuffix = ".made"

// versionList implements [VersionList].
type versionList struct {
	ids, versions []uint64
	offsets       []int64
}

func (l *versionList) Len() int                           { return len(l.ids) }
func (l *versionList) Version(i int) (id, version uint64) { return l.ids[i], l.versions[i] }
func (l *versionList) SetOffset(i int, offset int64)      { l.offsets[i] = offset }

// derivedHome returns a store with some entries. The store has one kind of derived file, with the suffix testSuffix. A
// derived file stays valid after a compaction if *keep is true at that time.
func derivedHome(t *testing.T, keep *bool) *DB {
	d := openTest(t, vfs.NewMem(), "memory.oxbow", Options{DerivedFileKinds: []DerivedFileKind{{
		Suffix:                 testSuffix,
		IsValidAfterCompaction: func(vfs.File, uint64, func(id, version uint64) bool) bool { return *keep },
		Check:                  func(context.Context, CheckedFile) ([]store.Problem, error) { return nil, nil },
	}}})
	for i := range 8 {
		if err := remember(
			t.Context(),
			d,
			store.Entry{Name: fmt.Sprint("name ", i%4), Content: fmt.Sprint("secret ", i)},
		); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func write(f vfs.File) error {
	_, err := f.WriteAt([]byte("made"), 0)
	return err
}

// TestDerivedOfAnotherLog tests that a derived file is written for the present log, but not if the log was rewritten
// in the meantime.
func TestDerivedOfAnotherLog(t *testing.T) {
	keep := true
	d := derivedHome(t, &keep)
	f := d.DerivedFile(testSuffix)
	now := d.CurrentLogState(func() {})
	if err := f.Create(t.Context(), now.LogEpoch, write); err != nil || !f.Exists() {
		t.Fatalf("Make() = %v, there is a file: %t", err, f.Exists())
	}
	file, temp, err := f.CreateTemp(func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Redact(t.Context(), "name 1", false); err != nil {
		t.Fatal(err)
	}
	if f.Exists() {
		t.Error("a redaction leaves the file")
	}
	if err := f.ReplaceByTempFile(file, temp, func() error { return nil }); !errors.Is(err, ErrDerivedFileNotWritten) ||
		f.Exists() {
		t.Errorf("Adopt() after a redaction = %v, there is a file: %t", err, f.Exists())
	}
	if err := file.Close(); err != nil {
		t.Error(err)
	}
	if err := f.Create(t.Context(), now.LogEpoch, write); !errors.Is(err, ErrDerivedFileNotWritten) || f.Exists() {
		t.Errorf("Make() of the log before = %v, there is a file: %t", err, f.Exists())
	}
	checkAndCloseStore(t, d)
}

// TestDerivedAfterCompaction tests derived files, which are computed from the log, after a compaction. The compaction
// must keep the derived file if the variable keep says that the file stays valid, and must delete the file otherwise.
// UpdateVersionOffsets must then find the new offsets of versions.
func TestDerivedAfterCompaction(t *testing.T) {
	for _, keep := range []bool{true, false} {
		d := derivedHome(t, &keep)
		f := d.DerivedFile(testSuffix)
		now := d.CurrentLogState(func() {})
		if err := f.Create(t.Context(), now.LogEpoch, write); err != nil {
			t.Fatal(err)
		}
		if rep, err := d.Compact(t.Context(), time.Now().Add(time.Hour), false); err != nil || rep.Seq == 0 {
			t.Fatalf("Compact() = %+v, %v", rep, err)
		}
		if f.Exists() != keep {
			t.Errorf("there is a file: %t, want %t", f.Exists(), keep)
		}
		es, err := store.EntriesOf(t.Context(), d)
		if err != nil || len(es) != 4 {
			t.Fatalf("%d entries, %v", len(es), err)
		}
		vs := &versionList{offsets: make([]int64, len(es))}
		for _, e := range es {
			vs.ids, vs.versions = append(vs.ids, e.ID), append(vs.versions, e.Version)
		}
		if err := d.UpdateVersionOffsets(t.Context(), vs); err != nil {
			t.Fatal(err)
		}
		for i, e := range es {
			if got := d.EntryVersion(e.ID, e.Version, vs.offsets[i]); got == nil || got.Content != e.Content {
				t.Errorf("at offset %d there is %+v, want %q", vs.offsets[i], got, e.Content)
			}
		}
		vs.versions[2] = 1 // This version belongs to the dropped part of the history.
		if err := d.UpdateVersionOffsets(t.Context(), vs); !errors.Is(err, ErrDerivedFileNotWritten) {
			t.Errorf("Locate() of a version that was dropped = %v", err)
		}
		if _, err := d.RefreshPosition(logpos.Position{LogID: now.Position.LogID, Seq: 99}); !errors.Is(
			err,
			store.ErrPosition,
		) {
			t.Errorf("PlaceOf() a change that is not there = %v", err)
		}
		checkAndCloseStore(t, d)
	}
}

// TestVersionReader tests that a VersionReader returns the same entries as separate reads, in any order.
func TestVersionReader(t *testing.T) {
	d := openTest(t, vfs.NewMem(), "memory.oxbow", Options{})
	ctx := t.Context()
	var ops []store.Op
	for i := range 20 {
		ops = append(ops, store.Add{Name: fmt.Sprint("entry ", i), Content: fmt.Sprint("first ", i)})
	}
	ops = append(ops, store.Update{Name: "entry 3", Content: "the later version of change 1"})
	for _, change := range [][]store.Op{
		ops,
		{store.Update{Name: "entry 3", Content: "second"}, store.Update{Name: "entry 4", Content: "second"}},
		{store.Remove{Name: "entry 5"}},
	} {
		if err := d.Apply(ctx, change...); err != nil {
			t.Fatal(err)
		}
	}
	r := d.NewVersionReader()
	for i, want := range []struct {
		id, version uint64
		content     string
	}{
		{1, 1, "first 0"}, {2, 1, "first 1"}, {4, 1, "the later version of change 1"}, {4, 2, "second"},
		{5, 1, "first 4"}, {5, 2, "second"}, {99, 2, ""}, {6, 3, ""}, {6, 1, "first 5"}, {1, 9, ""},
	} {
		for _, read := range []func(id, version uint64, last int64) *store.Entry{r.EntryVersion, d.EntryVersion} {
			e := read(want.id, want.version, -1)
			got := ""
			if e != nil {
				got = e.Content
			}
			if got != want.content {
				t.Errorf("%d: version %d of entry %d = %q, want %q", i, want.version, want.id, got, want.content)
			}
		}
	}
	checkAndCloseStore(t, d)
}
