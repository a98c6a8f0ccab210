// This file tests how Markdown is rendered for a terminal.

package markdown_test

import (
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/base/markdown"
	"github.com/oxbow-memory/oxbow/internal/base/termtext"
)

func TestRender(t *testing.T) {
	for _, tt := range []struct{ name, source, plain, colour string }{
		{"paragraph", "one\ntwo\n\nthree\n", "one\ntwo\n\nthree", "one\ntwo\n\nthree"},
		{"wrapped", "a line of more than twenty columns", "a line of more than\ntwenty columns",
			"a line of more than\ntwenty columns"},
		{"heading", "## Two words\nText", "## Two words\n\nText", "<b>Two</> <b>words</>\n\nText"},
		{"emphasis", "a **b c** *d*", "a **b c** *d*", "a <b>b</> <b>c</> <b>d</>"},
		{"code", "Run `make x`:\n\n```sh\nmake  x\n\tmore\n```", "Run `make x`:\n\n    make  x\n        more",
			"Run `make x`:\n\n    make  x\n        more"},
		{"list", "- one\n- two words that are wrapped\n  1. deep", "- one\n- two words that are\n  wrapped\n  1. deep",
			"- one\n- two words that are\n  wrapped\n  1. deep"},
		{"loose list", "3. one\n\n4. two", "3. one\n\n4. two", "3. one\n\n4. two"},
		{"quote", "> one\n> two\n>\n> three", "│ one\n│ two\n│\n│ three",
			"<dim>│</> one\n<dim>│</> two\n<dim>│</>\n<dim>│</> three"},
		{"link", "[a](https://b.c) <https://d.e>", "a (https://b.c)\nhttps://d.e",
			"a <dim>(https://b.c)</>\nhttps://d.e"},
		{"table", "| a | bb |\n|---|---|\n| ccc | d |", "a    bb\nccc  d", "<b>a</>    <b>bb</>\nccc  d"},
		{"wide table", "| a | b |\n|---|---|\n| twelve chars | ten chars. |", "a\n  b\ntwelve chars\n  ten chars.",
			"<b>a</>\n  <b>b</>\ntwelve chars\n  ten chars."},
		{"escape", `a \*b\* &amp; <i>c</i>`, "a *b* & <i>c</i>", "a *b* & <i>c</i>"},
		{"rule", "a\n\n---", "a\n\n────────────────────", "a\n\n<dim>────────────────────</>"},
		{"control", "a \x1b[31mred\x1b[0m \u202eback", "a\n" + `\u001b[31mred\u001b[0m` + "\n" + `\u202eback`,
			"a\n" + `\u001b[31mred\u001b[0m` + "\n" + `\u202eback`},
		{"empty", "", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := strings.Join(markdown.TerminalStyle{Width: 20}.Render(tt.source), "\n")
			if got != tt.plain {
				t.Errorf("without colours %q is\n%s\nwant\n%s", tt.source, got, tt.plain)
			}
			shown := strings.NewReplacer(termtext.Bold, "<b>", termtext.Dim, "<dim>", termtext.ResetStyle, "</>")
			lines := markdown.TerminalStyle{Width: 20, WithColour: true}.Render(tt.source)
			if got := shown.Replace(strings.Join(lines, "\n")); got != tt.colour {
				t.Errorf("with colours %q is\n%s\nwant\n%s", tt.source, got, tt.colour)
			}
		})
	}
}

// TestRenderTangled tests that a text that would take too long to parse is shown unchanged.
func TestRenderTangled(t *testing.T) {
	source := strings.Repeat("[*", 50_000)
	lines := markdown.TerminalStyle{Width: 80}.Render(source)
	if got := strings.Join(lines, ""); got != source {
		t.Errorf("%d bytes became %d", len(source), len(got))
	}
}

// FuzzRender tests that no rendered line contains a character that could harm a terminal.
func FuzzRender(f *testing.F) {
	for _, s := range []string{
		"# a\n- b\n  1. c\n> d", "| a |\n|---|\n| b |", "`a` **b** [c](d)", "\x1b]0;t\a", "```\na",
	} {
		f.Add(s, uint8(20))
	}
	f.Fuzz(func(t *testing.T, source string, width uint8) {
		o := markdown.TerminalStyle{Width: int(width) + 1}
		for _, line := range o.Render(source) {
			if clean := termtext.EscapeHarmfulRunes(line); clean != line || strings.Contains(line, "\n") {
				t.Errorf("the line %q of %q is not safe", line, source)
			}
		}
		o.WithColour = true
		o.Render(source)
	})
}
