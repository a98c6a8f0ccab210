// This file tests how a context is cut to a number of bytes.

package prompt

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTextWithin(t *testing.T) {
	const rest = "The file has all."
	facts := strings.Repeat("One fact of many.\n\n", 100)
	large := Part{Name: "memory", Source: "MEMORY.md", IsPinned: true}.WithFrame("<memory>\n", facts, "</memory>\n")
	other := Part{Name: "other", Source: "OTHER.md", IsPinned: true}.WithFrame("<other>\n", facts, "</other>\n")
	small := Part{Name: "identity", Text: "I am small.\n", IsPinned: true}
	log := Part{Name: "log", Text: strings.Repeat("log\n", 500)}
	for _, tt := range []struct {
		name  string
		parts []Part
		limit int
		want  []string
		not   string
	}{
		{"all fits", []Part{large, small}, 5000, []string{large.Text, small.Text}, "Cut to fit"},
		{"small parts are whole", []Part{large, small}, 1000,
			[]string{"<memory>\nOne fact", "[… cut here]</memory>", small.Text, `(Cut to fit: "MEMORY.md". ` + rest +
				")"},
			"none"},
		{"large parts share", []Part{large, other}, 3000,
			[]string{"<memory>\nOne", "<other>\nOne", `"MEMORY.md", "OTHER.md"`}, "none"},
		{"pinned parts come first", []Part{log, small}, 500, []string{small.Text, "log\n[… cut here]", `"log"`},
			"none"},
	} {
		var c Context
		c.Add(tt.parts...)
		got := c.TextWithin(tt.limit, rest)
		if len(got) > tt.limit {
			t.Errorf("%s: %d bytes, want at most %d", tt.name, len(got), tt.limit)
		}
		for _, w := range tt.want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: %q, want %q in it", tt.name, got, w)
			}
		}
		if strings.Contains(got, tt.not) {
			t.Errorf("%s: %q, want no %q in it", tt.name, got, tt.not)
		}
	}
}

func FuzzCutAtParagraph(f *testing.F) {
	f.Add("one\n\ntwo\n\nthree", 9)
	f.Add("ééé\r\n\r\né", 5)
	f.Fuzz(func(t *testing.T, s string, limit int) {
		got := cutAtParagraph(s, limit)
		switch {
		case !strings.HasPrefix(s, got):
			t.Errorf("cutAtParagraph(%q, %d) = %q is no beginning", s, limit, got)
		case len(got) > max(limit, 0):
			t.Errorf("cutAtParagraph(%q, %d) has %d bytes", s, limit, len(got))
		case utf8.ValidString(s) && !utf8.ValidString(got):
			t.Errorf("cutAtParagraph(%q, %d) = %q cuts a character", s, limit, got)
		}
		p := Part{}.WithFrame("<a>", s, "</a>")
		if cut := p.shortenBody(limit); len(cut) > max(limit, 0) {
			t.Errorf("cutFramed(%d) of %q has %d bytes", limit, s, len(cut))
		}
	})
}
