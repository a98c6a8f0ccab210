// This file tests the history of a memory: versions, earlier states, undo and compaction.

package oxbow_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// clock returns a clock that advances by a minute with each call.
func clock() func() time.Time {
	now := time.Date(2026, 4, 14, 10, 0, 0, 0, time.UTC)
	return func() time.Time { now = now.Add(time.Minute); return now }
}

// clockEnd is later than every time that the function clock returns in a test.
var clockEnd = time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)

// newMemory opens an empty memory, whose clock advances by a minute with each call. When the test ends, the memory is
// checked and closed. If fsys is nil, the memory is kept in RAM.
func newMemory(t testing.TB, fsys vfs.FS) *oxbow.Memory {
	t.Helper()
	if fsys == nil {
		fsys = vfs.NewMem()
	}
	return storetest.Open(t, "m.oxbow", &oxbow.Options{FS: fsys, Clock: clock()})
}

func checked(t testing.TB, m *oxbow.Memory) {
	t.Helper()
	rep, err := m.Check(context.Background())
	if err != nil {
		t.Errorf("Check() = %v", err)
	}
	for _, p := range rep.Problems {
		t.Errorf("Check() found: %s", p.What)
	}
}

func remember(t testing.TB, m *oxbow.Memory, name, content string) oxbow.Entry {
	t.Helper()
	e, err := m.Remember(t.Context(), oxbow.Entry{Name: name, Content: content})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func contentOf(t testing.TB, m oxbow.Store, name string) string {
	t.Helper()
	e, err := m.Get(t.Context(), name)
	if errors.Is(err, oxbow.ErrNotFound) {
		return "(none)"
	}
	if err != nil {
		t.Fatal(err)
	}
	return e.Content
}

func versions(t testing.TB, m *oxbow.Memory, name string) []string {
	t.Helper()
	var vs []string
	for v, err := range m.Versions(t.Context(), name) {
		if err != nil {
			t.Fatal(err)
		}
		vs = append(vs, fmt.Sprintf("%d %s %s", v.Seq, v.Verb, v.Entry.Content))
	}
	return vs
}

func TestVersions(t *testing.T) {
	m := newMemory(t, nil)
	remember(t, m, "a", "one")
	remember(t, m, "b", "other")
	remember(t, m, "a", "two")
	if err := m.Forget(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	remember(t, m, "a", "three")
	want := []string{"5 add three", "4 remove ", "3 update two", "1 add one"}
	if got := versions(t, m, "a"); !slices.Equal(got, want) {
		t.Errorf("versions = %q, want %q", got, want)
	}
	for seq, want := range map[uint64]string{1: "one", 2: "one", 3: "two", 4: "(none)", 5: "three", 6: "(none)",
		99: "(none)"} {
		v, err := m.VersionAt(t.Context(), "a", seq)
		got := v.Entry.Content
		if errors.Is(err, oxbow.ErrNotFound) {
			got = "(none)"
		} else if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("a@%d = %q, want %q", seq, got, want)
		}
	}
	for _, err := range m.Versions(t.Context(), "ghost") {
		if !errors.Is(err, oxbow.ErrNotFound) {
			t.Errorf("versions of an unknown name: %v", err)
		}
	}
	var log []string
	for c, err := range m.Log(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		log = append(
			log,
			fmt.Sprintf("%d %s %s %s", c.Seq, c.Versions[0].Verb, c.Versions[0].Entry.Name, c.Source.Door),
		)
	}
	want = []string{"5 add a library", "4 remove a library", "3 update a library", "2 add b library", "1 add a library"}
	if !slices.Equal(log, want) {
		t.Errorf("log = %q, want %q", log, want)
	}
}

func TestAsOf(t *testing.T) {
	m := newMemory(t, nil)
	remember(t, m, "deploy", "ship on friday")
	remember(t, m, "deploy", "never ship on friday")
	if err := m.Forget(t.Context(), "deploy"); err != nil {
		t.Fatal(err)
	}
	for seq, want := range map[uint64]string{1: "ship on friday", 2: "never ship on friday", 3: ""} {
		hits, err := m.Recall(t.Context(), oxbow.Query{Text: "friday", AsOf: seq})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if len(hits) > 0 {
			got = hits[0].Entry.Content
		}
		if got != want {
			t.Errorf("recall as of %d = %q, want %q", seq, got, want)
		}
	}
	if _, err := m.AsOf(t.Context(), 4); !errors.Is(err, oxbow.ErrNotFound) {
		t.Errorf("AsOf(4) = %v, want ErrNotFound", err)
	}
	view, err := m.AsOf(t.Context(), 0)
	if err != nil || contentOf(t, view, "deploy") != "(none)" {
		t.Errorf("the store before its first change is not empty: %v", err)
	}
	if err := view.Apply(t.Context(), oxbow.Add{Name: "x", Content: "x"}); !errors.Is(err, oxbow.ErrReadOnly) {
		t.Errorf("a view took a change: %v", err)
	}
	if err := view.Close(); err != nil {
		t.Error(err)
	}
	// The clock of newMemory starts on this day at 10:00, so midnight is before the first change.
	day := time.Date(2026, 4, 14, 0, 0, 0, 0, time.UTC)
	v, err := m.VersionAt(t.Context(), "deploy", 2)
	if err != nil {
		t.Fatal(err)
	}
	h, err := m.History()
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[time.Time]uint64{
		day:                   0,
		v.Source.Time:         2,
		v.Source.Time.Add(-1): 1,
		day.AddDate(1, 0, 0):  3,
	} {
		if seq, err := h.SeqAt(t.Context(), at); err != nil || seq != want {
			t.Errorf("SeqAt(%v) = %d, %v, want %d", at, seq, err, want)
		}
	}
}

func TestUndo(t *testing.T) {
	m := newMemory(t, nil)
	undo := func(n int) uint64 {
		t.Helper()
		seq, _, err := m.Undo(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		return seq
	}
	is := func(name, want string) {
		t.Helper()
		if got := contentOf(t, m, name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	first := remember(t, m, "a", "one") // change 1
	remember(t, m, "a", "two")          // change 2
	if err := m.Forget(t.Context(), "a"); err != nil {
		t.Fatal(err)
	} // change 3
	undo(1)
	is("a", "two")
	if e, err := m.Get(t.Context(), "a"); err != nil || e.ID != first.ID || !e.Created.Equal(first.Created) {
		t.Errorf("undo of forget did not bring the same entry back: %+v, %v", e, err)
	}
	undo(1)
	is("a", "one")
	undo(1)
	is("a", "(none)")
	if _, _, err := m.Undo(t.Context(), 1); !errors.Is(err, oxbow.ErrNotFound) {
		t.Errorf("Undo() with nothing left = %v, want ErrNotFound", err)
	}
	if _, _, err := m.Undo(t.Context(), 0); !errors.Is(err, oxbow.ErrInvalid) {
		t.Errorf("Undo(0) = %v, want ErrInvalid", err)
	}

	// Undo several changes at once, of which one is a batch. Then undo the undo, which must restore all entries.
	if err := m.Apply(t.Context(), oxbow.Add{Name: "x", Content: "x1"}, oxbow.Add{Name: "y", Content: "y1"},
		oxbow.Update{Name: "x", Content: "x2"}); err != nil {
		t.Fatal(err)
	}
	remember(t, m, "y", "y2")
	seq := undo(2)
	is("x", "(none)")
	is("y", "(none)")
	if _, err := m.Revert(t.Context(), seq); err != nil {
		t.Fatal(err)
	}
	is("x", "x2")
	is("y", "y2")
}

// TestUndoConflict tests that Revert fails with ErrConflict if a later change, which is not reverted in the same call,
// has changed the same entry.
func TestUndoConflict(t *testing.T) {
	m := newMemory(t, nil)
	remember(t, m, "a", "one") // 1
	remember(t, m, "b", "one") // 2
	remember(t, m, "a", "two") // 3
	if _, err := m.Revert(t.Context(), 1); !errors.Is(err, oxbow.ErrConflict) {
		t.Errorf("Revert(1) = %v, want ErrConflict", err)
	}
	if _, err := m.Revert(t.Context(), 2); err != nil {
		t.Errorf("Revert(2), which nothing came after, = %v", err)
	}
	if _, err := m.Revert(t.Context(), 1, 3); err != nil {
		t.Errorf("Revert(1, 3) = %v", err)
	}
	if got := contentOf(t, m, "a"); got != "(none)" {
		t.Errorf("a = %q, want none", got)
	}
	if _, err := m.Revert(t.Context(), 77); !errors.Is(err, oxbow.ErrNotFound) {
		t.Errorf("Revert(77) = %v, want ErrNotFound", err)
	}
}

func TestRestore(t *testing.T) {
	m := newMemory(t, nil)
	remember(t, m, "a", "one")
	remember(t, m, "a", "two")
	if err := m.Forget(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Restore(t.Context(), "a", 1); err != nil {
		t.Fatal(err)
	}
	if got := contentOf(t, m, "a"); got != "one" {
		t.Errorf("a = %q, want one", got)
	}
	if _, err := m.Restore(t.Context(), "a", 3); !errors.Is(err, oxbow.ErrNotFound) {
		t.Errorf("Restore of a removal = %v, want ErrNotFound", err)
	}
}

func TestOpID(t *testing.T) {
	fsys := vfs.NewMem()
	m := newMemory(t, fsys)
	ctx := oxbow.WithOpID(t.Context(), "op-1")
	for range 3 {
		if err := m.Apply(ctx, oxbow.Add{Name: "a", Content: "one"}); err != nil {
			t.Fatal(err)
		}
	}
	// Another process, which never saw the first answer, tries again.
	other := newMemory(t, fsys)
	if err := other.Apply(ctx, oxbow.Add{Name: "a", Content: "one"}); err != nil {
		t.Fatal(err)
	}
	if got := versions(t, m, "a"); len(got) != 1 {
		t.Errorf("versions = %q, want one", got)
	}
	// A different call that uses an earlier call's ID must be refused. A repeat of the same call must succeed.
	call := func(m *oxbow.Memory, id, print string) error {
		return m.Apply(oxbow.WithOpID(t.Context(), oxbow.CallOpID(id, print)), oxbow.Add{Name: "call " + id})
	}
	for _, m := range []*oxbow.Memory{m, other, newMemory(t, fsys)} {
		if err := call(m, "op-2", "print"); err != nil {
			t.Errorf("the call, or its repeat: %v", err)
		}
		if err := call(m, "op-2", "another"); !errors.Is(err, oxbow.ErrOpIDUsed) {
			t.Errorf("another call with the id: %v, want ErrOpIDUsed", err)
		}
	}
	if err := call(m, "op-3", "print"); err != nil {
		t.Errorf("a call with another id: %v", err)
	}
	if err := m.Apply(
		oxbow.WithOpID(t.Context(), strings.Repeat("x", 65)),
		oxbow.Remove{Name: "a"},
	); !errors.Is(err, oxbow.ErrInvalid) {
		t.Errorf("an op id of 65 bytes: %v, want ErrInvalid", err)
	}
}

// TestTwoOpeners tests that two memories that have the same file open see each other's changes at once. Get must find
// the changes in the store, and Recall must find the changes in the index.
func TestTwoOpeners(t *testing.T) {
	fsys := vfs.NewMem()
	a, b := newMemory(t, fsys), newMemory(t, fsys)
	for i := range 20 {
		from, to := a, b
		if i%2 == 1 {
			from, to = b, a
		}
		name := fmt.Sprint("entry ", i)
		remember(t, from, name, fmt.Sprint("content number", i))
		if got := contentOf(t, to, name); got == "(none)" {
			t.Fatalf("%s is not seen by the other", name)
		}
		hits, err := to.Recall(t.Context(), oxbow.Query{Text: fmt.Sprint("number", i)})
		if err != nil || len(hits) != 1 || hits[0].Entry.Name != name {
			t.Fatalf("recall of %s by the other = %v, %v", name, hits, err)
		}
	}
	if err := a.Forget(t.Context(), "entry 3"); err != nil {
		t.Fatal(err)
	}
	if hits, err := b.Recall(t.Context(), oxbow.Query{Text: "number3"}); err != nil || len(hits) != 0 {
		t.Errorf("recall of what the other forgot = %v, %v", hits, err)
	}
	if _, err := b.Remember(
		t.Context(),
		oxbow.Entry{Name: "entry 0", Content: "x", Version: 99},
	); !errors.Is(err, oxbow.ErrConflict) {
		t.Errorf("Remember() at a version long gone = %v, want ErrConflict", err)
	}
}

func TestCompact(t *testing.T) {
	fsys := vfs.NewMem()
	m, other := newMemory(t, fsys), newMemory(t, fsys)
	for i := range 50 {
		remember(t, m, "a", fmt.Sprint("version ", i))
	}
	remember(t, m, "b", "stays")
	if err := m.Forget(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	remember(t, other, "c", "written by the other")
	v40, err := m.VersionAt(t.Context(), "a", 40)
	if err != nil {
		t.Fatal(err)
	}
	c := m.Store().(oxbow.Compactor)
	dry, err := c.Compact(t.Context(), v40.Source.Time, true)
	if err != nil || dry.Changes != 39 || dry.Versions != 38 || dry.Seq != 0 {
		t.Fatalf("dry compaction = %+v, %v", dry, err)
	}
	rep, err := c.Compact(t.Context(), v40.Source.Time, false)
	if err != nil {
		t.Fatal(err)
	}
	if rep.Changes != 39 || rep.Versions != 38 || rep.Seq != 54 {
		t.Errorf("compaction = %+v", rep)
	}
	if got := versions(t, m, "a"); len(got) != 12 || got[10] != "40 update version 39" ||
		got[11] != "39 update version 38" {
		t.Errorf("versions after compaction = %q", got)
	}
	// The other process, which had the old file open, goes on with the new.
	if got := contentOf(t, other, "a"); got != "version 49" {
		t.Errorf("the other reads %q", got)
	}
	remember(t, other, "d", "after")
	if got := contentOf(t, m, "d"); got != "after" {
		t.Errorf("d = %q", got)
	}
	checked(t, m)
	if _, err := m.AsOf(t.Context(), 38); !errors.Is(err, oxbow.ErrNotFound) {
		t.Errorf("AsOf() before the compaction's horizon = %v, want ErrNotFound", err)
	}
	view, err := m.AsOf(t.Context(), 39)
	if err != nil {
		t.Fatal(err)
	}
	if got := contentOf(t, view, "a"); got != "version 38" {
		t.Errorf("at the horizon, a = %q", got)
	}
	if err := view.Close(); err != nil {
		t.Error(err)
	}
	_, gerr := m.VersionAt(t.Context(), "a", 38)
	_, rerr := m.Restore(t.Context(), "a", 38)
	for _, err := range []error{gerr, rerr} {
		if !errors.Is(err, oxbow.ErrNotFound) ||
			err.Error() != "the history before change 40 was dropped by a compaction" {
			t.Errorf("the version before the compaction's horizon: %v, want that it was dropped", err)
		}
	}
	// Revert fails with ErrConflict for change 40, the first change that the compaction kept.
	if _, err := m.Revert(t.Context(), 40); !errors.Is(err, oxbow.ErrConflict) {
		t.Errorf("Revert(40) = %v, want ErrConflict", err)
	}
	// A second compaction, over the first.
	if _, err := c.Compact(t.Context(), v40.Source.Time.AddDate(1, 0, 0), false); err != nil {
		t.Fatal(err)
	}
	checked(t, m)
	if got := contentOf(t, m, "a"); got != "version 49" {
		t.Errorf("a = %q", got)
	}
	if err := m.Apply(oxbow.WithOpID(t.Context(), "x"), oxbow.Add{Name: "b", Content: "again"}); err != nil {
		t.Fatal(err)
	}
	if e, err := m.Get(t.Context(), "b"); err != nil || e.ID <= 4 {
		t.Errorf("an ID was used twice: %+v, %v", e, err)
	}
}
