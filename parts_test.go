// This file tests undos that are too large for one change.

package oxbow_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/store"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// importNotes adds n notes of 500 bytes, with two notes in each change, as an import does. It returns the memory.
func importNotes(t *testing.T, n int) *oxbow.Memory {
	t.Helper()
	m := storetest.Open(t, "m", &oxbow.Options{FS: vfs.NewMem()})
	ctx := oxbow.WithSource(t.Context(), oxbow.Source{Actor: oxbow.Imported, Session: "run"})
	ctx = oxbow.WithNote(ctx, "import of notes")
	for i := 0; i < n; i += 2 {
		if err := m.Apply(ctx, newNote(i), newNote(i+1)); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func newNote(i int) oxbow.Add {
	return oxbow.Add{Name: fmt.Sprint("note ", i), Content: strings.Repeat(string(rune('a'+i%26)), 500)}
}

// describeEntries returns a sorted list with a text for each entry: its name, the first letter of its content, and its
// labels.
func describeEntries(t *testing.T, s oxbow.Store) (all []string) {
	t.Helper()
	for e, err := range s.Entries(t.Context(), oxbow.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%s %.1s %v", e.Name, e.Content, e.Labels))
	}
	slices.Sort(all)
	return all
}

func historyOf(t *testing.T, m *oxbow.Memory) oxbow.Historian {
	t.Helper()
	h, err := m.History()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestRevertInParts undoes an import in parts, and redoes it.
func TestRevertInParts(t *testing.T) {
	m := importNotes(t, 20)
	h, before := historyOf(t, m), describeEntries(t, m)
	cs, err := m.Undoable(t.Context(), 1)
	if err != nil || len(cs) != 10 {
		t.Fatalf("Undoable() = %d changes, %v, want the 10 of the import", len(cs), err)
	}
	undos, err := store.RevertInParts(t.Context(), h, cs, 3000)
	if err != nil || len(undos) != 5 || len(describeEntries(t, m)) != 0 {
		t.Fatalf("RevertInParts() = %v, %v, and %d notes stay; want 5 changes", undos, err, len(describeEntries(t, m)))
	}
	if cs, err := m.Undoable(t.Context(), 1); err != nil || len(cs) != 0 {
		t.Errorf("after the undo, %d changes can be undone, %v, want 0", len(cs), err)
	}
	cs, err = m.Changes(t.Context(), undos)
	if err != nil {
		t.Fatal(err)
	}
	redos, err := store.RevertInParts(t.Context(), h, cs, 3000)
	if got := describeEntries(t, m); err != nil || len(redos) != 5 || !slices.Equal(got, before) {
		t.Errorf("the redo made the changes %v, %v, and left %q, want 5 changes and %q", redos, err, got, before)
	}
	if cs, err := m.Undoable(t.Context(), 1); err != nil || len(cs) != 10 {
		t.Errorf("after the redo, %d changes can be undone, %v, want the 10 of the import", len(cs), err)
	}
}

// TestRevertInPartsIsChecked tests that nothing changes if a part could not be reverted.
func TestRevertInPartsIsChecked(t *testing.T) {
	m := importNotes(t, 20)
	if err := m.Apply(t.Context(), oxbow.Update{Name: "note 1", Content: "mine"}); err != nil {
		t.Fatal(err)
	}
	before := describeEntries(t, m)
	var seqs []uint64
	for seq := range uint64(10) {
		seqs = append(seqs, seq+1)
	}
	cs, err := m.Changes(t.Context(), seqs)
	if err != nil {
		t.Fatal(err)
	}
	if undos, err := store.RevertInParts(t.Context(), historyOf(t, m), cs, 3000); !errors.Is(err, oxbow.ErrConflict) {
		t.Errorf("RevertInParts() = %v, %v, want a conflict", undos, err)
	}
	if got := describeEntries(t, m); !slices.Equal(got, before) {
		t.Errorf("a revert that was refused left %q, want %q", got, before)
	}
}

// stoppingHistory is a history whose Revert fails after some calls.
type stoppingHistory struct {
	oxbow.Historian
	remaining int
}

var errStopped = errors.New("stopped")

func (s *stoppingHistory) Capabilities() oxbow.Capabilities {
	c := oxbow.CapabilitiesOf(s.Historian)
	c.Historian = s
	return c
}

func (s *stoppingHistory) Revert(ctx context.Context, seqs ...uint64) (uint64, error) {
	if s.remaining == 0 {
		return 0, errStopped
	}
	s.remaining--
	return s.Historian.Revert(ctx, seqs...)
}

// TestRevertInPartsAgain tests an undo in parts that is stopped after two parts. These must be the newest parts. If the
// same call is repeated with its op ID, it must undo the remaining parts. A call with the same op ID that would undo
// other changes must undo nothing, and return the number of the first call's first change.
func TestRevertInPartsAgain(t *testing.T) {
	m := importNotes(t, 20)
	if err := m.Apply(t.Context(), oxbow.Add{Name: "other", Content: "x"}); err != nil {
		t.Fatal(err)
	}
	h := historyOf(t, m)
	all := func(count int) []oxbow.Change {
		cs, err := m.Undoable(t.Context(), count)
		if err != nil {
			t.Fatal(err)
		}
		return cs
	}
	ctx := oxbow.WithOpID(t.Context(), "call 1")
	whole := all(2)
	undos, err := store.RevertInParts(ctx, &stoppingHistory{h, 2}, whole, 3000)
	if !errors.Is(err, errStopped) || len(undos) != 2 || len(describeEntries(t, m)) != 12 {
		t.Fatalf("RevertInParts() = %v, %v, and %d notes stay; want two changes and 12 notes",
			undos, err, len(describeEntries(t, m)))
	}
	repeated, err := store.RevertInParts(ctx, h, all(1), 3000)
	if err != nil || !slices.Equal(repeated, undos[:1]) || len(describeEntries(t, m)) != 12 {
		t.Errorf("the repeated call returned %v, %v, want change %d", repeated, err, undos[0])
	}
	finished, err := store.RevertInParts(ctx, h, whole, 3000)
	if err != nil || !slices.Equal(finished[:2], undos) || len(describeEntries(t, m)) != 0 {
		t.Errorf("the same call again returned %v, %v, and %d notes stay, want all undone",
			finished, err, len(describeEntries(t, m)))
	}
}

// TestRevertOfRemovalInParts tests that RevertInParts splits a revert into several changes if the revert would exceed
// the given size of 3000 bytes. The reverted changes are removals, which are small themselves. The size must therefore
// include the texts of the removed entries, which the revert restores.
func TestRevertOfRemovalInParts(t *testing.T) {
	m := importNotes(t, 20)
	before := describeEntries(t, m)
	var cs []oxbow.Change
	for i := 0; i < 20; i += 4 {
		var ops []oxbow.Op
		for j := range 4 {
			ops = append(ops, oxbow.Remove{Name: fmt.Sprint("note ", i+j)})
		}
		c, err := m.Commit(t.Context(), ops...)
		if err != nil {
			t.Fatal(err)
		}
		cs = slices.Insert(cs, 0, c)
	}
	undos, err := store.RevertInParts(t.Context(), historyOf(t, m), cs, 3000)
	if got := describeEntries(t, m); err != nil || len(undos) != 5 || !slices.Equal(got, before) {
		t.Errorf("RevertInParts() = %v, %v, and the notes are %q, want 5 changes and %q", undos, err, got, before)
	}
}

// TestPartNote tests that SplitPartNote reads the number of the part and of all parts only from a note that ends in the
// form "(part 2 of 8)". For any other note, both numbers are 0 and the note is returned unchanged.
func TestPartNote(t *testing.T) {
	for note, want := range map[string]string{
		"approve (part 2 of 8)":            "approve 2 8",
		"(part 1 of 1)":                    " 1 1",
		"approve":                          "approve 0 0",
		"":                                 " 0 0",
		"a (part 1 of 2) (part 12 of 100)": "a (part 1 of 2) 12 100",
		"a (part 0 of 2)":                  "a (part 0 of 2) 0 0",
		"a (part x of 2)":                  "a (part x of 2) 0 0",
		"a (part 1 of 2":                   "a (part 1 of 2 0 0",
		"a (part 1)":                       "a (part 1) 0 0",
	} {
		callNote, part, count := store.SplitPartNote(note)
		if got := fmt.Sprint(callNote, " ", part, " ", count); got != want {
			t.Errorf("SplitPartNote(%q) = %q, want %q", note, got, want)
		}
	}
}

// TestGroupOps tests that ops with the same name or alias stay together, in order.
func TestGroupOps(t *testing.T) {
	sizes := map[string]int{"a": 10, "b": 20, "c": 40}
	groups := oxbow.GroupOps([]oxbow.Op{
		oxbow.Remove{Name: "a"},
		oxbow.Relabel{Name: "c"},
		oxbow.Add{Name: "a"},
		oxbow.Update{Name: "b", Aliases: []string{"A", "d"}},
		oxbow.Update{Name: "e", Aliases: []string{"a"}},
	}, func(name string) int { return sizes[name] })
	var got []string
	for _, g := range groups {
		var names []string
		for _, op := range g.Ops {
			names = append(names, op.Target())
		}
		got = append(got, fmt.Sprint(names, g.OldBytes))
	}
	if want := []string{"[a a e] 10", "[c] 40", "[b] 20"}; !slices.Equal(got, want) {
		t.Errorf("GroupOps() = %q, want %q", got, want)
	}
}
