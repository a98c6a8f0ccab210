// This file tests which entries are merged, and that merging them is a single change.

package duplicate

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/crmem"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// open returns an empty memory. Its clock advances by a minute each time it is read.
func open(t *testing.T) *oxbow.Memory {
	t.Helper()
	now := time.Date(2026, 4, 18, 9, 0, 0, 0, time.UTC)
	return storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem(), Clock: func() time.Time {
		now = now.Add(time.Minute)
		return now
	}})
}

func labels(t *testing.T, texts ...string) []oxbow.Label {
	t.Helper()
	var ls []oxbow.Label
	for _, text := range texts {
		l, err := oxbow.ParseLabel(text)
		if err != nil {
			t.Fatal(err)
		}
		ls = append(ls, l)
	}
	return ls
}

func apply(t *testing.T, m *oxbow.Memory, ops ...oxbow.Op) {
	t.Helper()
	if err := m.Apply(t.Context(), ops...); err != nil {
		t.Fatal(err)
	}
}

func TestConsolidate(t *testing.T) {
	m := open(t)
	apply(t, m,
		oxbow.Add{
			Name:    "ship",
			Content: "We ship the app on Tuesdays",
			Aliases: []string{"release"},
			Labels:  labels(t, "tag:a", "confidence:0.9", "project:vtt"),
		},
		oxbow.Add{
			Name:    "deploy",
			Content: "We ship the app on Tuesdays, at nine",
			Aliases: []string{"rollout"},
			Labels:  labels(t, "tag:b", "confidence:0.5", "project:vtt"),
		},
		oxbow.Add{Name: "again", Content: "we ship  the app on Tuesdays.", Labels: labels(t, "project:vtt")},
		oxbow.Add{Name: "elsewhere", Content: "We ship the app on Tuesdays", Labels: labels(t, "project:other")},
		oxbow.Add{
			Name:    "archive",
			Kind:    oxbow.Archive,
			Content: "We ship the app on Tuesdays",
			Labels:  labels(t, "project:vtt"),
		},
		oxbow.Add{Name: "kept", Content: "Anna likes dark mode", Labels: labels(t, "tag:keep")},
		oxbow.Add{Name: "longer", Content: "Anna likes the dark mode everywhere"},
		oxbow.Add{Name: "sky", Content: "blue"}, oxbow.Add{Name: "sea", Content: "blue"},
	)
	var seen [][2]int // Progress must be reported once for each of the eight notes.
	dups, err := FindDuplicates(t.Context(), m, func(done, total int) { seen = append(seen, [2]int{done, total}) })
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range seen {
		if len(seen) != 8 || s != [2]int{i + 1, 8} {
			t.Fatalf("progress = %d", seen)
		}
	}
	var got []string
	for _, g := range dups {
		got = append(got, fmt.Sprintf("%s into %s, %v", g.DroppedEntry.Name, g.KeptEntry.Name, g.Exact))
	}
	if want := []string{"ship into deploy, false", "again into deploy, false"}; !slices.Equal(got, want) {
		t.Fatalf("Duplicates() = %q, want %q", got, want)
	}
	if err := RemoveDuplicates(t.Context(), m, dups, false); err != nil {
		t.Fatal(err)
	}
	e, err := m.Get(t.Context(), "ship") // Get the entry by the removed entry's name, which is an alias now.
	if err != nil || e.Name != "deploy" || e.Content != "We ship the app on Tuesdays, at nine" ||
		!slices.Equal(e.Aliases, []string{"rollout", "ship", "release", "again"}) ||
		!slices.Equal(
			e.Labels,
			labels(t, "confidence:0.5", "from:again@1", "from:ship@1", "project:vtt", "tag:a", "tag:b"),
		) {
		t.Errorf("Get(ship) = %+v, %v", e, err)
	}
	if left, err := FindDuplicates(t.Context(), m, nil); err != nil || len(left) != 0 {
		t.Errorf("Duplicates() again = %+v, %v", left, err)
	}
	if _, undone, err := m.Undo(t.Context(), 1); err != nil || len(undone) != 1 {
		t.Fatalf("Undo() = %+v, %v", undone, err)
	}
	if again, err := FindDuplicates(t.Context(), m, nil); err != nil || len(again) != 2 {
		t.Errorf("after an undo: %+v, %v", again, err)
	}
}

// TestConsolidateChanged tests that an entry that has changed since it was compared is not merged.
func TestConsolidateChanged(t *testing.T) {
	m := open(t)
	apply(
		t,
		m,
		oxbow.Add{Name: "a", Content: "one two three four"},
		oxbow.Add{Name: "b", Content: "one two three four"},
	)
	dups, err := FindDuplicates(t.Context(), m, nil)
	if err != nil || len(dups) != 1 || !dups[0].Exact {
		t.Fatalf("Duplicates() = %+v, %v", dups, err)
	}
	apply(t, m, oxbow.Update{Name: "b", Content: "five"})
	if err := RemoveDuplicates(t.Context(), m, dups, false); !errors.Is(err, oxbow.ErrConflict) {
		t.Errorf("Consolidate() = %v", err)
	}
	if e, err := m.Get(t.Context(), "b"); err != nil || e.Content != "five" {
		t.Errorf("Get(b) = %+v, %v", e, err)
	}
}

// TestConsolidateLimits tests that an entry is kept if merging it would result in too many names.
func TestConsolidateLimits(t *testing.T) {
	m := open(t)
	for i := range oxbow.MaxAliases + 3 {
		apply(t, m, oxbow.Add{Name: fmt.Sprint("n", i), Content: "one two three four"})
	}
	dups, err := FindDuplicates(t.Context(), m, nil)
	if err != nil || len(dups) != oxbow.MaxAliases {
		t.Fatalf("Duplicates() = %d dups, %v", len(dups), err)
	}
	if err := RemoveDuplicates(t.Context(), m, dups, false); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range m.Entries(t.Context(), oxbow.Filter{}) {
		n++
		if err != nil {
			t.Fatal(err)
		}
	}
	if n != 3 {
		t.Errorf("%d entries, want 3", n)
	}
}

// TestConsolidateWithoutHistory tests that nothing is merged in a memory without a history, because an undo would be
// impossible.
func TestConsolidateWithoutHistory(t *testing.T) {
	s, err := crmem.Open("memory.db", &oxbow.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	m := oxbow.New(s, nil)
	defer m.Close()
	apply(
		t,
		m,
		oxbow.Add{Name: "a", Content: "one two three four"},
		oxbow.Add{Name: "b", Content: "one two three four"},
	)
	dups, err := FindDuplicates(t.Context(), m, nil)
	if err != nil || len(dups) != 1 {
		t.Fatalf("Duplicates() = %+v, %v", dups, err)
	}
	if err := RemoveDuplicates(t.Context(), m, dups, false); !errors.Is(err, oxbow.ErrUnsupported) {
		t.Errorf("Consolidate() = %v", err)
	}
	if err := RemoveDuplicates(t.Context(), m, nil, false); err != nil {
		t.Errorf("Consolidate() of nothing = %v", err)
	}
}

// TestConsolidateLeavesHeldBack tests that an entry that is held back from models is neither removed nor the remaining
// entry.
func TestConsolidateLeavesHeldBack(t *testing.T) {
	for _, held := range []string{oxbow.LabelTaint, oxbow.LabelSuspect, oxbow.LabelQuarantine} {
		for _, longer := range []bool{false, true} {
			m := open(t)
			clean, other := "We ship the app on Tuesdays", "We ship the app on Tuesdays, at nine"
			if !longer {
				clean, other = other, clean
			}
			apply(
				t,
				m,
				oxbow.Add{Name: "clean", Content: clean},
				oxbow.Add{Name: "other", Content: other, Labels: []oxbow.Label{{Key: held, Value: "x"}}},
			)
			dups, err := FindDuplicates(t.Context(), m, nil)
			if err != nil || len(dups) != 0 {
				t.Errorf("Duplicates with %s = %v, %v, want none", held, dups, err)
			}
			var es []oxbow.Entry
			for e, err := range m.Entries(t.Context(), oxbow.Filter{}) {
				if err != nil {
					t.Fatal(err)
				}
				es = append(es, e)
			}
			// Simulate that one of the entries was held back after FindDuplicates had found the pair.
			for i := range es {
				if err := RemoveDuplicates(
					t.Context(),
					m,
					[]Duplicate{{DroppedEntry: es[i], KeptEntry: es[1-i]}},
					false,
				); !errors.Is(err, oxbow.ErrInvalid) {
					t.Errorf("Consolidate with %s = %v, want an error", held, err)
				}
			}
		}
	}
}
