// This file tests what is merged, what is not, and that it is one change.

package consolidate

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/crmem"
	"github.com/oxbow-memory/oxbow/vfs"
)

func open(t *testing.T) *oxbow.Memory {
	t.Helper()
	m, err := oxbow.Open("m.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		rep, err := m.Check(t.Context())
		if err == nil {
			for _, p := range rep.Problems {
				t.Errorf("Check() found: %s", p.What)
			}
		}
		_ = m.Close()
	})
	return m
}

func labels(words ...string) (ls []oxbow.Label) {
	for _, w := range words {
		l, err := oxbow.ParseLabel(w)
		if err != nil {
			panic(err)
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

func TestMerge(t *testing.T) {
	m := open(t)
	apply(t, m,
		oxbow.Add{Name: "ship", Content: "We ship the app on Tuesdays", Aliases: []string{"release"}, Labels: labels("tag:a", "confidence:0.9", "project:vtt")},
		oxbow.Add{Name: "deploy", Content: "We ship the app on Tuesdays, at nine", Aliases: []string{"rollout"}, Labels: labels("tag:b", "confidence:0.5", "project:vtt")},
		oxbow.Add{Name: "again", Content: "we ship  the app on Tuesdays.", Labels: labels("project:vtt")},
		oxbow.Add{Name: "elsewhere", Content: "We ship the app on Tuesdays", Labels: labels("project:other")},
		oxbow.Add{Name: "archive", Kind: oxbow.Archive, Content: "We ship the app on Tuesdays", Labels: labels("project:vtt")},
		oxbow.Add{Name: "kept", Content: "Anna likes dark mode", Labels: labels("tag:keep")},
		oxbow.Add{Name: "longer", Content: "Anna likes the dark mode everywhere"},
		oxbow.Add{Name: "sky", Content: "blue"}, oxbow.Add{Name: "sea", Content: "blue"},
	)
	merges, err := Find(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, g := range merges {
		got = append(got, fmt.Sprintf("%s into %s, %v", g.Drop.Name, g.Keep.Name, g.Exact))
	}
	if want := []string{"ship into deploy, false", "again into deploy, false"}; !slices.Equal(got, want) {
		t.Fatalf("Find() = %q, want %q", got, want)
	}
	if err := Apply(t.Context(), m, merges); err != nil {
		t.Fatal(err)
	}
	e, err := m.Get(t.Context(), "ship") // by what is an alias now
	if err != nil || e.Name != "deploy" || e.Content != "We ship the app on Tuesdays, at nine" ||
		!slices.Equal(e.Aliases, []string{"rollout", "ship", "release", "again"}) || !slices.Equal(e.Labels, labels("confidence:0.5", "project:vtt", "tag:a", "tag:b")) {
		t.Errorf("Get(ship) = %+v, %v", e, err)
	}
	if left, err := Find(t.Context(), m); err != nil || len(left) != 0 {
		t.Errorf("Find() again = %+v, %v", left, err)
	}
	if _, undone, err := m.Undo(t.Context(), 1); err != nil || len(undone) != 1 {
		t.Fatalf("Undo() = %+v, %v", undone, err)
	}
	if again, err := Find(t.Context(), m); err != nil || len(again) != 2 {
		t.Errorf("after an undo: %+v, %v", again, err)
	}
}

// What was changed since it was looked at is not merged.
func TestChangedMeanwhile(t *testing.T) {
	m := open(t)
	apply(t, m, oxbow.Add{Name: "a", Content: "one two three four"}, oxbow.Add{Name: "b", Content: "one two three four"})
	merges, err := Find(t.Context(), m)
	if err != nil || len(merges) != 1 || !merges[0].Exact {
		t.Fatalf("Find() = %+v, %v", merges, err)
	}
	apply(t, m, oxbow.Update{Name: "b", Content: "five"})
	if err := Apply(t.Context(), m, merges); !errors.Is(err, oxbow.ErrConflict) {
		t.Errorf("Apply() = %v", err)
	}
	if e, err := m.Get(t.Context(), "b"); err != nil || e.Content != "five" {
		t.Errorf("Get(b) = %+v, %v", e, err)
	}
}

// An entry that would have more names than one can have stays.
func TestLimits(t *testing.T) {
	m := open(t)
	for i := range oxbow.MaxAliases + 3 {
		apply(t, m, oxbow.Add{Name: fmt.Sprint("n", i), Content: "one two three four"})
	}
	merges, err := Find(t.Context(), m)
	if err != nil || len(merges) != oxbow.MaxAliases {
		t.Fatalf("Find() = %d merges, %v", len(merges), err)
	}
	if err := Apply(t.Context(), m, merges); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range m.Entries(t.Context(), oxbow.Filter{}) {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	if n != 3 {
		t.Errorf("%d entries, want 3", n)
	}
}

// Without a way back nothing is merged.
func TestWithoutHistory(t *testing.T) {
	s, err := crmem.Open("memory.db", &oxbow.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	m := oxbow.New(s, nil)
	defer m.Close()
	apply(t, m, oxbow.Add{Name: "a", Content: "one two three four"}, oxbow.Add{Name: "b", Content: "one two three four"})
	merges, err := Find(t.Context(), m)
	if err != nil || len(merges) != 1 {
		t.Fatalf("Find() = %+v, %v", merges, err)
	}
	if err := Apply(t.Context(), m, merges); !errors.Is(err, oxbow.ErrUnsupported) {
		t.Errorf("Apply() = %v", err)
	}
	if err := Apply(t.Context(), m, nil); err != nil {
		t.Errorf("Apply() of nothing = %v", err)
	}
}
