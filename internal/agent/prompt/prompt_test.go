// This file tests how tokens are counted and how a context is cut.

package prompt

import (
	"strings"
	"testing"
)

func words(n int) string { return strings.Repeat("word ", n) }

func TestFit(t *testing.T) {
	half := func(tokens int) string { return words(tokens / 2) }
	for _, tt := range []struct {
		name   string
		parts  []Part
		budget int
		want   string // names of the parts that remain, complete or shortened
		cut    string // the names of the parts that are left out or shortened
	}{
		{"no bound", []Part{{Name: "a", Text: words(100)}, {Name: "b", Text: words(900)}}, 0, "a b", ""},
		{"all fit", []Part{{Name: "a", Text: words(10)}, {Name: "b", Text: words(10)}}, 100, "a b", ""},
		{"a later one still fits",
			[]Part{{Name: "a", Text: words(90)}, {Name: "b", Text: words(50)}, {Name: "c", Text: words(5)}}, 105,
			"a c", "b"},
		{"pinned count first", []Part{{Name: "a", Text: words(50)}, {Name: "b", Text: words(60), IsPinned: true}}, 100,
			"b", "a"},
		{"pinned stay above", []Part{{Name: "a", Text: words(500), IsPinned: true}, {Name: "b", Text: "x"}}, 100, "a",
			"b"},
		{"made shorter", []Part{{Name: "a", Text: words(500), Shorten: half}}, 100, "a", "a"},
		{"nothing is empty", []Part{{Name: "a"}, {Name: "b", Text: "x"}}, 100, "b", ""},
	} {
		var c Context
		c.Add(tt.parts...)
		c.FitToBudget(tt.budget)
		var names, cut []string
		sum, pinned := 0, 0
		for _, p := range c.Parts {
			names = append(names, p.Name)
			sum += p.Tokens
			if p.IsPinned {
				pinned += p.Tokens
			}
			if p.Tokens != EstimateTokens(p.Text) || p.Role != RoleSystem {
				t.Errorf(
					"%s: part %s has %d tokens and role %q, want %d and system",
					tt.name,
					p.Name,
					p.Tokens,
					p.Role,
					EstimateTokens(p.Text),
				)
			}
		}
		for _, k := range c.OmittedTexts {
			cut = append(cut, k.Name)
			if k.Tokens <= 0 || k.Reason == "" {
				t.Errorf("%s: cut %+v says nothing", tt.name, k)
			}
		}
		if got := strings.Join(names, " "); got != tt.want {
			t.Errorf("%s: Fit(%d) keeps %q, want %q", tt.name, tt.budget, got, tt.want)
		}
		if got := strings.Join(cut, " "); got != tt.cut {
			t.Errorf("%s: Fit(%d) cuts %q, want %q", tt.name, tt.budget, got, tt.cut)
		}
		if c.Tokens != sum || (tt.budget > 0 && sum > max(tt.budget, pinned)) {
			t.Errorf("%s: Fit(%d) = %d tokens, the parts have %d", tt.name, tt.budget, c.Tokens, sum)
		}
	}
}

func TestText(t *testing.T) {
	var c Context
	c.Add(Part{Text: "a\n"}, Part{Role: RoleUser, Text: "b\n"}, Part{Role: RoleSystem, Text: "c\n"})
	for _, tt := range []struct{ got, want string }{
		{c.Text(), "a\nb\nc\n"}, {c.RoleText(RoleSystem), "a\nc\n"}, {c.RoleText(RoleUser), "b\n"},
	} {
		if tt.got != tt.want {
			t.Errorf("text = %q, want %q", tt.got, tt.want)
		}
	}
}
