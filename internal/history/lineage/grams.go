// This file divides texts into sequences of six words (grams), so that text copied between
// entries can be found.

// Package lineage finds out which texts of a memory were made from which other texts.
package lineage

import (
	"hash/maphash"
	"strings"
	"unicode"
)

// gramWords is the number of consecutive words that two texts must have in common for a copy to
// be assumed.
const gramWords = 6

// Gram is a hash of gramWords consecutive words.
type Gram uint64

var seed = maphash.MakeSeed()

// Grams returns the hashes of a text's sequences of six words, in order. It ignores letter case
// and the characters between words. In scripts that are written without spaces, each letter is a
// word. The hashes are comparable only within the same run of the program.
func Grams(s string) []Gram { return wordGrams(splitWords(s)) }

// gramFactor is the hash's multiplier. It is odd, so that no bits are lost, and its set bits are
// spread over the whole number.
const gramFactor = 0x9e3779b97f4a7c15

// wordGrams is like Grams, but takes the words.
func wordGrams(words []string) (grams []Gram) {
	if len(words) < gramWords {
		return nil
	}
	hashes := make([]uint64, len(words))
	for i, w := range words {
		hashes[i] = maphash.String(seed, w)
	}
	for i := gramWords; i <= len(words); i++ {
		g := uint64(0)
		for _, h := range hashes[i-gramWords : i] {
			g = g*gramFactor + h
		}
		grams = append(grams, Gram(g))
	}
	return grams
}

// firstUnspaced is the first letter of the Thai block. Han and Kana have higher code points, so
// lower runes need no script check.
const firstUnspaced = '\u0e01'

// splitWords splits a text into words, in lower case.
func splitWords(s string) (words []string) {
	from := -1
	s = strings.ToLower(s)
	end := func(i int) {
		if from >= 0 {
			words = append(words, s[from:i])
		}
		from = -1
	}
	for i, r := range s {
		switch {
		case r >= firstUnspaced && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
			end(i)
			words = append(words, string(r))
		case !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r):
			end(i)
		case from < 0:
			from = i
		}
	}
	end(len(s))
	return words
}
