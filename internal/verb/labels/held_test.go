// Entries of an import are held back until a person approves them. This file tests that the list of these entries is
// complete, although the function does not read the content of all imported entries.

package labels

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/label"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/store/storetest"
)

// imported stores n entries of an import. Each change contains 50 entries.
func imported(t *testing.T, m *oxbow.Memory, session string, n int) {
	t.Helper()
	ctx := oxbow.WithSource(t.Context(), oxbow.Source{Actor: oxbow.Imported, Session: session,
		Ref: "/docs/" + session})
	for i := 0; i < n; i += 50 {
		var ops []oxbow.Op
		for j := i; j < i+50; j++ {
			ops = append(
				ops,
				oxbow.Add{Name: fmt.Sprint(session, " note ", j), Content: fmt.Sprint("The gate ", j, "."),
					Labels: []oxbow.Label{{Key: oxbow.LabelProject, Value: fmt.Sprint("p", j%3)},
						{Key: oxbow.LabelUnvouched, Value: oxbow.UnvouchedImport}}},
			)
		}
		if err := m.Apply(ctx, ops...); err != nil {
			t.Fatal(err)
		}
	}
}

// change applies an operation. The source of the change is a person.
func change(t *testing.T, m *oxbow.Memory, op oxbow.Op) {
	t.Helper()
	if err := m.Apply(oxbow.WithSource(t.Context(), oxbow.Source{Actor: oxbow.Person}), op); err != nil {
		t.Fatal(err)
	}
}

// TestHeldFromHeads calls ListQuarantinedEntries before and after the store is reopened. At first,
// ListQuarantinedEntries must read the entries. After reopening, it reads the entries' labels from a snapshot. Both
// calls must return the same result.
func TestHeldFromHeads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.oxbow")
	m, err := oxbow.Open(path, &oxbow.Options{KeepIndex: true})
	if err != nil {
		t.Fatal(err)
	}
	imported(t, m, "run1", 3000)
	imported(t, m, "run2", 100)
	unvouched := oxbow.Label{Key: oxbow.LabelUnvouched, Value: oxbow.UnvouchedImport}
	// A person adds a tag, and one text looks like an instruction.
	change(t, m, oxbow.Update{Name: "run1 note 7", Content: "The gate 7.",
		Labels: []oxbow.Label{
			{Key: oxbow.LabelProject, Value: "p1"},
			{Key: oxbow.LabelTag, Value: "rule"},
			unvouched,
		}})
	change(t, m, oxbow.Update{Name: "run2 note 3", Content: "Do as told.",
		Labels: []oxbow.Label{{Key: oxbow.LabelSuspect, Value: "orders"}, unvouched}})
	// Earlier versions of oxbow did not label imported entries.
	old := oxbow.WithSource(t.Context(), oxbow.Source{Actor: oxbow.Imported, Session: "run0"})
	if err := m.Apply(old, oxbow.Add{Name: "old note", Content: "The quay is old."}); err != nil {
		t.Fatal(err)
	}
	w := &verb.Workspace{
		Open:   func(context.Context, verb.MemoryAccess) (*oxbow.Memory, error) { return m, nil },
		Now:    time.Now,
		Source: oxbow.Source{Actor: oxbow.Person},
	}
	held := func() ListQuarantinedEntriesOut {
		t.Helper()
		out, err := ListQuarantinedEntries(t.Context(), w, ListQuarantinedEntriesIn{})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	fromEntries := held()
	counts := map[string]int{}
	for _, g := range fromEntries.Groups {
		counts[g.ImportSource] = g.Count
	}
	want := map[string]int{"/docs/run1": 3000, "/docs/run2": 99, "": 1}
	if !reflect.DeepEqual(counts, want) || len(fromEntries.Entries) != 1 {
		t.Fatalf("the groups are %v and %d entries, want %v and 1", counts, len(fromEntries.Entries), want)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	m = storetest.Open(t, path, &oxbow.Options{KeepIndex: true})
	if s, ok := m.Store().(interface{ SnapshotSeq() uint64 }); !ok || s.SnapshotSeq() == 0 {
		t.Fatal("the store has no snapshot")
	}
	if fromHeads := held(); !reflect.DeepEqual(fromHeads, fromEntries) {
		t.Errorf("with a snapshot Held() = %+v\nwant %+v", fromHeads, fromEntries)
	}

	// An approval of a version that the entry no longer has changes nothing, because the person has not seen the text.
	person := oxbow.WithSource(t.Context(), w.Source)
	e, err := m.Get(person, "run2 note 3")
	if err != nil {
		t.Fatal(err)
	}
	for version, isCurrent := range map[uint64]bool{e.Version - 1: false, e.Version: true} {
		in := ApproveEntriesIn{
			EntryNames:    []string{e.Name},
			ShownVersions: map[string]uint64{e.Name: version},
			DryRun:        true,
		}
		out, err := ApproveEntries(t.Context(), w, in)
		if errors.Is(err, oxbow.ErrConflict) == isCurrent || len(out.Entries) > 0 != isCurrent {
			t.Errorf("approving version %d of %d: %d entries, %v", version, e.Version, len(out.Entries), err)
		}
	}
	// If another writer changes the entry between the check and the approval, the approval fails.
	w.Open = func(context.Context, verb.MemoryAccess) (*oxbow.Memory, error) { return m, nil }
	plan := requireVersions(func(ctx context.Context, s oxbow.Store) (label.LabelChangePlan, error) {
		p, err := label.PlanLabelUpdates(
			label.Selection{Names: []string{e.Name}},
			"approve",
			withoutQuarantineLabels,
		)(
			ctx,
			s,
		)
		change(t, m, oxbow.Update{Name: e.Name, Content: "Another order.", Labels: e.Labels})
		return p, err
	}, map[string]uint64{e.Name: e.Version})
	if _, err := applyLabelPlan(person, w, plan, false); !errors.Is(err, oxbow.ErrConflict) {
		t.Errorf("the approval of a text that was changed meanwhile: %v, want a conflict", err)
	}
	if now, err := m.Get(person, e.Name); err != nil || now.MayShow(oxbow.Unasked) {
		t.Errorf("the changed entry is approved: %+v, %v", now, err)
	}

	// An entry that has the name as an alias is not approved.
	change(t, m, oxbow.Add{Name: "evil note", Aliases: []string{e.Name}, Content: "An order.",
		Labels: []oxbow.Label{{Key: oxbow.LabelSuspect, Value: "orders"}, unvouched}})
	if now, err := m.Get(person, e.Name); err == nil {
		in := ApproveEntriesIn{EntryNames: []string{e.Name}, ShownVersions: map[string]uint64{e.Name: now.Version}}
		if out, err := ApproveEntries(t.Context(), w, in); err != nil || len(out.Entries) != 1 {
			t.Errorf("approving %q: %d entries, %v", e.Name, len(out.Entries), err)
		}
	}
	if evil, err := m.Get(person, "evil note"); err != nil || evil.MayShow(oxbow.Unasked) {
		t.Errorf("an entry is approved because of its alias: %+v, %v", evil, err)
	}

	// A part of a group can be approved.
	i := slices.IndexFunc(fromEntries.Groups, func(g QuarantinedImportGroup) bool { return g.Count == 3000 })
	group := fromEntries.Groups[i]
	if l := group.Labels[0]; l.Label != "project:p1" && l.Label != "project:p0" {
		t.Errorf("the labels of the group are %+v", group.Labels)
	}
	out, err := ApproveEntries(t.Context(), w, ApproveEntriesIn{Group: group.ID, Filter: "project:p2"})
	if err != nil || len(out.Entries) != 1000 {
		t.Fatalf("Approve() = %d entries, %v; want 1000", len(out.Entries), err)
	}
	for _, g := range held().Groups {
		if g.ID == group.ID && g.Count != 2000 {
			t.Errorf("after the approval of a part, the group has %d entries, want 2000", g.Count)
		}
	}
	if _, err := ApproveEntries(t.Context(), w, ApproveEntriesIn{Filter: "project:p2"}); err == nil {
		t.Error("Approve accepts a filter without a group")
	}
}
