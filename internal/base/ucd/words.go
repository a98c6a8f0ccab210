// Words: stretches of alphanumerics.

package ucd

import (
	"iter"
	"unicode/utf8"
)

// Word is a longest stretch of alphanumerics.
type Word struct {
	Start, End int // bytes, half-open
	Runes      int
	Plain      bool // lower-case ASCII letters and digits only
}

// The kinds of byte that the fast path of Words tells apart.
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

// Words yields the words of s in order. Bytes that are not UTF-8 separate.
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
					if !IsAlnum(r) { // as utf8.RuneError is not
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
			// What ended the word is no part of the next.
			if i < len(s) && s[i] < utf8.RuneSelf {
				i++
			} else {
				_, n := utf8.DecodeRuneInString(s[i:])
				i += n
			}
		}
	}
}
