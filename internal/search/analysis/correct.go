// This file corrects typing errors.

package analysis

import "strings"

// Words shorter than minCorrectedBytes have too many similar terms, so that a correction would often be
// wrong. Words longer than maxCorrectedBytes are probably not words, and the time grows with the square of
// the length. The limits are in bytes.
const minCorrectedBytes, maxCorrectedBytes = 4, 64

// The bytes that CorrectSpelling tries as a missing or a wrong byte. otherCorrectionBytes is used for words with
// letters outside of ASCII.
var (
	latinCorrectionBytes = []byte("abcdefghijklmnopqrstuvwxyz'_-.")
	otherCorrectionBytes = func() []byte {
		bytes := append([]byte(nil), latinCorrectionBytes...)
		for c := 0x80; c <= 0xf4; c++ {
			bytes = append(bytes, byte(c))
		}
		return bytes
	}()
)

// CorrectSpelling returns the term that the writer of an unknown word probably meant, or "" if no
// term is similar. Term and correction differ by a single typing error: one byte too
// many, too few or wrong, or two swapped neighbours. Both must have at least four bytes,
// the word at most 64, and the correction must not have digits. Among several
// corrections, CorrectSpelling prefers those with the same first byte, then the most frequent,
// then the lexically smallest.
//
// df must return the number of documents that contain a term. CorrectSpelling calls it for all
// possible corrections, some hundreds, which is faster than comparing the word with the
// whole vocabulary (see Norvig, "How to Write a Spelling Corrector", 2007).
func CorrectSpelling(term string, df func(string) int) string {
	if len(term) < minCorrectedBytes || len(term) > maxCorrectedBytes {
		return ""
	}
	letters := latinCorrectionBytes
	if strings.ContainsFunc(term, func(r rune) bool { return r >= 0x80 }) {
		letters = otherCorrectionBytes
	}
	var best correction
	try := func(b []byte) {
		if len(b) < minCorrectedBytes || hasDigit(b) {
			return
		}
		if string(b) == term {
			return
		}
		n := df(string(b))
		if n == 0 {
			return
		}
		isAlike := b[0] == term[0]
		if best.isWorse(b, n, isAlike) {
			best = correction{string(b), n, isAlike}
		}
	}
	b := make([]byte, 0, len(term)+1)
	for i := range len(term) + 1 {
		b = append(append(b[:0], term[:i]...), 0)
		b = append(b, term[i:]...)
		for _, c := range letters { // the writer left out a byte
			b[i] = c
			try(b)
		}
		if i == len(term) {
			break
		}
		b = append(b[:0], term...)
		for _, c := range letters { // the writer typed a wrong byte
			b[i] = c
			try(b)
		}
		try(append(append(b[:0], term[:i]...), term[i+1:]...)) // the writer typed a byte too many
		if i+1 < len(term) {
			b = append(b[:0], term...)
			b[i], b[i+1] = b[i+1], b[i]
			try(b)
		}
	}
	return best.word
}

// correction is a possible correction of a word.
type correction struct {
	word               string
	df                 int  // number of documents with the word
	hasSameFirstLetter bool // begins with the same letter as the corrected word
}

// isWorse reports whether word b, with this document frequency, is a better correction than c. A
// correction with the same first letter is better, then a more frequent word.
func (c *correction) isWorse(b []byte, df int, isAlike bool) bool {
	switch {
	case c.word == "":
		return true
	case c.hasSameFirstLetter != isAlike:
		return isAlike
	case c.df != df:
		return df > c.df
	}
	return string(b) < c.word
}

func hasDigit(b []byte) bool {
	for _, c := range b {
		if isDigit(c) || c == ':' {
			return true
		}
	}
	return false
}
