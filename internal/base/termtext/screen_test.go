// This file tests the layout by columns, and the replacement of harmful characters.

package termtext

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestFit(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"short", 5, "short"}, {"shorter", 5, "shor…"}, {"two words", 5, "two…"}, {"日本語です", 5, "日本…"},
		{"e\u0301e\u0301", 2, "e\u0301e\u0301"},
		{"👨‍👩‍👧‍👦 family", 5, "👨‍👩‍👧‍👦 f…"}, {"🇩🇪🇫🇷", 3, "🇩🇪…"}, {Bold + "two words" + ResetStyle, 9, Bold +
			"two words" +
			ResetStyle},
	} {
		if got := ShortenToColumns(c.in, c.n); got != c.want || CountColumns(got) > c.n {
			t.Errorf("Fit(%q, %d) = %q of %d columns, want %q", c.in, c.n, got, CountColumns(got), c.want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		name, in string
		n        int
		want     []string
	}{
		{"fits as it is", "a   b", 5, []string{"a   b"}},
		{"at spaces", "one two three", 8, []string{"one two", "three"}},
		{
			"keeps lines and their indentation",
			"if x {\n  return one two\n}",
			10,
			[]string{"if x {", "  return", "  one two", "}"},
		},
		{"a path stays whole", "see /a/very/long/path now", 8, []string{"see", "/a/very/long/path", "now"}},
		{"wide words are cut", "これは日本語です", 7, []string{"これは", "日本語", "です"}},
		{"wide indentation is left out", "        one two", 9, []string{"one two"}},
		{
			"code that tabs indent",
			"if x {\n\treturn one two\n}",
			14,
			[]string{"if x {", "    return one", "    two", "}"},
		},
		{"nothing", "", 5, []string{""}},
	} {
		got := WrapAtWords(c.in, c.n)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: Wrap(%q, %d) = %q, want %q", c.name, c.in, c.n, got, c.want)
		}
	}
}

func TestBreak(t *testing.T) {
	for in, want := range map[string][]string{
		"one two":              {"one", "two"},
		"see /a/long/path":     {"see", "/a/lo", "ng/pa", "th"},
		"日本語":                  {"日本", "語"},
		"ab\n\n12345":          {"ab", "", "12345"},
		"e\u0301e\u0301fghijk": {"e\u0301e\u0301fgh", "ijk"},
	} {
		if got := WrapBreakingWords(in, 5); !slices.Equal(got, want) {
			t.Errorf("WrapBreakingWords(%q, 5) = %q, want %q", in, got, want)
		}
	}
	if got := len(WrapBreakingWords(strings.Repeat("x", 1<<20), 64)); got != 1<<14 {
		t.Errorf("a word of 1 MiB is %d rows, want %d", got, 1<<14)
	}
}

func TestMark(t *testing.T) {
	for _, c := range []struct{ in, code, want string }{
		{"Pay twice, pay.", "", Red + "Pay" + ResetStyle + " twice, " + Red + "pay" + ResetStyle + "."},
		{"Pay", Bold, Red + "Pay" + ResetStyle},
		{"to pay", Bold, Bold + "to " + ResetStyle + Red + "pay" + ResetStyle},
		{"repay", Dim, Dim + "repay" + ResetStyle},
		{"", Dim, ""},
	} {
		if got := HighlightWords(c.in, []string{"pay"}, c.code); got != c.want {
			t.Errorf("Mark(%q, %q) = %q, want %q", c.in, c.code, got, c.want)
		}
	}
}

// TestWriter checks that SafeWriter passes its own colours and escapes other sequences, whatever the sizes of the
// writes are.
func TestWriter(t *testing.T) {
	const in = Red + "match" + ResetStyle + " \x1b[31mred\x1b[1;31 é\r\n\u202e\x1b]0;title\a" + Green
	const want = Red + "match" + ResetStyle + ` \u001b[31mred\u001b[1;31 é` + "\r\n" + `\u202e\u001b]0;title\u0007` +
		Green
	for _, size := range []int{len(in), 1, 3} {
		var b bytes.Buffer
		w := &SafeWriter{Output: &b}
		for part := range slices.Chunk([]byte(in), size) {
			if n, err := w.Write(part); n != len(part) || err != nil {
				t.Fatalf("Write(%q) = %d, %v", part, n, err)
			}
		}
		if b.String() != want {
			t.Errorf("%q in pieces of %d bytes is written as %q, want %q", in, size, b.String(), want)
		}
	}
}

// TestClean tests that EscapeHarmfulRunes replaces control characters and invisible characters by their JSON escapes,
// and CR LF by a line feed. Zero-width joiners that belong to an emoji or to a letter must remain.
func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"a\x1bb\r\n\tc":       `a\u001bb` + "\n\tc",
		"pay 10\rpay 99":      `pay 10\u000dpay 99`,
		"\u202e2e":            `\u202e2e`,
		"de\u00adploy":        `de\u00adploy`,
		"a\u3164\u115f\u180e": `a\u3164\u115f\u180e`,
		"\U000e0041":          `\udb40\udc41`,
		"👨\u200d👩\u200d👧 क्\u200dष ❤️": "👨\u200d👩\u200d👧 क्\u200dष ❤️",
	} {
		if got := EscapeHarmfulRunes(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}
