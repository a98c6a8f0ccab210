// This file composes and decomposes names. The same word may be written with composed characters,
// as most keyboards do, or with letters and separate marks, as in file names of macOS.

package ucd

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:generate go run github.com/oxbow-memory/oxbow/test/gen/ucdnames

// markClass is a mark and its combining class, by which the marks after a letter are sorted.
type markClass struct {
	char  rune
	class uint8
}

// decomposition is a character and its full decomposition.
type decomposition struct {
	char rune
	full string
}

// composition is a pair of characters and the character that they compose.
type composition struct{ first, second, composed rune }

// The syllables of Hangul are composed by arithmetic.
const (
	syllableFirst = 0xac00
	leadFirst     = 0x1100
	vowelFirst    = 0x1161
	tailFirst     = 0x11a7 // one before the first tail
	leadCount     = 19
	vowelCount    = 21
	tailCount     = 28
	syllableCount = leadCount * vowelCount * tailCount
)

// compositionPairs returns the composed character for each pair of characters.
var compositionPairs = sync.OnceValue(func() map[[2]rune]rune {
	pairs := make(map[[2]rune]rune, len(compositions))
	for _, c := range compositions {
		pairs[[2]rune{c.first, c.second}] = c.composed
	}
	return pairs
})

// Compose returns s in Unicode normal form C. It does not change bytes that are not UTF-8.
func Compose(s string) string {
	if isComposed(s) {
		return s
	}
	return mapValid(s, func(s string) string { return string(composeRunes(decomposeRunes(s))) })
}

// Decompose returns s in Unicode normal form D. It does not change bytes that are not UTF-8.
func Decompose(s string) string {
	if isASCII(s) {
		return s
	}
	return mapValid(s, func(s string) string { return string(decomposeRunes(s)) })
}

// mapValid applies convert to each part of s that is valid UTF-8.
func mapValid(s string, convert func(string) string) string {
	if utf8.ValidString(s) {
		return convert(s)
	}
	var b strings.Builder
	for start, i := 0, 0; ; {
		r, n := utf8.DecodeRuneInString(s[i:])
		isInvalid := r == utf8.RuneError && n == 1
		if n == 0 || isInvalid {
			b.WriteString(convert(s[start:i]))
			b.WriteString(s[i : i+n])
			start = i + n
		}
		if n == 0 {
			return b.String()
		}
		i += n
	}
}

// isComposed reports whether s is certainly in normal form C, because all its characters are below
// U+0300. None of these is a mark or has a different normal form.
func isComposed(s string) bool {
	for _, r := range s {
		if r >= 0x300 {
			return false
		}
	}
	return true
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// decomposeRunes returns the characters of s, decomposed, with the marks in their order.
func decomposeRunes(s string) []rune {
	rs := make([]rune, 0, len(s))
	for _, r := range s {
		rs = appendDecomposed(rs, r)
	}
	for i := 0; i < len(rs); {
		if combiningClass(rs[i]) == 0 {
			i++
			continue
		}
		end := i + 1
		for end < len(rs) && combiningClass(rs[end]) != 0 {
			end++
		}
		slices.SortStableFunc(rs[i:end], func(a, b rune) int {
			return cmp.Compare(combiningClass(a), combiningClass(b))
		})
		i = end
	}
	return rs
}

// isInRange reports whether i is from 0 to n-1.
func isInRange(i, n rune) bool { return i >= 0 && i < n }

// isTail reports whether r is the tail of a Hangul syllable.
func isTail(r rune) bool { return isInRange(r-tailFirst-1, tailCount-1) }

// isOpenSyllable reports whether r is a Hangul syllable without a tail.
func isOpenSyllable(r rune) bool {
	i := r - syllableFirst
	return isInRange(i, syllableCount) && i%tailCount == 0
}

func appendDecomposed(rs []rune, r rune) []rune {
	if r < utf8.RuneSelf {
		return append(rs, r)
	}
	if i := r - syllableFirst; isInRange(i, syllableCount) {
		rs = append(rs, leadFirst+i/(vowelCount*tailCount), vowelFirst+i%(vowelCount*tailCount)/tailCount)
		if tail := i % tailCount; tail != 0 {
			rs = append(rs, tailFirst+tail)
		}
		return rs
	}
	i, found := slices.BinarySearchFunc(decompositions[:], r, func(d decomposition, r rune) int {
		return cmp.Compare(d.char, r)
	})
	if !found {
		return append(rs, r)
	}
	return append(rs, []rune(decompositions[i].full)...)
}

// combiningClass returns the combining class of a mark. It returns 0 for letters and other
// characters.
func combiningClass(r rune) uint8 {
	if r < 0x300 {
		return 0
	}
	i, found := slices.BinarySearchFunc(markClasses[:], r, func(m markClass, r rune) int {
		return cmp.Compare(m.char, r)
	})
	if !found {
		return 0
	}
	return markClasses[i].class
}

// composeRunes composes decomposed characters in place.
func composeRunes(rs []rune) []rune {
	starter := -1 // index in out of the last character with class 0
	lastClass := uint8(0)
	out := rs[:0]
	for _, r := range rs {
		class := combiningClass(r)
		isBlocked := starter < len(out)-1 && lastClass >= class
		if starter >= 0 && !isBlocked {
			if c, ok := composePair(out[starter], r); ok {
				out[starter] = c
				continue
			}
		}
		if class == 0 {
			starter = len(out)
		}
		lastClass = class
		out = append(out, r)
	}
	return out
}

// composePair returns the character that is composed of a and b. It returns false if there is no
// such character.
func composePair(a, b rune) (rune, bool) {
	if lead, vowel := a-leadFirst, b-vowelFirst; isInRange(lead, leadCount) && isInRange(vowel, vowelCount) {
		return syllableFirst + (lead*vowelCount+vowel)*tailCount, true
	}
	if isTail(b) && isOpenSyllable(a) {
		return a + b - tailFirst, true
	}
	c, ok := compositionPairs()[[2]rune{a, b}]
	return c, ok
}
