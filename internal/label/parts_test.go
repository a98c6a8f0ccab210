// This file tests changes of labels that are too large for one change of the store.

package label

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/test/crashfs"
	"github.com/oxbow-memory/oxbow/vfs"
)

// addLargeEntries adds n entries of 1,000 bytes in one change.
func addLargeEntries(t *testing.T, m *oxbow.Memory, n int) {
	t.Helper()
	var ops []oxbow.Op
	for i := range n {
		ops = append(ops, oxbow.Add{Name: fmt.Sprintf("n%02d", i), Content: strings.Repeat("x", 1000),
			Labels: labels(t, "tag:old")})
	}
	if err := m.Apply(t.Context(), ops...); err != nil {
		t.Fatal(err)
	}
}

// countEntries returns the number of entries that have the label l and a content of 1000 bytes. The entries that
// addLargeEntries adds have this length.
func countEntries(t *testing.T, m *oxbow.Memory, l string) (n int) {
	t.Helper()
	for e, err := range m.Entries(t.Context(), oxbow.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if len(e.Content) == 1000 && slices.Contains(e.Labels, labels(t, l)[0]) {
			n++
		}
	}
	return n
}

// partNotes returns the notes of the changes that have one, oldest first.
func partNotes(t *testing.T, m *oxbow.Memory) (notes []string) {
	t.Helper()
	for c, err := range m.Log(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Note != "" {
			notes = slices.Insert(notes, 0, c.Note)
		}
	}
	return notes
}

// TestApplyPlanInParts changes labels in several changes, while another writer changes and adds entries. One undo must
// take back all changes of the labels, and nothing else.
func TestApplyPlanInParts(t *testing.T) {
	m := open(t)
	addLargeEntries(t, m, 10)
	calls := 0
	r := &racer{Store: m, times: 100, race: func(int) error {
		calls++
		switch calls {
		case 2:
			return m.Apply(t.Context(), oxbow.Add{Name: "other", Content: "of another writer"})
		case 3: // The plan expects another version of this entry.
			return m.Apply(t.Context(), oxbow.Relabel{Name: "n07", Labels: labels(t, "tag:old", "tag:mine")})
		}
		return nil
	}}
	p, _, err := ApplyPlan(t.Context(), r, PlanLabelRename(labels(t, "tag:old")[0], labels(t, "tag:new")[0]), 2500)
	if err != nil || len(p.EntryChanges) != 10 || countEntries(t, m, "tag:new") != 10 {
		t.Fatalf("ApplyPlan() = %d entries, %v, and %d have the label, want 10",
			len(p.EntryChanges), err, countEntries(t, m, "tag:new"))
	}
	const note = "label rename tag:old to tag:new (part %d of 5)"
	var want []string
	for i := range 5 {
		want = append(want, fmt.Sprintf(note, i+1))
	}
	if got := partNotes(t, m); !slices.Equal(got, want) {
		t.Errorf("the notes are %q, want %q", got, want)
	}
	if _, undone, err := m.Undo(t.Context(), 1); err != nil || len(undone) != 5 {
		t.Fatalf("Undo() = %d changes, %v, want the 5 parts", len(undone), err)
	}
	if n := countEntries(t, m, "tag:old"); n != 10 {
		t.Errorf("after the undo, %d entries have the old label, want 10", n)
	}
	for _, name := range []string{"other", "n07"} {
		e, err := m.Get(t.Context(), name)
		isKept := name == "other" || slices.Contains(e.Labels, labels(t, "tag:mine")[0])
		if err != nil || !isKept {
			t.Errorf("after the undo, %s = %+v, %v, want the other writer's work", name, e, err)
		}
	}
}

// TestPartOfUndoneCall tests a label change that ApplyPlan splits into several changes (parts), with changes by another
// writer between the parts. WithOtherParts must find all parts from the sequence number of any part.
func TestPartOfUndoneCall(t *testing.T) {
	m := open(t)
	addLargeEntries(t, m, 6)
	calls := 0
	r := &racer{Store: m, times: 100, race: func(int) error {
		calls++
		return m.Apply(t.Context(), oxbow.Add{Name: fmt.Sprint("other", calls), Content: "of another writer"})
	}}
	plan := PlanAddLabels(Selection{}, labels(t, "tag:new")...)
	if _, _, err := ApplyPlan(t.Context(), r, plan, 2500); err != nil {
		t.Fatal(err)
	}
	h, err := m.History()
	if err != nil {
		t.Fatal(err)
	}
	for _, seq := range []uint64{3, 5, 7} {
		cs, err := m.Changes(t.Context(), []uint64{seq})
		if err != nil {
			t.Fatal(err)
		}
		cs, err = oxbow.WithOtherParts(t.Context(), h, cs)
		var got []uint64
		for _, c := range cs {
			got = append(got, c.Seq)
		}
		if err != nil || !slices.Equal(got, []uint64{7, 5, 3}) {
			t.Errorf("WithOtherParts(%d) = %v, %v, want 7, 5 and 3", seq, got, err)
		}
	}
}

var errStopped = errors.New("stopped")

// TestApplyPlanAfterCrash crashes after each part of a change of labels. No entry may be lost, a second call must
// finish the work, and two undos must take back both calls.
func TestApplyPlanAfterCrash(t *testing.T) {
	const entries, partBytes = 10, 2500
	plan := func() Planner { return PlanAddLabels(Selection{}, labels(t, "tag:new")...) }
	for parts := range 6 {
		disk := crashfs.New(nil)
		m := openOn(t, disk.StartProcess())
		addLargeEntries(t, m, entries)
		s := &racer{Store: m, times: 100, race: func(remaining int) error {
			if 99-remaining == parts {
				return errStopped
			}
			return nil
		}}
		_, _, err := ApplyPlan(t.Context(), s, plan(), partBytes)
		if isWhole := parts == 5; (err == nil) != isWhole {
			t.Fatalf("ApplyPlan() that is stopped after %d parts = %v", parts, err)
		}
		for img, what := range disk.EachCrashFileSystem {
			checkAfterCrash(t.Context(), t, img, plan(), fmt.Sprintf("%d parts, %s", parts, what), 2*parts)
		}
	}
}

// checkAfterCrash opens the memory on the disk img, which is in the state after a crash. The number done is the number
// of entries that must have the new label already. checkAfterCrash applies the plan again, after which all 10 entries
// must have the label, and then undoes both calls.
func checkAfterCrash(ctx context.Context, t *testing.T, img *vfs.Mem, plan Planner, what string, done int) {
	t.Helper()
	m, err := oxbow.Open("m.oxbow", &oxbow.Options{FS: img})
	if err != nil {
		t.Fatal(err)
	}
	defer storetest.Close(t, m)
	old, labelled := countEntries(t, m, "tag:old"), countEntries(t, m, "tag:new")
	if old != 10 || labelled != done {
		t.Errorf("%s: %d entries, of which %d have the label, want 10 and %d", what, old, labelled, done)
	}
	if _, _, err := ApplyPlan(ctx, m, plan, 2500); err != nil || countEntries(t, m, "tag:new") != 10 {
		t.Errorf("%s: the second call = %v, and %d entries have the label, want 10",
			what, err, countEntries(t, m, "tag:new"))
	}
	for range min(done, 1) + min(10-done, 1) {
		if _, _, err := m.Undo(ctx, 1); err != nil {
			t.Errorf("%s: Undo() = %v", what, err)
		}
	}
	if n := countEntries(t, m, "tag:new"); n != 0 {
		t.Errorf("%s: after the undo of both calls, %d entries have the label, want 0", what, n)
	}
}
