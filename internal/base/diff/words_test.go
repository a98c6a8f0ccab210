// This file tests the words by which two lines differ.

package diff

import (
	"strings"
	"testing"
)

// marked returns the line with its changed parts in brackets.
func marked(parts []WordRun) string {
	var b strings.Builder
	for _, p := range parts {
		if p.IsChanged {
			b.WriteString("[" + p.Text + "]")
			continue
		}
		b.WriteString(p.Text)
	}
	return b.String()
}

func TestWords(t *testing.T) {
	for _, tc := range []struct{ before, after, wantBefore, wantAfter string }{
		{"We ship on Fridays at noon.", "We ship on Mondays at noon.", "We ship on [Fridays] at noon.",
			"We ship on [Mondays] at noon."},
		{"The timeout is 30 s.", "The timeout is now 45 s.", "The timeout is [30] s.", "The timeout is [now 45] s."},
		{"a, b, c and more", "a, c and more", "a, [b, ]c and more", "a, c and more"},
		{"泊位 14 每晚只能停一艘船。", "泊位 15 每晚只能停一艘船。", "泊位 [14] 每晚只能停一艘船。", "泊位 [15] 每晚只能停一艘船。"},
		{"We ship on Fridays.", "Nobody answers the phone.", "", ""},
		{"", "new", "", ""},
	} {
		a, b := CompareLinesByWord(tc.before, tc.after)
		if marked(a) != tc.wantBefore || marked(b) != tc.wantAfter {
			t.Errorf("Words(%q, %q) = %q, %q; want %q, %q", tc.before, tc.after, marked(a), marked(b),
				tc.wantBefore, tc.wantAfter)
		}
	}
}

// FuzzWords checks that the parts of a line, put together, are the whole line.
func FuzzWords(f *testing.F) {
	f.Add("We ship on Fridays.", "We ship on Mondays.")
	f.Add("a\xff b", "a b")
	f.Fuzz(func(t *testing.T, before, after string) {
		before, after = strings.ToValidUTF8(before, "?"), strings.ToValidUTF8(after, "?")
		a, b := CompareLinesByWord(before, after)
		if a == nil && b == nil {
			return
		}
		if plain(a) != before || plain(b) != after {
			t.Errorf("Words(%q, %q) = %v, %v", before, after, a, b)
		}
	})
}

func plain(parts []WordRun) (s string) {
	for _, p := range parts {
		s += p.Text
	}
	return s
}
