// This file tests snippets.

package text

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/base/ucd"
)

func TestSnippet(t *testing.T) {
	filler := strings.Repeat("lorem ipsum ", 20)
	tests := []struct {
		name    string
		content string
		terms   []string
		width   int
		want    string
	}{
		{"empty", "", []string{"x"}, 20, ""},
		{"no width", "some text", nil, 0, ""},
		{"short text stays whole", "# Title\n\nbody  text\t.\r\n", []string{"body"}, 40, "# Title body text ."},
		{"no term: the beginning", "one two three four five six", []string{"none"}, 13, "one two three…"},
		{"cut before the word that does not fit", "one two three four five six", nil, 12, "one two…"},
		{"around the term", "aaa bbb ccc ddd eee fff ggg hhh iii jjj", []string{"fff"}, 15, "…eee fff ggg hhh…"},
		{"near the end, more of what comes before", "aaa bbb ccc ddd eee", []string{"eee"}, 11, "…ccc ddd eee"},
		{"the stretch with both", "wolf " + filler + "a wolf met a bear " + filler +
			"bear", []string{"bear", "wolf"}, 30, "…a wolf met a bear lorem ipsum…"},
		{"punctuation after the last term stays out", "xx yy zz (alpha beta).gamma delta epsilon",
			[]string{"alpha", "beta"}, 10, "…alpha beta…"},
		{"a term longer than the width", "abc internationalisation def", []string{"internationalisation"}, 8,
			"…internat…"},
		{"capitals and final sigma", filler + "Η ΟΔΟΣ " + filler, []string{"οδος"}, 10, "…Η ΟΔΟΣ…"},
		{"no spaces", "日本語の文章には空白がありません", []string{"none"}, 5, "日本語の文…"},
		{"not before a mark", "ne\u0301e\u0301e\u0301e\u0301e\u0301", nil, 4, "ne\u0301…"},
		{"not UTF-8", "a\xffb c", nil, 10, "a\ufffdb c"},
		{"marks alone", "e" + strings.Repeat("\u0301", 9), nil, 3, "e\u0301\u0301…"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Snippet(tt.content, tt.terms, tt.width); got != tt.want {
				t.Errorf("Snippet(%q, %q, %d) = %q, want %q", tt.content, tt.terms, tt.width, got, tt.want)
			}
		})
	}
}

// checkSnippet checks the properties that every snippet must have.
func checkSnippet(t *testing.T, content string, terms []string, width int) {
	t.Helper()
	got := Snippet(content, terms, width)
	if !utf8.ValidString(got) {
		t.Fatalf("Snippet(%q, %q, %d) = %q, which is not UTF-8", content, terms, width, got)
	}
	folded := normalizeSpace(content)
	if width > 0 && utf8.RuneCountInString(folded) <= width {
		if got != folded {
			t.Fatalf("Snippet(%q, %q, %d) = %q, want all: %q", content, terms, width, got, folded)
		}
		return
	}
	if n := utf8.RuneCountInString(got); n > max(width, 0)+2 {
		t.Fatalf("Snippet(%q, %q, %d) = %q: %d code points", content, terms, width, got, n)
	}
	// It cannot be known whether an ellipsis is from the content or was added.
	if width < 1 || strings.Contains(content, ellipsis) {
		return
	}
	if !strings.HasPrefix(got, ellipsis) && !strings.HasPrefix(folded, strings.TrimSuffix(got, ellipsis)) {
		t.Fatalf("Snippet(%q, %q, %d) = %q, which does not say that it was cut", content, terms, width, got)
	}
	inner := strings.TrimSuffix(strings.TrimPrefix(got, ellipsis), ellipsis)
	if !strings.Contains(folded, inner) || inner == "" {
		t.Fatalf("Snippet(%q, %q, %d) = %q, which is no part of it", content, terms, width, got)
	}
}

// TestSnippetHoldsTheMost tests that a snippet contains as many distinct terms as the best part of the same width. The
// test finds the best part by trying all.
func TestSnippetHoldsTheMost(t *testing.T) {
	const seed = 11
	rng := rand.New(rand.NewPCG(seed, 0))
	words := []string{"red", "green", "blue", "Blue,", "é", "grey", "日本", "violet-ish", "x"}
	terms := []string{"red", "green", "blue", "violet"}
	distinct := func(s string) int {
		seen := map[string]bool{}
		for _, w := range CrabtalkTerms(s) {
			for _, term := range terms {
				if w == term {
					seen[term] = true
				}
			}
		}
		return len(seen)
	}
	for range 400 {
		var b strings.Builder
		for range 5 + rng.IntN(40) {
			b.WriteString(words[rng.IntN(len(words))])
			b.WriteString([]string{" ", "\n", "  "}[rng.IntN(3)])
		}
		width := 8 + rng.IntN(40)
		content := b.String()
		checkSnippet(t, content, terms, width)
		folded := []rune(normalizeSpace(content))
		most := 0
		for i := range folded {
			stretch := string(folded[i:min(i+width, len(folded))])
			// Remove the words that the part's beginning or end cuts in two, because they do not count.
			if i > 0 && ucd.IsAlphanumeric(folded[i-1]) {
				stretch = strings.TrimLeftFunc(stretch, ucd.IsAlphanumeric)
			}
			if i+width < len(folded) && ucd.IsAlphanumeric(folded[i+width]) {
				stretch = strings.TrimRightFunc(stretch, ucd.IsAlphanumeric)
			}
			most = max(most, distinct(stretch))
		}
		if got := Snippet(content, terms, width); distinct(got) != most {
			t.Fatalf(
				"seed %d: Snippet(%q, %q, %d) = %q holds %d of the terms, want %d",
				seed,
				content,
				terms,
				width,
				got,
				distinct(got),
				most,
			)
		}
	}
}

func FuzzSnippet(f *testing.F) {
	f.Add("one two three four", "three", 8)
	f.Add("e\u0301\u0301\u0301\u0301 \xff日本語", "日本語", 2)
	f.Add("… … … ……", "", 3)
	f.Fuzz(func(t *testing.T, content, query string, width int) {
		checkSnippet(t, content, OldCrabtalkTerms(query), width)
	})
}

func BenchmarkSnippet(b *testing.B) {
	text := strings.Repeat("The store keeps entries; an index ranks them. ", 22) + "A needle. " +
		strings.Repeat("More of it. ", 40)
	terms := []string{"needle", "index"}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Snippet(text, terms, 160)
	}
}

func TestExcerpt(t *testing.T) {
	const code = "Intro to it.\n\n```go\nfunc Get() {\n\tif idle > 0 {\n\t\treturn take()\n\t}\n}\n```\n"
	prose := strings.Repeat("Some words of prose that were wrapped by hand so far\nand go on. ", 2) + "\n- one\n- two\n"
	for _, c := range []struct {
		name, in string
		width    int
		want     string
	}{
		{
			"code keeps its lines",
			code,
			200,
			"Intro to it.\n```go\nfunc Get() {\n  if idle > 0 {\n    return take()\n  }\n}\n```",
		},
		{
			"prose is joined, a list is not",
			prose,
			200,
			"Some words of prose that were wrapped by hand so far and go on. Some words of prose that were wrapped " +
				"by hand so far and go on.\n- one\n- two",
		},
		{"begins with a line", code, 30, "…    return take()\n  }\n}\n```"},
		{"CRLF", "a\r\n\r\n\r\nb\r\n", 10, "a\nb"},
		{"nothing", " \n\n", 10, ""},
	} {
		if got := Excerpt(c.in, []string{"take"}, c.width); got != c.want {
			t.Errorf("%s: Excerpt = %q, want %q", c.name, got, c.want)
		}
	}
}

// TestNormalizeSpace compares normalizeSpace with functions of the standard library.
func TestNormalizeSpace(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	pieces := []string{"a", "bc", " ", "  ", "\n", "\t", "\u00a0", "\u0085", "\u2003", "é", "東", "\ufffd", "\xff",
		"\xe2\x82", "\xc3", "\x00", "😀"}
	for range 20_000 {
		var b strings.Builder
		for range rng.IntN(12) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		s := b.String()
		want := strings.Join(strings.Fields(strings.ToValidUTF8(s, "\ufffd")), " ")
		if got := normalizeSpace(s); got != want {
			t.Fatalf("normalizeSpace(%q) = %q, want %q", s, got, want)
		}
	}
}

// TestFindTermHits compares findTermHits with a search that converts each word to lower case.
func TestFindTermHits(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	words := []string{"go", "Go", "GO", "gO", "ΟΔΟΣ", "οδος", "\u212aelvin", "kelvin", "Kelvin", "İx", "7up", "7UP",
		"éa", "Éa", "ab", "Ab"}
	for range 5_000 {
		var terms []string
		for range rng.IntN(5) {
			terms = append(terms, ucd.LowerWord(words[rng.IntN(len(words))]))
		}
		var b strings.Builder
		for range rng.IntN(15) {
			b.WriteString(words[rng.IntN(len(words))] + []string{" ", "-", "é ", "\xff", ""}[rng.IntN(5)])
		}
		s := b.String()
		var want []termHit
		for w := range ucd.Words(s) {
			if i := slices.Index(terms, ucd.LowerWord(s[w.Start:w.End])); i >= 0 {
				before := utf8.RuneCountInString(s[:w.Start])
				want = append(want, termHit{i, w.Start, w.End, before, before + w.RuneCount})
			}
		}
		if got := findTermHits(s, terms); !slices.Equal(got, want) {
			t.Fatalf("findTermHits(%q, %q) = %v, want %v", s, terms, got, want)
		}
	}
}
