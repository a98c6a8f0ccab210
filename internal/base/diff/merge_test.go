// This file tests merges. A table contains changes that people and programs make. Other tests check properties that
// hold for any three texts.

package diff

import (
	"slices"
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	for _, tt := range []struct {
		name, base, ours, theirs, want string
		clean                          bool
	}{
		{"no change", "a\nb\n", "a\nb\n", "a\nb\n", "a\nb\n", true},
		{"ours only", "a\nb\n", "a\nB\n", "a\nb\n", "a\nB\n", true},
		{"theirs only", "a\nb\n", "a\nb\n", "A\nb\n", "A\nb\n", true},
		{"both the same", "a\nb\n", "a\nx\n", "a\nx\n", "a\nx\n", true},
		{"far apart", "a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", "A\nb\nC\n", true},
		{"touching lines", "a\nb\n", "A\nb\n", "a\nB\n", "", false},
		{"the same line", "a\nb\nc\n", "a\nx\nc\n", "a\ny\nc\n", "", false},
		{"added at both ends", "b\nc\n", "a\nb\nc\n", "b\nc\nd\n", "a\nb\nc\nd\n", true},
		{"added at one place", "a\nc\n", "a\nx\nc\n", "a\ny\nc\n", "", false},
		{"removed and kept", "a\nb\nc\nd\ne\n", "a\nc\nd\ne\n", "a\nb\nc\nd\nE\n", "a\nc\nd\nE\n", true},
		{"removed and changed", "a\nb\nc\n", "a\nc\n", "a\nB\nc\n", "", false},
		{"emptied and changed", "a\nb\n", "", "a\nB\n", "", false},
		{"both from nothing", "", "a\n", "b\n", "", false},
		{"one from nothing", "", "a\n", "", "a\n", true},
		{"last line without end", "a\nb", "A\nb", "a\nb", "A\nb", true},
		{"an end was added", "a\nb\nc", "A\nb\nc", "a\nb\nc\n", "A\nb\nc\n", true},
		{"carriage returns stay", "a\r\nb\r\nc\r\n", "A\r\nb\r\nc\r\n", "a\r\nb\r\nC\r\n", "A\r\nb\r\nC\r\n", true},
		{"repeated lines", "x\nx\nx\ny\n", "x\nx\ny\n", "x\nx\nx\ny\nz\n", "x\nx\ny\nz\n", true},
	} {
		got, clean := MergeLines(tt.base, tt.ours, tt.theirs)
		if got != tt.want || clean != tt.clean {
			t.Errorf("%s: Lines() = %q, %v; want %q, %v", tt.name, got, clean, tt.want, tt.clean)
		}
	}
}

func TestLinesOfLongTexts(t *testing.T) {
	base := strings.Repeat("same\n", 50_000)
	ours, theirs := "first\n"+base, base+"last\n"
	if got, clean := MergeLines(base, ours, theirs); !clean || got != "first\n"+base+"last\n" {
		t.Errorf("Lines() of long texts: clean %v, %d bytes", clean, len(got))
	}
	// Two long texts that have no line in common with each other or with the base conflict. MergeLines must notice the
	// conflict without very long work.
	var a, b strings.Builder
	for range 20_000 {
		a.WriteString("a\n")
		b.WriteString("b\n")
	}
	if got, clean := MergeLines(base, a.String(), b.String()); clean {
		t.Errorf("Lines() of texts with nothing alike gave %d bytes", len(got))
	}
}

func FuzzLines(f *testing.F) {
	f.Add("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n")
	f.Add("a\nb", "", "b\n")
	f.Add("x\nx\ny\n", "x\ny\nx\n", "y\nx\nx\n")
	f.Fuzz(func(t *testing.T, base, ours, theirs string) {
		got, clean := MergeLines(base, ours, theirs)
		if back, c := MergeLines(base, theirs, ours); c != clean || back != got {
			t.Errorf("the roles matter: %q, %v and %q, %v", got, clean, back, c)
		}
		if one, c := MergeLines(base, ours, base); !c || one != ours {
			t.Errorf("Lines(b, o, b) = %q, %v; want %q", one, c, ours)
		}
		if same, c := MergeLines(base, ours, ours); !c || same != ours {
			t.Errorf("Lines(b, o, o) = %q, %v; want %q", same, c, ours)
		}
		if !clean {
			return
		}
		// Each line of the result comes from one of the three texts, and each line that only one side added is in the
		// result.
		from := slices.Concat(splitAfterNewlines(base), splitAfterNewlines(ours), splitAfterNewlines(theirs))
		for _, l := range splitAfterNewlines(got) {
			if !slices.Contains(from, l) && !slices.Contains(from, strings.TrimSuffix(l, "\n")) &&
				!strings.Contains(ours+theirs+base, l) {
				t.Errorf("line %q of the result is in none of the texts", l)
			}
		}
		for _, side := range []string{ours, theirs} {
			for _, l := range splitAfterNewlines(side) {
				if !slices.Contains(splitAfterNewlines(base), l) && !strings.Contains(got, l) {
					t.Errorf("line %q that was added is not in %q", l, got)
				}
			}
		}
	})
}
