// This file tests the format of an entry's file.

package team

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
)

// equalEntries reports whether the entries a and b have the same text in the format of package mdtree. This format
// loses nothing, so different entries have different texts.
func equalEntries(a, b oxbow.Entry) bool { return mdtree.FormatEntry(a) == mdtree.FormatEntry(b) }

// TestFormat tests that FormatEntry writes an entry as the text that reviewers should see.
func TestFormat(t *testing.T) {
	e := oxbow.Entry{
		Name:    "card network",
		Content: "The card network takes 31 seconds to answer.\n",
		Aliases: []string{"PSP", "yes"},
		Labels: []oxbow.Label{{Key: "tag", Value: "payments"}, {Key: "tag", Value: "lesson"},
			{Key: "project", Value: "harbor"}, {Key: "file", Value: "billing/retry.go:7-9"},
			{Key: "status", Value: "open"}},
		Created: time.Date(2026, 4, 18, 9, 30, 0, 0, time.UTC),
	}
	want := `---
name: card network
aliases: [PSP, "yes"]
project: harbor
tags: [lesson, payments]
related_files: ["billing/retry.go:7-9"]
labels: ["status:open"]
created: 2026-04-18T09:30:00Z
lines_after: "\n"
---

The card network takes 31 seconds to answer.
`
	if got := FormatEntry(e); got != want {
		t.Errorf("Format() = %s, want %s", got, want)
	}
}

// TestFormatRoundTrip checks that entries are unchanged after they were written and read, also in the format of
// earlier versions.
func TestFormatRoundTrip(t *testing.T) {
	for what, e := range map[string]oxbow.Entry{
		"a name":    {Name: "a"},
		"no text":   {Name: "a", Content: "\n\r\n\n"},
		"line ends": {Name: "a", Content: "\r\n\n text\r\rmore \n\r"},
		"a rule":    {Name: "a", Content: "---\nname: b\n---\nx"},
		"a block":   {Name: "a", Content: "<div id=\"meta\">\n</div>\n"},
		"odd names": {
			Name:    "#: [a], {b}'\"\\",
			Aliases: []string{"true", "12", "2026-04-18", "null", "- x", "\u00ad"},
		},
		"other writing": {Name: "港 größe \U0001F6A4", Content: "\u2028x\u0085"},
		"many labels": {
			Name:   "a",
			Labels: []oxbow.Label{{Key: "project", Value: "a"}, {Key: "project", Value: "b"}},
		},
		"label values":   {Name: "a", Labels: []oxbow.Label{{Key: "tag", Value: "a, b"}, {Key: "x", Value: "y: #z"}}},
		"a fraction":     {Name: "a", Created: time.Unix(1767225600, 1).UTC()},
		"an early time":  {Name: "a", Created: time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC)},
		"the year 10000": {Name: "a", Created: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		for _, text := range []string{FormatEntry(e), mdtree.FormatEntry(e)} {
			got, notes, err := parseEntry(text)
			if err != nil || len(notes) > 0 || !equalEntries(got, e) {
				t.Errorf("%s: parseEntry(%q) = %+v, %q, %v", what, text, got, notes, err)
			}
		}
	}
}

// TestParseHandwritten reads files as people write them by hand.
func TestParseHandwritten(t *testing.T) {
	for text, want := range map[string]oxbow.Entry{
		"---\nname: a\n---\nx":       {Name: "a", Content: "x"},
		"\ufeff---\nname: 12\n...\n": {Name: "12"},
		"---\r\nname: a\r\ntags:\r\n  - b\r\n  - c\r\n---\r\n\r\nx\r\ny\r\n": {Name: "a", Content: "x\ny",
			Labels: []oxbow.Label{{Key: "tag", Value: "b"}, {Key: "tag", Value: "c"}}},
		"---\nname: a # comment\ntags: b\naliases:\ncreated: 2026-04-18\n---\n\n\n\nx\n\n": {Name: "a", Content: "x",
			Labels: []oxbow.Label{{Key: "tag", Value: "b"}}, Created: time.Date(2026, 4, 18, 0, 0, 0, 0, time.UTC)},
	} {
		got, notes, err := parseEntry(text)
		if err != nil || len(notes) > 0 || !equalEntries(got, want) {
			t.Errorf("parseEntry(%q) = %+v, %q, %v", text, got, notes, err)
		}
	}
}

// TestOtherKeysAreKept reads keys that oxbow does not know. They must still be there after oxbow has written the file
// again.
func TestOtherKeysAreKept(t *testing.T) {
	long := strings.Repeat("long ", 200)
	for text, want := range map[string]oxbow.Entry{
		"---\nname: a\nOwner: ada\nreview-by: [bob, 2026-04-18]\n---\nx": {Name: "a", Content: "x",
			Labels: []oxbow.Label{{Key: "owner", Value: "ada"}, {Key: "review_by", Value: "2026-04-18"},
				{Key: "review_by", Value: "bob"}}},
		"---\nname: a\nowner: {name: ada, teams: [x, y]}\nkind: note\nempty:\n---\nx": {Name: "a", Content: "x",
			Labels: []oxbow.Label{{Key: "owner_name", Value: "ada"}, {Key: "owner_teams", Value: "x"},
				{Key: "owner_teams", Value: "y"}}},
		"---\nname: a\nsummary: " + long + "\n---\n\nx\n": {Name: "a",
			Content: "summary: " + strings.TrimSpace(long) + "\n\nx"},
		"---\nname: a\nby: ada\ncreated: soon\nlines_after: \"\\n\"\n---\n": {Name: "a",
			Content: "by: ada\n\ncreated: soon\n"},
	} {
		got, _, err := parseEntry(text)
		if err != nil || !equalEntries(got, want) {
			t.Errorf("parseEntry(%q) = %+v, %v, want %+v", text, got, err, want)
		}
		again, notes, err := parseEntry(FormatEntry(got))
		if err != nil || len(notes) > 0 || !equalEntries(again, got) {
			t.Errorf("after %q was written again, parseEntry = %+v, %q, %v", text, again, notes, err)
		}
	}
}

func TestParseMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"---\ntags: [a]\n---\nx":                     "does not say the entry's name",
		"---\nname: [a]\n---\nx":                     "has a mistake in line 2: name is a list; write a single value",
		"---\nname: a\ntags: {b: c}\n---\nx":         "has a mistake in line 3: tags is not a list of words",
		"---\nname: a\nlabels: [b]\n---\nx":          "has a mistake in line 3",
		"---\nname: a\nname: b\n---\nx":              "has a mistake in line 3: the key name is there twice",
		"---\nname: &x a\n---\nx":                    "anchor",
		"---\n- a\n---\nx":                           "has a mistake in line 2: is a list",
		"---\nname: a\nlines_after: x\n---\nx":       "not a list of line ends",
		"---\nname: \"a\n---\nx":                     "is not YAML",
		"---\nname: a\nby: me\n---\nx":               `has the key "by" with "me", which cannot be a label`,
		"---\nname: a\ncreated: yesterday\n---\nx":   `has the key "created" with "yesterday", which is not a date`,
		"---\nname: a\nno end of the front matter\n": "does not say the entry's name",
	} {
		_, notes, err := parseEntry(text)
		got := strings.Join(notes, "; ")
		if err != nil {
			got += err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("parseEntry(%q): %q, want %q", text, got, want)
		}
	}
}

// FuzzFormat checks that a file that can be read is read in the same way after it was written again.
func FuzzFormat(f *testing.F) {
	f.Add(noteFile("a", "one\ntwo"))
	f.Add("---\nname: a\nlabels: [\"b:c\"]\nlines_before: \"\\r\"\n---\n\nx\n")
	f.Add(mdtree.FormatEntry(oxbow.Entry{Name: "a", Aliases: []string{"b"}, Content: "\n"}))
	f.Fuzz(func(t *testing.T, text string) {
		e, _, err := parseEntry(text)
		if err != nil || len(FormatEntry(e)) > maxFileBytes || mdtree.HasConflictMarkers(FormatEntry(e)) {
			return
		}
		again, notes, err := parseEntry(FormatEntry(e))
		if err != nil || len(notes) > 0 || !equalEntries(again, e) || !slices.Equal(again.Aliases, e.Aliases) {
			t.Errorf(
				"%q is read as %+v, and written as %q, which is read as %+v, %q, %v",
				text,
				e,
				FormatEntry(e),
				again,
				notes,
				err,
			)
		}
	})
}
