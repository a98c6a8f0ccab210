// This file splits text into words and converts words to lower case. A word is a longest sequence of alphanumeric
// characters.

// Package ucd contains tables of the Unicode Character Database, version 17, for alphanumeric characters and full
// lower case. The standard library's tables are from an older version and lack these properties.
package ucd

import (
	"iter"
	"slices"
	"unicode/utf8"
)

//go:generate go run github.com/oxbow-memory/oxbow/test/gen/ucd

// A Word is a longest sequence of alphanumeric characters.
type Word struct {
	Start, End   int // position of the word in the text, in bytes (End is excluded)
	RuneCount    int
	IsLowerASCII bool // the word has only lower-case ASCII letters and digits
}

// Kinds of ASCII bytes, for the fast path in Words.
const (
	byteKindSeparator = iota
	byteKindLowerOrDigit
	byteKindUpper
)

// asciiByteKind contains, for each ASCII byte, whether it is a lower-case letter or digit, an upper-case letter, or a
// separator between words.
var asciiByteKind = func() (kind [utf8.RuneSelf]uint8) {
	for c := range kind {
		switch {
		case (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'):
			kind[c] = byteKindLowerOrDigit
		case c >= 'A' && c <= 'Z':
			kind[c] = byteKindUpper
		}
	}
	return kind
}()

// Words yields the words of s in order. A byte that is not valid UTF-8 ends a word.
func Words(s string) iter.Seq[Word] {
	return func(yield func(Word) bool) {
		for i := 0; i < len(s); {
			start := i
			runes := 0
			plain := true
			for i < len(s) {
				if c := s[i]; c < utf8.RuneSelf {
					kind := asciiByteKind[c]
					if kind == byteKindSeparator {
						break
					}
					plain = plain && kind == byteKindLowerOrDigit
					i++
				} else {
					r, n := utf8.DecodeRuneInString(s[i:])
					if !IsAlphanumeric(r) { // utf8.RuneError is not alphanumeric.
						break
					}
					i += n
					plain = false
				}
				runes++
			}
			if runes > 0 && !yield(Word{start, i, runes, plain}) {
				return
			}
			// Skip the character that ended the word.
			if i < len(s) && s[i] < utf8.RuneSelf {
				i++
			} else {
				_, n := utf8.DecodeRuneInString(s[i:])
				i += n
			}
		}
	}
}

// lowerCaseRange describes upper-case code points with lower-case forms. The code points are firstCodePoint,
// firstCodePoint + codePointStep, and so on up to lastCodePoint. The lower case of each code point is the code point
// plus lowerCaseOffset.
type lowerCaseRange struct {
	firstCodePoint, lastCodePoint  rune
	codePointStep, lowerCaseOffset int32
}

// IsAlphanumeric reports whether r has the property Alphabetic or is a number (category Nd, Nl or No).
func IsAlphanumeric(r rune) bool {
	if p := uint32(r) >> 8; p < uint32(len(alnumBitmapIndexes)) {
		return alnumBits[alnumBitmapIndexes[p]][(r>>6)&3]>>(r&63)&1 != 0
	}
	return false
}

// isCapital reports whether r changes when it is converted to lower case.
func isCapital(r rune) bool {
	if p := uint32(r) >> 8; p < uint32(len(capitalPage)) {
		return capitalBits[capitalPage[p]][(r>>6)&3]>>(r&63)&1 != 0
	}
	return false
}

const (
	CapitalIWithDot = 'İ' // the only capital whose lower case has two characters
	capitalSigma    = 'Σ' // capital whose lower case depends on its position in the word
)

// LowerRune returns the lower case of a character, without regard to its position in a word. It returns
// [CapitalIWithDot] unchanged, because this letter's lower case has two characters.
func LowerRune(r rune) rune {
	if !isCapital(r) {
		return r
	}
	i, found := slices.BinarySearchFunc(lowerCaseRanges, r, func(run lowerCaseRange, r rune) int {
		switch {
		case run.lastCodePoint < r:
			return -1
		case run.firstCodePoint > r:
			return 1
		}
		return 0
	})
	if !found || (r-lowerCaseRanges[i].firstCodePoint)%lowerCaseRanges[i].codePointStep != 0 {
		return r
	}
	return r + lowerCaseRanges[i].lowerCaseOffset
}

// LowerWord returns the lower case of an alphanumeric word. It returns a word without capitals unchanged.
func LowerWord(word string) string {
	for i, r := range word {
		if isCapital(r) {
			return lowerCaseFromByte(word, i)
		}
	}
	return word
}

// lowerCaseFromByte returns the word in lower case. The word's first capital letter begins at byte byteIndex, so all
// bytes before byteIndex are copied.
func lowerCaseFromByte(word string, byteIndex int) string {
	b := make([]byte, byteIndex, len(word)+4)
	copy(b, word)
	for i, r := range word[byteIndex:] {
		switch {
		case r < utf8.RuneSelf:
			if r >= 'A' && r <= 'Z' {
				r += 'a' - 'A'
			}
			b = append(b, byte(r))
		case r == CapitalIWithDot:
			b = append(b, "i\u0307"...)
		case r == capitalSigma && isFinalSigma(word, byteIndex+i):
			b = append(b, "ς"...)
		default:
			b = utf8.AppendRune(b, LowerRune(r))
		}
	}
	return string(b)
}

// isFinalSigma reports whether the sigma at byte offset i is the last letter of its word. By the condition Final_Sigma
// of the Unicode Standard (section 3.13), a cased letter must precede it and none may follow. Characters with the
// property Case_Ignorable are skipped.
func isFinalSigma(word string, i int) bool {
	before := false
	for s := word[:i]; s != ""; {
		r, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
		if !inRanges(caseIgnorableRanges, r) {
			before = inRanges(casedRanges, r)
			break
		}
	}
	if !before {
		return false
	}
	for _, r := range word[i+len("Σ"):] {
		if !inRanges(caseIgnorableRanges, r) {
			return !inRanges(casedRanges, r)
		}
	}
	return true
}

// inRanges reports whether r is in one of the ranges, which must be sorted.
func inRanges(ranges [][2]rune, r rune) bool {
	_, found := slices.BinarySearchFunc(ranges, r, func(x [2]rune, r rune) int {
		switch {
		case x[1] < r:
			return -1
		case x[0] > r:
			return 1
		}
		return 0
	})
	return found
}
