// This file folds text: it removes differences in letter case, diacritics and character width.

package analysis

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

//go:generate go run github.com/oxbow-memory/oxbow/test/gen/decompositions

// FoldText returns the text s in lower case and without diacritics. It removes combining marks of Latin, Greek and
// Cyrillic letters. If Unicode decomposes a letter into a base letter and such marks, FoldText replaces the letter by
// the base letter. It also replaces ß by ss, æ by ae, ø by o, ł by l and some others, and full-width letters by
// ordinary letters. If nothing changes, FoldText returns s itself.
func FoldText(s string) string {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || isUpper(c) {
			return foldTextFromIndex(s, i)
		}
	}
	return s
}

func foldTextFromIndex(s string, startIndex int) string {
	var b strings.Builder
	b.Grow(len(s))
	b.WriteString(s[:startIndex])
	for _, r := range s[startIndex:] {
		switch {
		case r < utf8.RuneSelf:
			if isUpper(byte(r)) {
				r += 'a' - 'A'
			}
			b.WriteByte(byte(r))
			continue
		case r >= 0x300 && r <= 0x36f:
			continue // Drop the combining mark.
		case r >= 0xff01 && r <= 0xff5e:
			r -= 0xff01 - '!'
		}
		r = unicode.ToLower(r)
		switch r {
		case 'ß':
			b.WriteString("ss")
		case 'æ':
			b.WriteString("ae")
		case 'œ':
			b.WriteString("oe")
		case 'þ':
			b.WriteString("th")
		default:
			b.WriteRune(baseLetter(r))
		}
	}
	return b.String()
}

// baseLetter returns the letter r without its marks.
func baseLetter(r rune) rune {
	switch r {
	case 'ø':
		return 'o'
	case 'ł':
		return 'l'
	case 'đ', 'ð':
		return 'd'
	case 'ħ':
		return 'h'
	case 'ı':
		return 'i'
	case 'й':
		return r // Do not reduce й to и, because it is a separate letter of the alphabet.
	}
	if i, ok := slices.BinarySearchFunc(letterDecompositions[:], r, func(p [2]rune, r rune) int {
		return int(p[0] - r)
	}); ok {
		return letterDecompositions[i][1]
	}
	return r
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
