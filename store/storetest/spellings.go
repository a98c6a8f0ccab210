// This file tests names that differ only in their Unicode composition.

package storetest

import (
	"errors"
	"slices"
	"testing"

	"github.com/oxbow-memory/oxbow"
)

// Two spellings of the same name. "é" is a single character in the first, and a letter
// with a combining mark in the second.
const (
	composedName   = "caf\u00e9"
	decomposedName = "cafe\u0301"
)

// testUnicodeSpellings tests an entry whose name contains é. The letter é has two Unicode spellings: one character, or
// two characters. testUnicodeSpellings writes and reads the entry with both spellings, and checks that the store has
// only one entry, whose name has the short spelling. Finally it forgets the entry by the long spelling.
func testUnicodeSpellings(t *testing.T, s oxbow.Store, features Can) {
	m, ctx := oxbow.New(s, nil), t.Context()
	for i, name := range []string{decomposedName, composedName, decomposedName} {
		content := []string{"one", "two", "three"}[i]
		if e, err := m.Remember(ctx, oxbow.Entry{Name: name, Content: content}); err != nil || e.Content != content {
			t.Fatalf("Remember(%+q) = %+v, %v", name, e, err)
		}
	}
	if got := entryNames(listEntries(t, s, oxbow.Filter{})); !slices.Equal(got, []string{composedName}) {
		t.Errorf("the names are %+q, want %+q alone", got, composedName)
	}
	for _, name := range []string{composedName, decomposedName} {
		if e := getEntry(t, m, name); e.Content != "three" {
			t.Errorf("Get(%+q) = %q, want three", name, e.Content)
		}
	}
	if features.Labels {
		checkLabelSpellings(t, m)
	}
	if features.Aliases {
		checkAliasSpellings(t, m)
	}
	if err := m.Forget(ctx, decomposedName); err != nil {
		t.Errorf("Forget(%+q) = %v", decomposedName, err)
	}
	if got := listEntries(t, s, oxbow.Filter{}); len(got) != 0 {
		t.Errorf("%d entries are left", len(got))
	}
}

// checkLabelSpellings checks that an entry is found by both Unicode spellings of é in its tag.
func checkLabelSpellings(t *testing.T, m *oxbow.Memory) {
	t.Helper()
	applyOps(
		t,
		m,
		oxbow.Relabel{Name: decomposedName, Labels: []oxbow.Label{{Key: "tag", Value: "p" + decomposedName}}},
	)
	for _, value := range []string{"p" + composedName, "p" + decomposedName} {
		f := oxbow.Filter{Terms: []oxbow.Term{{Key: "tag", Values: []string{value}}}}
		if got := entryNames(listEntries(t, m, f)); len(got) != 1 {
			t.Errorf("Entries(%+q) = %q, want one", f, got)
		}
		if hits, err := m.Recall(t.Context(), oxbow.Query{Text: "three", Filter: f}); err != nil || len(hits) != 1 {
			t.Errorf("Recall(%+q) = %v, %v, want one hit", f, hits, err)
		}
	}
}

// checkAliasSpellings adds an alias to the entry decomposedName in two Unicode spellings, with composed and decomposed
// characters. The entry must then have only the composed spelling. A new entry with the same alias must be refused with
// an AliasError.
func checkAliasSpellings(t *testing.T, m *oxbow.Memory) {
	t.Helper()
	applyOps(t, m, oxbow.Alias{Name: decomposedName, Aliases: []string{"a" + decomposedName, "a" + composedName}})
	if e := getEntry(t, m, "a"+decomposedName); !slices.Equal(e.Aliases, []string{"a" + composedName}) {
		t.Errorf("the aliases are %+q, want one, composed", e.Aliases)
	}
	taken := oxbow.Entry{Name: "other", Content: "x", Aliases: []string{"a" + decomposedName}}
	if _, err := m.Remember(t.Context(), taken); !errors.As(err, new(*oxbow.AliasError)) {
		t.Errorf("Remember() with the alias of another entry = %v, want an AliasError", err)
	}
}

// testOldSpellings tests a store from before names were normalized. The store contains one entry for each spelling of
// a name, and each entry must be found by its own spelling.
func testOldSpellings(t *testing.T, s oxbow.Store, _ Can) {
	applyOps(t, s, oxbow.Add{Name: decomposedName, Content: "old"})
	m, ctx := oxbow.New(s, nil), t.Context()
	if e := getEntry(t, m, composedName); e.Content != "old" {
		t.Errorf("Get(%+q) = %q, want old", composedName, e.Content)
	}
	err := s.Apply(ctx, oxbow.Add{Name: composedName, Content: "new"})
	if errors.Is(err, oxbow.ErrExists) {
		// The store normalizes names, like a Memory or a server does. It cannot contain two entries whose names differ
		// only in the Unicode spelling of é, so the rest of the test does not apply.
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{decomposedName, composedName} {
		content := map[string]string{decomposedName: "old", composedName: "new"}[name]
		if e := getEntry(t, m, name); e.Name != name || e.Content != content {
			t.Errorf("Get(%+q) = %+v, want %q", name, e, content)
		}
		if e, err := m.Remember(ctx, oxbow.Entry{Name: name, Content: content + " changed"}); err != nil ||
			e.Name != name {
			t.Errorf("Remember(%+q) = %+v, %v", name, e, err)
		}
	}
	if err := m.Forget(ctx, composedName); err != nil {
		t.Error(err)
	}
	if e := getEntry(t, m, composedName); e.Content != "old changed" {
		t.Errorf("Get(%+q) = %q, want what the other spelling has", composedName, e.Content)
	}
}
