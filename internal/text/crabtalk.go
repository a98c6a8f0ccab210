// This file holds crabtalk's analyzer.

// Package text holds what is done to text before and after ranking: cutting it
// into terms, showing a stretch of it, finding words near to one that was
// misspelt, and guessing how many tokens a model will see. All of it is pure
// functions of strings.
package text

import "unicode/utf8"

// Crabtalk returns the terms of s exactly as crabtalk's memory store (its
// RFC 0150) cuts them: the longest stretches of alphanumerics of Unicode 17,
// those of one code point dropped, in full lower case, without 49 stop words.
// There is no stemming and no normalisation, and text without spaces between
// words, such as Chinese, is one term. Bytes that are not UTF-8 separate.
//
// Terms may share memory with s.
func Crabtalk(s string) []string {
	return AppendCrabtalk(nil, s)
}

// AppendCrabtalk appends the terms of s, as [Crabtalk] cuts them, to terms.
func AppendCrabtalk(terms []string, s string) []string {
	return analyze(terms, s, func(p piece) bool { return p.runes > 1 })
}

// CrabtalkBytes returns the terms of s as crabtalk's earlier memory of one file
// an entry (its RFC 0038) cuts them. It differs from [Crabtalk] in that it
// drops stretches of one byte, so that a single letter or ideograph outside
// ASCII stays.
func CrabtalkBytes(s string) []string {
	return analyze(nil, s, func(p piece) bool { return p.end-p.start > 1 })
}

func analyze(terms []string, s string, keep func(piece) bool) []string {
	for p := range pieces(s) {
		if !keep(p) {
			continue
		}
		word := s[p.start:p.end]
		if !p.plain {
			word = lower(word)
		}
		if isStopWord(word) {
			continue
		}
		if terms == nil {
			terms = make([]string, 0, 4+len(s)/9) // English has a term in about nine bytes
		}
		terms = append(terms, word)
	}
	return terms
}

// piece is a longest stretch of alphanumerics: bytes start to end, half-open.
type piece struct {
	start, end, runes int
	plain             bool // lower-case ASCII letters and digits only
}

// The kinds of byte that the fast path of pieces tells apart.
const (
	separates = iota
	isPlain
	isUpper
)

// asciiKind tells the kind of each byte below 0x80.
var asciiKind = func() (kind [utf8.RuneSelf]uint8) {
	for c := range kind {
		switch {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			kind[c] = isPlain
		case c >= 'A' && c <= 'Z':
			kind[c] = isUpper
		}
	}
	return kind
}()

// pieces yields the pieces of s in order.
func pieces(s string) func(yield func(piece) bool) {
	return func(yield func(piece) bool) {
		for i := 0; i < len(s); {
			start, runes, plain := i, 0, true
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
					if !isAlnum(r) { // as utf8.RuneError is not
						break
					}
					i += n
					plain = false
				}
				runes++
			}
			if runes > 0 && !yield(piece{start, i, runes, plain}) {
				return
			}
			// What ended the piece is no part of the next.
			if i < len(s) && s[i] < utf8.RuneSelf {
				i++
			} else {
				_, n := utf8.DecodeRuneInString(s[i:])
				i += n
			}
		}
	}
}

// isStopWord reports whether crabtalk never looks for the word.
func isStopWord(word string) bool {
	switch word {
	case "a", "an", "the", "is", "it", "in", "of", "to", "and", "or", "for", "on", "at", "by", "with",
		"as", "be", "was", "are", "been", "has", "had", "have", "do", "does", "did", "but", "not", "no", "if",
		"so", "from", "that", "this", "then", "than", "into", "its", "my", "me", "we", "he", "she", "they",
		"you", "your", "our", "his", "her":
		return true
	}
	return false
}
