// This file tests packing into a budget, code fences, and cutting at paragraphs.

package prompt

import (
	"slices"
	"strings"
	"testing"
)

func TestFence(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", "```md\n```\n"},
		{"plain", "```md\nplain\n```\n"},
		{"ends\n", "```md\nends\n```\n"},
		{"```\nevil\n```", "````md\n```\nevil\n```\n````\n"},
		{"a `````` b", "```````md\na `````` b\n```````\n"},
	} {
		if got := FenceText("md", c.in); got != c.want {
			t.Errorf("Fence(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestParagraphs(t *testing.T) {
	text := "one two\nthree\n\n\nfour\n\nfive six"
	for _, tt := range []struct {
		most int
		want string
	}{
		{100, "one two\nthree\n\n\nfour"},
		{20, "one two\nthree\n\n\nfour"},
		{19, "one two\nthree"},
		{13, "one two\nthree"},
		{12, ""},
		{0, ""},
	} {
		if got := FitParagraphs(text, func(s string) bool { return len(s) <= tt.most }); got != tt.want {
			t.Errorf("FitParagraphs(%d) = %q, want %q", tt.most, got, tt.want)
		}
	}
	if got := FitParagraphs("\n\n\n\n", func(string) bool { return true }); got != "" {
		t.Errorf("Paragraphs of blank lines = %q", got)
	}
}

func TestPack(t *testing.T) {
	half := func(tokens int) string { return words(tokens / 2) }
	for _, tt := range []struct {
		name      string
		parts     []Part
		budget    int
		want, cut string
	}{
		{"all fit", []Part{{Name: "a", Text: words(10)}, {Name: "b", Text: words(10)}}, 100, "a b", ""},
		{"whole ones first",
			[]Part{
				{Name: "a", Text: words(90), Shorten: half},
				{Name: "b", Text: words(10)},
				{Name: "c", Text: words(10)},
			},
			100, "a b c", "a"},
		{"one is made shorter",
			[]Part{{Name: "a", Text: words(500), Shorten: half}, {Name: "b", Text: words(500),
				Shorten: half}}, 100, "a",
			"a b"},
		{"pinned first", []Part{{Name: "a", Text: words(50)}, {Name: "b", Text: words(50), IsPinned: true}}, 100, "b",
			"a"},
		{"even pinned are not above", []Part{{Name: "a", Text: words(500), IsPinned: true}, {Name: "b", Text: "x"}},
			100, "b", "a"},
		{"pinned are made shorter", []Part{{Name: "a", Text: words(500), IsPinned: true, Shorten: half}}, 100, "a",
			"a"},
		{"no room at all", []Part{{Name: "a", Text: "x"}}, 1, "", "a"},
	} {
		var c Context
		c.Add(tt.parts...)
		c.PackIntoBudget(tt.budget)
		var names, cut []string
		sum := 0
		for _, p := range c.Parts {
			names = append(names, p.Name)
			sum += p.Tokens
		}
		for _, k := range c.OmittedTexts {
			cut = append(cut, k.Name)
			if k.Tokens <= 0 || k.Reason == "" {
				t.Errorf("%s: cut %+v says nothing", tt.name, k)
			}
		}
		slices.Sort(cut)
		if got := strings.Join(names, " "); got != tt.want {
			t.Errorf("%s: Pack(%d) keeps %q, want %q", tt.name, tt.budget, got, tt.want)
		}
		if got := strings.Join(cut, " "); got != tt.cut {
			t.Errorf("%s: Pack(%d) cuts %q, want %q", tt.name, tt.budget, got, tt.cut)
		}
		if c.Tokens != sum || sum*EstimateFactorPercent > tt.budget*100 {
			t.Errorf("%s: Pack(%d) = %d tokens of %d", tt.name, tt.budget, c.Tokens, sum)
		}
	}
}
