// Text in which the words of a query are marked.

package page

import (
	"slices"
	"strings"
	"unicode"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow/internal/base/screen"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// Marked is text that others wrote, kept apart as by [Isolated], with the words marked
// that are given in lower case.
func Marked(s string, words []string) g.Node {
	if len(words) == 0 {
		return Isolated(s)
	}
	s = Visible(s)
	var out g.Group
	from := 0 // what is not written yet
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

// Isolated is text that others wrote, kept from turning the line around it: what
// writes from right to left ends with it.
func Isolated(s string) g.Node { return h.El("bdi", h.Text(Visible(s))) }

// Visible shows characters that hide or reorder text: those of [screen.Harmful].
func Visible(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < 0x20 || r == 0x7f:
			return 0x2400 + min(r, 0x21)
		case screen.Harmful(r):
			return '\ufffd'
		}
		return r
	}, s)
}
