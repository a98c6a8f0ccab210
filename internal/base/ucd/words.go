// This file splits text into words, the longest sequences of alphanumeric characters.

package ucd

import (
	"iter"
	"unicode/utf8"
)

// A Word is a longest sequence of alphanumeric characters.
type Word struct {
	Start, End int // offsets in bytes, half-open
	Runes      int
	Plain      bool // only lower-case ASCII letters and digits
}

// Kinds of ASCII bytes for the fast path of Words.
const (
	separates = iota
	isPlain
	isUpper
)

// asciiKind tells the kind of each byte below 0x80.
var asciiKind = func() (kind [utf8.RuneSelf]uint8) {
	for c := range kind {
		switch {
		case (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'):
			kind[c] = isPlain
		case c >= 'A' && c <= 'Z':
			kind[c] = isUpper
		}
	}
	return kind
}()

// Words yields the words of s in order. Invalid UTF-8 separates words.
func Words(s string) iter.Seq[Word] {
	return func(yield func(Word) bool) {
		for i := 0; i < len(s); {
			start := i
			runes := 0
			plain := true
			for i < len(s) {
				if c := s[i]; c < utf8.RuneSelf {
					kind := asciiKind[c]
					if kind == separates {
						break
					}
					plain = plain && kind == isPlain
					i++
				} else {
					r, n := utf8.DecodeRuneInString(s[i:])
					if !IsAlnum(r) { // false for utf8.RuneError
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
			// The character that ended the word is not part of the next word.
			if i < len(s) && s[i] < utf8.RuneSelf {
				i++
			} else {
				_, n := utf8.DecodeRuneInString(s[i:])
				i += n
			}
		}
	}
}
