// This file tests the contract of Get and Entries: order, filters, names and contents.

package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
)

func testListOrder(t *testing.T, s oxbow.Store, _ Can) {
	for _, n := range []string{"c", "a", "b"} {
		applyOps(t, s, oxbow.Add{Name: n, Content: n})
	}
	applyOps(t, s, oxbow.Update{Name: "c", Content: "x"})
	es := listEntries(t, s, oxbow.Filter{})
	if !slices.IsSortedFunc(es, func(a, b oxbow.Entry) int { return int(a.ID) - int(b.ID) }) || len(es) != 3 {
		t.Errorf("entries = %q, not by ID", entryNames(es))
	}
	for range s.Entries(t.Context(), oxbow.Filter{}) {
		break // Test that a caller may stop the iteration before the last entry.
	}
}

func testFilter(t *testing.T, s oxbow.Store, features Can) {
	day := func(d int) time.Time { return time.Date(2026, 4, d, 12, 0, 0, 0, time.UTC) }
	applyOps(
		t,
		s,
		oxbow.Add{Name: "a", Content: "x", Created: day(1)},
		oxbow.Add{Name: "b", Content: "x", Created: day(2)},
	)
	created := day(2)
	before := []string{"a"}
	after := []string{"b"}
	if features.Created >= 24*time.Hour {
		// The tested store cannot store another creation time than the present, so the entries a and b have about the
		// same time.
		created = getEntry(t, s, "a").Created
		before = nil
		after = []string{"a", "b"}
		if b := getEntry(t, s, "b").Created; b.Before(created) {
			created = b
		}
	}
	f := oxbow.Filter{After: created}
	if got := entryNames(listEntries(t, s, f)); !slices.Equal(got, after) {
		t.Errorf("Entries(%s) = %q, want %q", f, got, after)
	}
	f = oxbow.Filter{Before: created}
	if got := entryNames(listEntries(t, s, f)); !slices.Equal(got, before) {
		t.Errorf("Entries(%s) = %q, want %q", f, got, before)
	}
	if features.Labels {
		applyOps(t, s, oxbow.Relabel{Name: "b", Labels: []oxbow.Label{{Key: "tag", Value: "x"}}})
		f = oxbow.Filter{Terms: []oxbow.Term{{Key: "tag", Values: []string{"y", "x"}}}}
		if got := entryNames(listEntries(t, s, f)); !slices.Equal(got, []string{"b"}) {
			t.Errorf("Entries(%s) = %q, want [b]", f, got)
		}
		f.Terms[0].Not = true
		if got := entryNames(listEntries(t, s, f)); !slices.Equal(got, []string{"a"}) {
			t.Errorf("Entries(%s) = %q, want [a]", f, got)
		}
	}
}

// testNames uses long names, names that look like paths, and names that differ only in letter case.
func testNames(t *testing.T, s oxbow.Store, can Can) {
	hard := []string{"a", "A", "a b", "a-b", "../../etc/passwd", "/abs", "a/b", `a\b`, "C:", "con", "é", "e\u0301",
		"日本語", "🦀", ".hidden", "..", "dot.", "%2e", strings.Repeat("n", 200), "#1", "- x", "a.md", "[x](y)", "<b>&amp;"}
	want := map[string]string{}
	for i, n := range hard {
		content := fmt.Sprint("content ", i)
		err := s.Apply(t.Context(), oxbow.Add{Name: n, Content: content})
		if errors.Is(err, oxbow.ErrInvalid) || errors.Is(err, oxbow.ErrUnsupported) {
			// A store may refuse the name, so do not test it further. But the store must not confuse two names.
			continue
		}
		if n == "e\u0301" && errors.Is(err, oxbow.ErrExists) {
			continue // A Memory treats both spellings of "é" as the same name, and the other one exists already.
		}
		if err != nil {
			t.Errorf("Add(%q) = %v", n, err)
			continue
		}
		want[n] = content
	}
	if len(want) == 0 {
		t.Fatal("every name was refused")
	}
	if can.Reopen != nil {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = can.Reopen(t)
		defer s.Close()
	}
	for n, content := range want {
		if e := getEntry(t, s, n); e.Content != content {
			t.Errorf("Get(%q) = %q, want %q", n, e.Content, content)
		}
	}
	if got := listEntries(t, s, oxbow.Filter{}); len(got) != len(want) {
		t.Errorf("%d entries, want %d", len(got), len(want))
	}
}

// testContents uses contents that a text format could misinterpret.
func testContents(t *testing.T, s oxbow.Store, features Can) {
	hard := []string{"", " ", "\n", "one\n", "one\n\n\n", "\n\none", "crlf\r\nline\r\n", "tab\tbed",
		"---\nname: evil\n---\nx",
		"## 10:00\n\nlooks like a day's entry", "<div id=\"meta\"></div>\nx", "</div>", "日本語 🦀", "# Heading",
		"a\n\n---\n\nb",
		strings.Repeat("long ", 20000)}
	want := map[string]string{}
	for i, c := range hard {
		n := fmt.Sprint("entry ", i)
		err := s.Apply(t.Context(), oxbow.Add{Name: n, Content: c})
		if errors.Is(err, oxbow.ErrInvalid) || errors.Is(err, oxbow.ErrUnsupported) {
			continue
		}
		if err != nil {
			t.Errorf("Add(content %.40q) = %v", c, err)
			continue
		}
		want[n] = c
	}
	if features.Reopen != nil {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = features.Reopen(t)
		defer s.Close()
	}
	for n, c := range want {
		if e := getEntry(t, s, n); e.Content != c {
			t.Errorf("content = %.60q, want %.60q", e.Content, c)
		}
	}
}
