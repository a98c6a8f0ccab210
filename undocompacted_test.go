// This file tests Undo for an entry that was removed and later added again with the same name but another ID.

package oxbow_test

import (
	"errors"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestUndoOfEntryMadeAgain(t *testing.T) {
	now := time.Date(2026, 4, 14, 10, 0, 0, 0, time.UTC)
	m := storetest.Open(t, "m", &oxbow.Options{FS: vfs.NewMem(), Clock: func() time.Time {
		now = now.Add(time.Minute)
		return now
	}})
	var second time.Time
	for i, op := range []oxbow.Op{
		oxbow.Add{Name: "n1", Content: "h"},
		oxbow.Add{Name: "n2", Content: "h"},
		oxbow.Remove{Name: "n2"},
		oxbow.Add{Name: "n2", Content: "h"},
	} {
		if err := m.Apply(t.Context(), op); err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			second = now.Add(-time.Second * 90) // before the second change
		}
	}
	if _, err := m.Store().(oxbow.Compactor).Compact(t.Context(), second, false); err != nil {
		t.Fatal(err)
	}
	if _, undone, err := m.Undo(t.Context(), 3); err != nil || len(undone) != 3 {
		t.Fatalf("Undo = %d changes, %v", len(undone), err)
	}
	for e, err := range m.Entries(t.Context(), oxbow.Filter{}) {
		if err != nil || e.Name != "n1" {
			t.Errorf("%s is still there, %v", e.Name, err)
		}
	}
}

// TestUndoOfUndoOfEntryMadeAgain undoes changes 3 and 4. Change 3 added the entry again after its removal, under a new
// ID. Change 4 is the undo of changes 2 and 3, which restored the first entry with its old ID. A compaction then drops
// the changes before change 3. After changes 3 and 4 are both undone, no entry may exist.
func TestUndoOfUndoOfEntryMadeAgain(t *testing.T) {
	now := time.Date(2026, 4, 14, 10, 0, 0, 0, time.UTC)
	opts := &oxbow.Options{FS: vfs.NewMem(), Clock: func() time.Time { now = now.Add(time.Minute); return now }}
	m, err := oxbow.Open("m", opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range []oxbow.Op{
		oxbow.Add{Name: "n", Content: "h"},
		oxbow.Remove{Name: "n"},
		oxbow.Add{Name: "n", Content: "h"},
	} {
		if err := m.Apply(t.Context(), op); err != nil {
			t.Fatal(err)
		}
	}
	third := now.Add(-time.Second)
	if _, err := m.Revert(t.Context(), 2, 3); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Store().(oxbow.Compactor).Compact(t.Context(), third, false); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Revert(t.Context(), 3, 4); err != nil {
		t.Fatal(err)
	}
	if e, err := m.Get(t.Context(), "n"); !errors.Is(err, oxbow.ErrNotFound) {
		t.Errorf("Get = %+v, %v, want ErrNotFound", e, err)
	}
	storetest.Close(t, m)
}
