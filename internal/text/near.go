// Corrections: the words that were perhaps meant.

package text

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/ucd"
)

// Near returns the candidates nearest to word, best first, at most limit.
// Capitals do not count. Best are candidates equal to word, then those where
// one begins with the other, then those where one holds the other, then those
// at most 2 typing errors away (1 for words of fewer than 5 letters). A typing error
// is a letter too many, too few or wrong, or two neighbours swapped; no letter
// is touched twice (the optimal string alignment distance). Part of the word
// is a match only from 3 letters up, so that "a" is not near to everything.
// Among equals, the candidate nearest in length comes first, then the smaller
// string. Repeats are returned once. An empty word is near to nothing.
func Near(word string, candidates iter.Seq[string], limit int) []string {
	w := []rune(lowerText(word))
	if len(w) == 0 || limit <= 0 {
		return nil
	}
	most := 2
	if len(w) < 5 {
		most = 1
	}
	type found struct {
		text           string
		class, dist, d int // d is the difference in length
	}
	compare := func(a, b found) int {
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.dist, b.dist),
			cmp.Compare(a.d, b.d), cmp.Compare(a.text, b.text))
	}
	var best []found // sorted; never more than limit
	lowered := string(w)
	for c := range candidates {
		l := lowerText(c)
		n := utf8.RuneCountInString(l)
		f := found{text: c, d: max(n-len(w), len(w)-n)}
		short := min(n, len(w))
		switch {
		case l == lowered:
			f.class = 0
		case n > 0 && strings.HasPrefix(l, lowered), short >= 3 && strings.HasPrefix(lowered, l):
			f.class = 1
		case short >= 3 && (strings.Contains(l, lowered) || strings.Contains(lowered, l)):
			f.class = 2
		case f.d <= most:
			f.class = 3
			if f.dist = Distance(w, []rune(l)); f.dist > most || f.dist >= max(n, len(w)) {
				continue // too far, or nothing in common
			}
		default:
			continue
		}
		i, same := slices.BinarySearchFunc(best, f, compare)
		if same || i >= limit {
			continue
		}
		if len(best) == limit {
			best = best[:limit-1]
		}
		best = slices.Insert(best, i, f)
	}
	if len(best) == 0 {
		return nil
	}
	texts := make([]string, len(best))
	for i, f := range best {
		texts[i] = f.text
	}
	return texts
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
