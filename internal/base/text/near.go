// Corrections: the words that were perhaps meant.

package text

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/base/ucd"
)

// Near returns the candidates nearest to word, best first, at most limit.
// Capitals do not count. Best are candidates equal to word, then those where
// one begins with the other, then those where one holds the other, then those
// at most 2 typing errors away (1 for words of fewer than 5 letters, none for
// candidates of more than 64). A typing error
// is a letter too many, too few or wrong, or two neighbours swapped; no letter
// is touched twice (the optimal string alignment distance). Part of the word
// is a match only from 3 letters up, so that "a" is not near to everything.
// Among equals, a candidate that begins with the same byte comes first, then the
// one nearest in length, then the smaller string. Repeats are returned once. An empty word is near to nothing.
func Near(word string, candidates iter.Seq[string], limit int) []string {
	w := newTarget(word)
	if len(w.runes) == 0 || limit <= 0 {
		return nil
	}
	var best []match // sorted; never more than limit
	for c := range candidates {
		m, ok := w.match(c)
		if !ok {
			continue
		}
		i, same := slices.BinarySearchFunc(best, m, match.compare)
		if same || i >= limit {
			continue
		}
		if len(best) == limit {
			best = best[:limit-1]
		}
		best = slices.Insert(best, i, m)
	}
	var texts []string
	for _, m := range best {
		texts = append(texts, m.text)
	}
	return texts
}

// target is the word that candidates are compared with.
type target struct {
	runes []rune
	text  string // in lower case
	most  int    // typing errors
}

func newTarget(word string) target {
	t := target{text: lowerText(word), most: 2}
	t.runes = []rune(t.text)
	if len(t.runes) < 5 {
		t.most = 1
	}
	return t
}

// match is a candidate that is near to the word.
type match struct {
	text                    string
	class, distance, length int // length is the difference
	begins                  int // 0 with the same letter, which is seldom mistyped, else 1
}

// compare orders matches, the nearest first.
func (m match) compare(o match) int {
	return cmp.Or(cmp.Compare(m.class, o.class), cmp.Compare(m.distance, o.distance),
		cmp.Compare(m.begins, o.begins), cmp.Compare(m.length, o.length), cmp.Compare(m.text, o.text))
}

// match compares a candidate with the word.
func (t target) match(candidate string) (match, bool) {
	text := lowerText(candidate)
	n := utf8.RuneCountInString(text)
	m := match{text: candidate, length: max(n-len(t.runes), len(t.runes)-n)}
	short := min(n, len(t.runes))
	switch {
	case text == t.text:
	case n > 0 && strings.HasPrefix(text, t.text), short >= 3 && strings.HasPrefix(t.text, text):
		m.class = 1
	case short >= 3 && (strings.Contains(text, t.text) || strings.Contains(t.text, text)):
		m.class = 2
	case m.length <= t.most && n <= 64: // the work grows with the square
		m.class, m.distance = 3, Distance(t.runes, []rune(text))
		if text == "" || text[0] != t.text[0] {
			m.begins = 1
		}
		return m, m.distance <= t.most && m.distance < max(n, len(t.runes)) // else too far, or nothing in common
	default:
		return m, false
	}
	return m, true
}

// lowerText returns s in lower case, code point by code point.
func lowerText(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < utf8.RuneSelf:
			if r >= 'A' && r <= 'Z' {
				r += 'a' - 'A'
			}
			return r
		case r == ucd.CapitalIWithDot:
			return 'i'
		}
		return ucd.LowerRune(r)
	}, s)
}
