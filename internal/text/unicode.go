// This file holds letters and cases as Unicode 17 has them. The standard
// library's tables are older, and have neither Alphabetic nor full lower case.

package text

import (
	"slices"
	"unicode/utf8"
)

//go:generate go run ./gen

// lowerRun is a run of code points: first, first+step, … last. The lower case
// of each is delta away.
type lowerRun struct {
	first, last rune
	step, delta int32
}

// isAlnum reports whether r is Alphabetic or a number (Nd, Nl, No).
func isAlnum(r rune) bool {
	if p := uint32(r) >> 8; p < uint32(len(alnumPage)) {
		return alnumBits[alnumPage[p]][(r>>6)&3]>>(r&63)&1 != 0
	}
	return false
}

// isCapital reports whether lower case changes r.
func isCapital(r rune) bool {
	if p := uint32(r) >> 8; p < uint32(len(capitalPage)) {
		return capitalBits[capitalPage[p]][(r>>6)&3]>>(r&63)&1 != 0
	}
	return false
}

const (
	capitalIWithDot = 'İ' // the only one whose lower case is two code points
	capitalSigma    = 'Σ' // its lower case depends on its place in the word
)

// lowerRune returns the lower case of a code point, without regard to what is
// around it. It is not asked about capitalIWithDot.
func lowerRune(r rune) rune {
	if !isCapital(r) {
		return r
	}
	i, found := slices.BinarySearchFunc(lowerRuns, r, func(run lowerRun, r rune) int {
		switch {
		case run.last < r:
			return -1
		case run.first > r:
			return 1
		}
		return 0
	})
	if !found || (r-lowerRuns[i].first)%lowerRuns[i].step != 0 {
		return r
	}
	return r + lowerRuns[i].delta
}

// lower returns the full lower case of a word of alphanumerics, and the word
// itself when it has no capitals.
func lower(word string) string {
	for i, r := range word {
		if isCapital(r) {
			return lowerFrom(word, i)
		}
	}
	return word
}

// lowerFrom returns the lower case of a word whose first capital is at byte at.
func lowerFrom(word string, at int) string {
	b := make([]byte, at, len(word)+4)
	copy(b, word)
	for i, r := range word[at:] {
		switch {
		case r < utf8.RuneSelf:
			if r >= 'A' && r <= 'Z' {
				r += 'a' - 'A'
			}
			b = append(b, byte(r))
		case r == capitalIWithDot:
			b = append(b, "i\u0307"...)
		case r == capitalSigma && isFinal(word, at+i):
			b = append(b, "ς"...)
		default:
			b = utf8.AppendRune(b, lowerRune(r))
		}
	}
	return string(b)
}

// isFinal reports whether the sigma at byte i ends its word, by the
// condition Final_Sigma of the Unicode Standard, section 3.13: a cased letter
// comes before it and none after, where those that are Case_Ignorable are
// looked past.
func isFinal(word string, i int) bool {
	before := false
	for s := word[:i]; s != ""; {
		r, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
		if !within(ignorable, r) {
			before = within(cased, r)
			break
		}
	}
	if !before {
		return false
	}
	for _, r := range word[i+len("Σ"):] {
		if !within(ignorable, r) {
			return !within(cased, r)
		}
	}
	return true
}

// within reports whether r is in one of the ranges, which rise.
func within(ranges [][2]rune, r rune) bool {
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
