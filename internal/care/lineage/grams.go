// Stretches of six words, by which a text is found to hold some of another.

// Package lineage finds which texts of a memory were made from which.
package lineage

import (
	"hash/maphash"
	"strings"
	"unicode"
)

// gramWords is how many words in a row two texts share where one was made from the
// other.
const gramWords = 6

// Gram is a hash of that many words in a row.
type Gram uint64

var seed = maphash.MakeSeed()

// Grams returns the stretches of words of a text, in order. Letter case and what
// stands between words do not count. In scripts that are written without spaces,
// each letter is a word. Hashes are equal within one run of a program only.
func Grams(s string) []Gram { return gramsOf(wordsOf(s)) }

// gramFactor is odd, and has bits all over.
const gramFactor = 0x9e3779b97f4a7c15

// gramsOf is Grams of words.
func gramsOf(words []string) (grams []Gram) {
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

// firstUnspaced is the first letter of Thai; Han and Kana follow.
const firstUnspaced = '\u0e01'

// wordsOf cuts a text into words in lower case.
func wordsOf(s string) (words []string) {
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
