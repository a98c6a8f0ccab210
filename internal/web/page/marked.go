// This file highlights the words of a query in a text.

package page

import (
	"slices"
	"strings"
	"unicode"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow/internal/base/termtext"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// HighlightedText shows an untrusted text like [IsolatedText], and highlights the words in it. words must be in lower
// case.
func HighlightedText(s string, words []string) g.Node {
	if len(words) == 0 {
		return IsolatedText(s)
	}
	s = VisibleText(s)
	var out g.Group
	from := 0 // offset of the text that is not in out yet
	for at := 0; at < len(s); {
		start := strings.IndexFunc(s[at:], isWordRune)
		if start < 0 {
			break
		}
		start += at
		end := start + strings.IndexFunc(s[start:]+" ", func(r rune) bool { return !isWordRune(r) })
		if slices.Contains(words, strings.ToLower(s[start:end])) {
			out = append(out, h.Text(s[from:start]), h.Mark(h.Text(s[start:end])))
			from = end
		}
		at = end
	}
	return h.El("bdi", append(out, h.Text(s[from:])))
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// IsolatedText shows an untrusted text in a bdi element, so that right-to-left characters do not reorder the text
// around it.
func IsolatedText(s string) g.Node { return h.El("bdi", h.Text(VisibleText(s))) }

// VisibleText replaces characters that would hide or reorder text (see [termtext.IsHarmful]) by visible characters.
func VisibleText(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < 0x20 || r == 0x7f:
			return 0x2400 + min(r, 0x21)
		case termtext.IsHarmful(r):
			return '\ufffd'
		}
		return r
	}, s)
}
