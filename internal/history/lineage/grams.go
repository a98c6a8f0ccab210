// This file divides texts into sequences of six words (grams), so that text copied between
// entries can be found. The history of a memory is searched for each question, so most of this
// code saves time for long histories.

// Package lineage finds out which texts of a memory were made from which other texts.
package lineage

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// wordsPerGram is the number of words in a gram.
const wordsPerGram = text.MinCopiedWords

// Gram is a hash of wordsPerGram consecutive words.
type Gram uint64

var hashSeed = maphash.MakeSeed()

// HashGrams returns a hash for each six consecutive words of a text, in order. It ignores letter case and the
// characters between words. In scripts that are written without spaces, each letter is a word. The hashes are
// comparable only within the same run of the program.
func HashGrams(s string) []Gram { return new(gramScanner).hashGrams(s) }

// gramFactor is the multiplier of the hash. It is odd, so that no bits are lost, and its set bits
// are spread over the whole number. oldestFactor is the power of gramFactor by which the oldest
// word of a gram is multiplied.
const (
	gramFactor   = 0x9e3779b97f4a7c15
	oldestFactor = gramFactor * gramFactor % (1 << 64) * gramFactor % (1 << 64) *
		gramFactor % (1 << 64) * gramFactor % (1 << 64)
)

// A gramScanner computes the grams of many texts in the same memory. The zero gramScanner is ready
// to use.
type gramScanner struct {
	lowerText []byte   // the text in lower case
	hashes    []uint64 // hashes of the words
	grams     []Gram

	hasStableHashes bool // hashes of words are the same in each run of the program
}

// hashWord returns the hash of the word in the first n bytes of b. At least shortWord bytes must
// follow it.
func (s *gramScanner) hashWord(b []byte, n int) uint64 {
	if s.hasStableHashes {
		return stableHash(b, n)
	}
	return hashWord(b, n)
}

// hashGrams returns the grams of a text. They are valid until the next call.
func (s *gramScanner) hashGrams(content string) []Gram {
	if !s.hashASCII(content) {
		s.hashWords(splitWords(content))
	}
	return s.combineHashes()
}

// wordByte maps ASCII letters and digits to lower case, all other ASCII characters to 0, and all
// other bytes to notASCII.
var wordByte = func() (table [256]byte) {
	for c := range table {
		switch {
		case c >= 'A' && c <= 'Z':
			table[c] = byte(c) - 'A' + 'a'
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			table[c] = byte(c)
		case c >= utf8.RuneSelf:
			table[c] = notASCII
		}
	}
	return table
}()

const notASCII = 0xff

// hashASCII computes the hashes of the words of an ASCII text, which are the words that splitWords
// returns. It returns false if the text has other characters.
func (s *gramScanner) hashASCII(content string) bool {
	s.hashes, s.lowerText = s.hashes[:0], append(s.lowerText[:0], content...)
	s.lowerText = append(
		s.lowerText,
		make([]byte, 1+shortWord)...) // a character after the last word, and space for hashWord
	from := -1
	for i := range len(content) + 1 {
		switch b := wordByte[s.lowerText[i]]; {
		case b == notASCII:
			return false
		case b != 0:
			s.lowerText[i] = b
			if from < 0 {
				from = i
			}
		case from >= 0:
			s.hashes = append(s.hashes, s.hashWord(s.lowerText[from:], i-from))
			from = -1
		}
	}
	return true
}

// hashWords computes the hashes of words.
func (s *gramScanner) hashWords(words []string) {
	s.hashes = s.hashes[:0]
	for _, w := range words {
		s.lowerText = append(append(s.lowerText[:0], w...), make([]byte, shortWord)...)
		s.hashes = append(s.hashes, s.hashWord(s.lowerText, len(w)))
	}
}

// shortWord is the maximum length, in bytes, of a word that hashWord multiplies as a single number.
const shortWord = 8

// hashSecrets are two numbers that nobody outside of this run of the program knows.
var hashSecrets = [2]uint64{maphash.String(hashSeed, "add"), maphash.String(hashSeed, "multiply") | 1}

// hashWord returns the hash of the word in the first n bytes of b. At least shortWord bytes must
// follow it. Most words are short, and for these it is faster than a hash of any length.
func hashWord(b []byte, n int) uint64 {
	if n > shortWord {
		return maphash.Bytes(hashSeed, b[:n])
	}
	word := binary.LittleEndian.Uint64(b) << (8 * (shortWord - n)) // without the bytes behind the word
	hi, lo := bits.Mul64(word^hashSecrets[0], hashSecrets[1])
	return hi ^ lo
}

// stableHash returns a hash of the first n bytes of b. At least shortWord bytes must follow them.
func stableHash(b []byte, n int) uint64 {
	h := uint64(n)
	for ; n > shortWord; n -= shortWord {
		h = mixHash(h, binary.LittleEndian.Uint64(b))
		b = b[shortWord:]
	}
	// without the bytes behind the word
	return mixHash(h, binary.LittleEndian.Uint64(b)<<(8*(shortWord-n)))
}

// mixHash combines two numbers. A change of any single bit in a or b changes about half of the
// result's bits.
func mixHash(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^gramFactor, b^0xa0761d6478bd642f)
	return hi ^ lo
}

// combineHashes computes the grams from the hashes of the words. Each gram is computed from the one
// before it.
func (s *gramScanner) combineHashes() []Gram {
	s.grams = s.grams[:0]
	g := uint64(0)
	for i, h := range s.hashes {
		if i >= wordsPerGram {
			g -= s.hashes[i-wordsPerGram] * oldestFactor
		}
		g = g*gramFactor + h
		if i >= wordsPerGram-1 {
			s.grams = append(s.grams, Gram(g))
		}
	}
	return s.grams
}

// wordGrams is like HashGrams, but takes the words of the text.
func wordGrams(words []string) []Gram {
	var s gramScanner
	s.hashWords(words)
	return s.combineHashes()
}

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
		case text.IsUnspaced(r):
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
