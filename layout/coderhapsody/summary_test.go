// This file tests the texts of digests, which are the summaries that replace the logs of several days.

package coderhapsody

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
)

func TestByRule(t *testing.T) {
	day := time.Date(2026, 4, 14, 0, 0, 0, 0, time.UTC)
	g := &digestEntryGroup{labelListTitle: "project:vtt", entries: []oxbow.Entry{
		{
			Name:    "2026-04-14",
			Kind:    oxbow.Journal,
			Created: day,
			Content: "# A day\n\nWords  of\nthe day.\n\nMore.\n\n```\n# no heading\n```\n\n## Rejected\n\n- hexes\n- " +
				"triangles\n\n## Empty\n",
		},
		{Name: "2026-04-14 Squares.", Kind: oxbow.Journal, Created: day.Add(time.Hour), Content: "Squares."},
		{
			Name:    "house rules",
			Kind:    oxbow.Note,
			Created: day.Add(24 * time.Hour),
			Content: "Test first.\n\n## Why\n\nIt pays.",
		},
		{
			Name:    "week-2026-W15 project:vtt",
			Kind:    oxbow.Archive,
			Created: day,
			Content: "# week-2026-W15: project:vtt\n\n" + composedDigestOpening +
				"2 entries; recall finds them whole.\n\n## 2026-04-07\n\n- One.\n- Two.",
		},
		{Name: "blank", Created: day, Content: " \n"},
	}}
	const want = `# week-2026-W16: project:vtt

The beginnings of 5 entries; recall finds them whole.

## 2026-04-14

- A day: Words of the day.
- Rejected: hexes; triangles
- Empty
- Squares.

## 2026-04-15

- house rules: Test first.
- Why: It pays.

## week-2026-W15

- 2026-04-07: One.; Two.

## 2026-04-14

- blank`
	all, _ := g.sectionsOfEntries(time.UTC)
	if got := writeDigest("week-2026-W16", g, all, 4000); got != want {
		t.Errorf("byRule() =\n%s\nwant\n%s", got, want)
	}
}

func TestBeginning(t *testing.T) {
	for _, tt := range []struct {
		text string
		n    int
		want string
	}{
		{"", 10, ""},
		{"Short.", 10, "Short."},
		{"One two. Three four five.", 12, "One two."},
		{"One. Two three four five six.", 20, "One. Two three four…"},
		{strings.Repeat("x", 30), 10, strings.Repeat("x", 10) + "…"},
		{strings.Repeat("é", 10), 5, "éé…"},
		{"First\nparagraph.\n\nSecond.", 100, "First paragraph."},
	} {
		got := firstParagraph(tt.text, tt.n)
		if got != tt.want || !utf8.ValidString(got) {
			t.Errorf("beginning(%q, %d) = %q, want %q", tt.text, tt.n, got, tt.want)
		}
	}
}

// TestShortEntriesAreTheirDigest checks that a digest is not longer than its entries.
func TestShortEntriesAreTheirDigest(t *testing.T) {
	g := &digestEntryGroup{
		entries: []oxbow.Entry{
			{Name: "2026-04-14", Content: "Squares, not hexes.\n"},
			{Name: "2026-04-15", Content: "Tuesdays."},
		},
	}
	if got := chooseDigestText("week-2026-W16", g, time.UTC); got != "Squares, not hexes.\n\nTuesdays." {
		t.Errorf("shorter() = %q", got)
	}
	g.entries[0].Content = strings.Repeat("It took a while. ", 100)
	if got := chooseDigestText("week-2026-W16", g, time.UTC); got != composeDigestText("week-2026-W16", g, time.UTC) {
		t.Errorf("shorter() of a long entry = %q", got)
	}
}
