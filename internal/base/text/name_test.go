// This file tests the names that are derived from texts. Each must be a valid name for an entry.

package text_test

import (
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

func TestNameOf(t *testing.T) {
	sixty := strings.Repeat("x", 60)
	for _, tc := range []struct{ content, want string }{
		{"Rate limits", "Rate limits"},
		{"Rate limits\nare per key", "Rate limits"},
		{"# Rate limits\n\nare per key", "Rate limits"},
		{"\n\n \t\n## Rate  \t limits ##", "Rate limits ##"},
		{"---\ntitle: x\n---\n", "title: x"},
		{"> quoted", "quoted"},
		{"- a point", "a point"},
		{"* + - nested", "nested"},
		{"**bold** first", "bold** first"},
		{"**Bold title**", "Bold title"},
		{"`code`", "code"},
		{"_", "note"},
		{"", "note"},
		{" \n***\n---\n", "note"},
		{"\r\nWindows\r\n", "Windows"},
		{"\ufeff# With a byte order mark", "With a byte order mark"},
		{"a\x1b[31mred\u0085line", "a [31mred line"},
		{"\u3000日本\u3000", "日本"},
		{sixty, sixty},
		{sixty + "y", sixty},
		{
			"the quick brown fox jumps over the lazy dog and then it sleeps in the sun",
			"the quick brown fox jumps over the lazy dog and then it",
		},
		// Cutting at the space would leave too little of the text.
		{"short " + strings.Repeat("y", 80), "short " + strings.Repeat("y", 54)},
		{strings.Repeat("é", 40), strings.Repeat("é", 30)},
		{strings.Repeat("x", 59) + "é", strings.Repeat("x", 59)}, // A character must not be cut in two.
	} {
		if got := text.DeriveName(tc.content); got != tc.want {
			t.Errorf("DeriveName(%q) = %q, want %q", tc.content, got, tc.want)
		}
	}
}

func FuzzNameOf(f *testing.F) {
	for _, s := range []string{"# Title\ntext", "\ufeff\ufeff# x", "** `x` **", strings.Repeat("é ", 50),
		"\u2028x\u2029", strings.Repeat("\u3000", 30) + "x", "\u0085x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, content string) {
		if oxbow.CheckContent(content) != nil {
			return
		}
		name := text.DeriveName(content)
		if err := oxbow.CheckName(name); err != nil || len(name) > 60 {
			t.Errorf("DeriveName(%q) = %q of %d bytes, %v, want a name of at most 60", content, name, len(name), err)
		}
	})
}
