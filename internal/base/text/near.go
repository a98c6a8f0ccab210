// This file finds words that the user may have meant.

package text

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/base/ucd"
)

// FindSimilar returns at most limit candidates that are similar to word, the best first and each once. It ignores
// case. Nothing is similar to an empty word. A candidate is similar if it belongs to one of these classes, from best
// to worst:
//
//  1. The candidate is equal to word.
//  2. The candidate begins with word, or word begins with the candidate. In the second case, the candidate must have
//     at least 3 letters.
//  3. The candidate contains word, or word contains the candidate. Both must have at least 3 letters.
//  4. The candidate differs from word by at most 2 typing errors (see [EditDistance]). If word has fewer than 5
//     letters, 1 error is the maximum. The candidate must have at most 64 letters.
//
// In a class, candidates with fewer typing errors come first. If these are equal, candidates with the same first byte
// come first, then candidates with a similar length, then the candidates in lexical order.
func FindSimilar(word string, candidates iter.Seq[string], limit int) []string {
	w := newComparedWord(word)
	if len(w.runes) == 0 || limit <= 0 {
		return nil
	}
	var best []similarCandidate // the best matches so far, sorted (at most limit)
	for c := range candidates {
		if !w.mayBeSimilar(c) {
			continue
		}
		m, ok := w.compareCandidate(c)
		if !ok {
			continue
		}
		i, isDuplicate := slices.BinarySearchFunc(best, m, similarCandidate.compare)
		if isDuplicate || i >= limit {
			continue
		}
		if len(best) == limit {
			best = best[:limit-1]
		}
		best = slices.Insert(best, i, m)
	}
	var texts []string
	for _, m := range best {
		// Copy the text, because it may be a part of a large string, which would stay in memory.
		texts = append(texts, strings.Clone(m.text))
	}
	return texts
}

// comparedWord is the word with which candidates are compared.
type comparedWord struct {
	runes           []rune
	text            string // the word in lower case
	maxTypingErrors int    // maximum number of typing errors
	letterBits      uint32 // the word's letters as a set (see lettersAsBits)
	isASCII         bool
}

func newComparedWord(word string) comparedWord {
	t := comparedWord{text: lowerText(word), maxTypingErrors: 2}
	t.runes = []rune(t.text)
	if len(t.runes) < 5 {
		t.maxTypingErrors = 1
	}
	t.letterBits, t.isASCII = lettersAsBits(t.text)
	return t
}

// lettersAsBits returns the set of letters in a text as bits, ignoring case. isASCII is false if the text contains
// other characters, because then the set is incomplete.
func lettersAsBits(s string) (set uint32, isASCII bool) {
	all := byte(0)
	for i := range len(s) {
		all |= s[i]
		set |= 1 << (s[i] & 31)
	}
	return set, all < utf8.RuneSelf
}

// mayBeSimilar reports whether a candidate may be similar to the word. For most candidates that are not similar, it
// returns false within a few nanoseconds. It counts the letters that only one of the two words contains. Each such
// letter is a typing error, unless the candidate contains the word, or the word contains the candidate.
func (t *comparedWord) mayBeSimilar(candidate string) bool {
	letters, isASCII := lettersAsBits(candidate)
	if !isASCII || !t.isASCII {
		return true
	}
	more, less := letters&^t.letterBits, t.letterBits&^letters
	if more == 0 || less == 0 {
		return true // One word may contain the other word. Then the additional letters are not typing errors.
	}
	difference := len(candidate) - len(t.text)
	return max(difference, -difference) <= t.maxTypingErrors &&
		bits.OnesCount32(more) <= t.maxTypingErrors && bits.OnesCount32(less) <= t.maxTypingErrors
}

// similarCandidate is a candidate that is similar to the word.
type similarCandidate struct {
	text         string
	class        similarityClass
	editDistance int // number of typing errors if class is classTypingErrors, otherwise 0
	// 1 if the two words are similar except for typing errors and have different first bytes, otherwise 0. Such a
	// match is ranked lower, because people seldom mistype the first byte.
	differingStart   int
	lengthDifference int // difference between the lengths of the word and the candidate, in characters
}

// similarityClass is a class of similar candidates, best class first (see [FindSimilar]).
type similarityClass int

const (
	classEqualWord similarityClass = iota
	classCommonPrefix
	classCommonPart
	classTypingErrors
)

// compare orders two matches by how similar they are, best first.
func (m similarCandidate) compare(o similarCandidate) int {
	return cmp.Or(cmp.Compare(m.class, o.class), cmp.Compare(m.editDistance, o.editDistance),
		cmp.Compare(m.differingStart, o.differingStart), cmp.Compare(m.lengthDifference, o.lengthDifference),
		cmp.Compare(m.text, o.text))
}

// compareCandidate returns how similar a candidate is to the word. It returns false if the candidate is not similar.
func (t comparedWord) compareCandidate(candidate string) (similarCandidate, bool) {
	text := lowerText(candidate)
	n := utf8.RuneCountInString(text)
	m := similarCandidate{text: candidate, lengthDifference: max(n-len(t.runes), len(t.runes)-n)}
	minLength := min(n, len(t.runes))
	switch {
	case text == t.text:
		m.class = classEqualWord
	case n > 0 && strings.HasPrefix(text, t.text), minLength >= 3 && strings.HasPrefix(t.text, text):
		m.class = classCommonPrefix
	case minLength >= 3 && (strings.Contains(text, t.text) || strings.Contains(t.text, text)):
		m.class = classCommonPart
	// Count typing errors only for short words, because the time for counting them grows with the square of the
	// length.
	case m.lengthDifference <= t.maxTypingErrors && n <= 64:
		m.class = classTypingErrors
		m.editDistance = EditDistance(t.runes, []rune(text))
		if text == "" || text[0] != t.text[0] {
			m.differingStart = 1
		}
		// Reject a match with as many typing errors as letters, because such words have nothing in common.
		return m, m.editDistance <= t.maxTypingErrors && m.editDistance < max(n, len(t.runes))
	default:
		return m, false
	}
	return m, true
}

// lowerText converts each character of s to lower case separately.
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
