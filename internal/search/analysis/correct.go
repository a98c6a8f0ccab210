// This file corrects typing errors.

package analysis

import "strings"

// Only words of minCorrectedWordBytes to maxCorrectedWordBytes bytes are corrected. A shorter word has too many
// similar terms, so that its correction would often be wrong. A longer text is probably not a word, and the time for a
// correction grows with the square of the length.
const minCorrectedWordBytes, maxCorrectedWordBytes = 4, 64

// These are the bytes that CorrectSpelling tries as a missing byte or in place of a wrong byte. For words with letters
// outside of ASCII, it tries nonASCIISpellingBytes.
var (
	latinSpellingBytes    = []byte("abcdefghijklmnopqrstuvwxyz'_-.")
	nonASCIISpellingBytes = func() []byte {
		bytes := append([]byte(nil), latinSpellingBytes...)
		for c := 0x80; c <= 0xf4; c++ {
			bytes = append(bytes, byte(c))
		}
		return bytes
	}()
)

// CorrectSpelling returns the term that the writer of an unknown word probably meant. If no term is similar, it
// returns "". The word and the correction differ by a single typing error: one byte too many, one missing byte, one
// wrong byte, or two swapped neighbors. Both must have at least four bytes, the word must have at most 64 bytes, and
// the correction must not contain digits. Among several corrections, CorrectSpelling prefers those with the same first
// byte as the word. Among these, it prefers the most frequent correction, then the lexically smallest.
//
// The function documentCount must return the number of documents that contain a term. CorrectSpelling calls it for
// each possible correction (some hundreds). This is faster than a comparison of the word with the whole vocabulary
// (see Norvig, "How to Write a Spelling Corrector", 2007).
func CorrectSpelling(term string, documentCount func(string) int) string {
	if len(term) < minCorrectedWordBytes || len(term) > maxCorrectedWordBytes {
		return ""
	}
	letters := latinSpellingBytes
	if strings.ContainsFunc(term, func(r rune) bool { return r >= 0x80 }) {
		letters = nonASCIISpellingBytes
	}
	var best spellingCorrection
	try := func(b []byte) {
		if len(b) < minCorrectedWordBytes || hasDigit(b) {
			return
		}
		if string(b) == term {
			return
		}
		n := documentCount(string(b))
		if n == 0 {
			return
		}
		isAlike := b[0] == term[0]
		if best.isWorseThanWord(b, n, isAlike) {
			best = spellingCorrection{string(b), n, isAlike}
		}
	}
	b := make([]byte, 0, len(term)+1)
	for i := range len(term) + 1 {
		b = append(append(b[:0], term[:i]...), 0)
		b = append(b, term[i:]...)
		for _, c := range letters { // Try to insert each possible byte, which may be missing in the mistyped word.
			b[i] = c
			try(b)
		}
		if i == len(term) {
			break
		}
		b = append(b[:0], term...)
		for _, c := range letters { // Try to replace the byte by each possible byte.
			b[i] = c
			try(b)
		}
		// Try to remove the byte at index i from the mistyped word.
		try(append(append(b[:0], term[:i]...), term[i+1:]...))
		if i+1 < len(term) {
			b = append(b[:0], term...)
			b[i], b[i+1] = b[i+1], b[i]
			try(b)
		}
	}
	return best.correctedWord
}

// spellingCorrection is a possible correction of an unknown word.
type spellingCorrection struct {
	correctedWord      string
	documentCount      int  // number of documents that contain the correction
	hasSameFirstLetter bool // The correction begins with the same letter as the unknown word.
}

// isWorseThanWord compares the correction c with the word b as corrections of a misspelled word. It reports whether c
// is worse. The parameter documentCount is the number of documents that contain b. The parameter hasSameFirstLetter
// tells whether b has the same first letter as the misspelled word. A correction with the same first letter is better.
// If c and b are equal in this respect, the more frequent word is better, and then the word that comes first in lexical
// order. An empty c is always worse.
func (c *spellingCorrection) isWorseThanWord(b []byte, documentCount int, hasSameFirstLetter bool) bool {
	switch {
	case c.correctedWord == "":
		return true
	case c.hasSameFirstLetter != hasSameFirstLetter:
		return hasSameFirstLetter
	case c.documentCount != documentCount:
		return documentCount > c.documentCount
	}
	return string(b) < c.correctedWord
}

func hasDigit(b []byte) bool {
	for _, c := range b {
		if isDigit(c) || c == ':' {
			return true
		}
	}
	return false
}
