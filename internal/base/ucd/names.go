// This file composes and decomposes characters. Most keyboards write é as one character. In file names of macOS, it
// may be a letter followed by a mark.

package ucd

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:generate go run github.com/oxbow-memory/oxbow/test/gen/ucdnames

// combiningMark is a combining mark, such as an accent, with its Unicode combining class. Normalization sorts the marks
// after a letter by this class.
type combiningMark struct {
	mark           rune
	combiningClass uint8
}

// decomposition is a character with its full decomposition.
type decomposition struct {
	char       rune
	decomposed string
}

// composition is a pair of characters with the character that they form.
type composition struct{ first, second, composed rune }

// Code points and numbers of Hangul letters. Hangul syllables are composed by arithmetic, not by a table.
const (
	firstHangulSyllable = 0xac00
	firstHangulLead     = 0x1100
	firstHangulVowel    = 0x1161
	hangulTailBase      = 0x11a7 // code point before the first tail consonant
	hangulLeadCount     = 19
	hangulVowelCount    = 21
	hangulTailCount     = 28
	hangulSyllableCount = hangulLeadCount * hangulVowelCount * hangulTailCount
)

// composedByPair maps each pair of characters to the character that they form.
var composedByPair = sync.OnceValue(func() map[[2]rune]rune {
	pairs := make(map[[2]rune]rune, len(compositions))
	for _, c := range compositions {
		pairs[[2]rune{c.first, c.second}] = c.composed
	}
	return pairs
})

// ToNFC returns s in Unicode normal form C. Bytes that are not UTF-8 stay unchanged.
func ToNFC(s string) string {
	if isComposed(s) {
		return s
	}
	return convertValidUTF8(s, func(s string) string { return string(composeRunes(decomposeRunes(s))) })
}

// ToNFD returns s in Unicode normal form D. Bytes that are not UTF-8 stay unchanged.
func ToNFD(s string) string {
	if isASCII(s) {
		return s
	}
	return convertValidUTF8(s, func(s string) string { return string(decomposeRunes(s)) })
}

// convertValidUTF8 calls convert for each part of s that is valid UTF-8, and returns the results together with all
// invalid bytes.
func convertValidUTF8(s string, convert func(string) string) string {
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

// isComposed reports whether all characters of s are below U+0300. Then s is in Unicode normal form C, because these
// characters are not combining marks and do not change in this form. isComposed may return false for other texts in
// normal form C.
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

// decomposeRunes returns the decomposed characters of s. The marks after each letter are sorted by combining class.
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

// isValidIndex reports whether 0 <= index < length.
func isValidIndex(index, length rune) bool { return index >= 0 && index < length }

// isHangulTail reports whether r is a consonant at the end of a Hangul syllable.
func isHangulTail(r rune) bool { return isValidIndex(r-hangulTailBase-1, hangulTailCount-1) }

// isHangulSyllableWithoutTail reports whether r is a Hangul syllable without a tail consonant.
func isHangulSyllableWithoutTail(r rune) bool {
	i := r - firstHangulSyllable
	return isValidIndex(i, hangulSyllableCount) && i%hangulTailCount == 0
}

func appendDecomposed(rs []rune, r rune) []rune {
	if r < utf8.RuneSelf {
		return append(rs, r)
	}
	if i := r - firstHangulSyllable; isValidIndex(i, hangulSyllableCount) {
		rs = append(
			rs,
			firstHangulLead+i/(hangulVowelCount*hangulTailCount),
			firstHangulVowel+i%(hangulVowelCount*hangulTailCount)/hangulTailCount,
		)
		if tail := i % hangulTailCount; tail != 0 {
			rs = append(rs, hangulTailBase+tail)
		}
		return rs
	}
	i, found := slices.BinarySearchFunc(decompositions[:], r, func(d decomposition, r rune) int {
		return cmp.Compare(d.char, r)
	})
	if !found {
		return append(rs, r)
	}
	return append(rs, []rune(decompositions[i].decomposed)...)
}

// combiningClass returns the combining class of a mark, and 0 for any other character.
func combiningClass(r rune) uint8 {
	if r < 0x300 {
		return 0
	}
	i, found := slices.BinarySearchFunc(combiningClasses[:], r, func(m combiningMark, r rune) int {
		return cmp.Compare(m.mark, r)
	})
	if !found {
		return 0
	}
	return combiningClasses[i].combiningClass
}

// composeRunes composes decomposed characters. It reuses the memory of rs.
func composeRunes(rs []rune) []rune {
	starter := -1 // index in out of the last letter or other character with Unicode combining class 0
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

// composePair returns the single character that Unicode defines for the character a followed by the character b, such
// as é for e and an accent. It returns false if Unicode defines no such character.
func composePair(a, b rune) (rune, bool) {
	if lead, vowel := a-firstHangulLead, b-firstHangulVowel; isValidIndex(lead, hangulLeadCount) &&
		isValidIndex(vowel, hangulVowelCount) {
		return firstHangulSyllable + (lead*hangulVowelCount+vowel)*hangulTailCount, true
	}
	if isHangulTail(b) && isHangulSyllableWithoutTail(a) {
		return a + b - hangulTailBase, true
	}
	c, ok := composedByPair()[[2]rune{a, b}]
	return c, ok
}
