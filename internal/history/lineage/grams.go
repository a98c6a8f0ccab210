// This file divides texts into grams, which are sequences of six words. Two texts with a common gram were probably
// copied from each other. A search for copied text may need the grams of all texts in the history, so most of this
// code is written for speed.

// Package lineage finds out from which other texts the texts of a memory were made.
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

// wordsPerGram is how many consecutive words two texts must have in common to count as copied.
const wordsPerGram = text.MinCopiedWords

// WordGram is a hash of wordsPerGram consecutive words in a text.
type WordGram uint64

var hashSeed = maphash.MakeSeed()

// HashWordGrams returns the grams of a text in order: a hash for each six consecutive words. It ignores letter case and
// the characters between words. In scripts without spaces, each letter counts as a word. Hashes from different runs of
// the program are not comparable.
func HashWordGrams(s string) []WordGram { return new(wordGramHasher).hashTextWordGrams(s) }

// A gram is a sequence of six words. gramHashFactor is the factor by which the hash is multiplied for each word in a
// gram. The factor is odd, so that no bits are lost, and its set bits are spread over the whole number.
// firstWordHashFactor is the fifth power of gramHashFactor. It is the factor for a gram's first word, because the first
// word is multiplied once for each of the five words after it.
const (
	gramHashFactor      = 0x9e3779b97f4a7c15
	firstWordHashFactor = gramHashFactor * gramHashFactor % (1 << 64) * gramHashFactor % (1 << 64) *
		gramHashFactor % (1 << 64) * gramHashFactor % (1 << 64)
)

// A wordGramHasher computes hashes of six consecutive words for many texts, and reuses its buffers. The zero
// wordGramHasher is ready to use.
type wordGramHasher struct {
	lowerText  []byte   // text in lower case
	wordHashes []uint64 // hash of each word
	wordGrams  []WordGram

	// A word's hash must be the same in each run of the program, because the hash is stored in a file.
	hasStableHashes bool
}

// hashWord returns the hash of the word in b's first wordLength bytes. b must have at least maxShortWordBytes more
// bytes, because the hash function reads eight bytes at once.
func (s *wordGramHasher) hashWord(b []byte, wordLength int) uint64 {
	if s.hasStableHashes {
		return stableHash(b, wordLength)
	}
	return hashWord(b, wordLength)
}

// hashTextWordGrams returns a hash for each sequence of six words in a text. The result is valid until the next call.
func (s *wordGramHasher) hashTextWordGrams(content string) []WordGram {
	if !s.tryHashASCII(content) {
		s.hashWords(splitWords(content))
	}
	return s.hashWordGrams()
}

// lowerWordByteTable maps each ASCII letter or digit to its lower case, each other ASCII character to 0, and each byte
// of a non-ASCII character to nonASCIIByteMark.
var lowerWordByteTable = func() (table [256]byte) {
	for c := range table {
		switch {
		case c >= 'A' && c <= 'Z':
			table[c] = byte(c) - 'A' + 'a'
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			table[c] = byte(c)
		case c >= utf8.RuneSelf:
			table[c] = nonASCIIByteMark
		}
	}
	return table
}()

const nonASCIIByteMark = 0xff

// tryHashASCII computes the hash of each word in an ASCII text. The words are the same as in splitWords. It returns
// false if the text contains a character that is not ASCII.
func (s *wordGramHasher) tryHashASCII(content string) bool {
	s.wordHashes, s.lowerText = s.wordHashes[:0], append(s.lowerText[:0], content...)
	s.lowerText = append(
		s.lowerText,
		// These zeros end the last word and give hashWord the bytes that it reads after a word.
		make([]byte, 1+maxShortWordBytes)...)
	from := -1
	for i := range len(content) + 1 {
		switch b := lowerWordByteTable[s.lowerText[i]]; {
		case b == nonASCIIByteMark:
			return false
		case b != 0:
			s.lowerText[i] = b
			if from < 0 {
				from = i
			}
		case from >= 0:
			s.wordHashes = append(s.wordHashes, s.hashWord(s.lowerText[from:], i-from))
			from = -1
		}
	}
	return true
}

// hashWords computes the hash of each word.
func (s *wordGramHasher) hashWords(words []string) {
	s.wordHashes = s.wordHashes[:0]
	for _, w := range words {
		s.lowerText = append(append(s.lowerText[:0], w...), make([]byte, maxShortWordBytes)...)
		s.wordHashes = append(s.wordHashes, s.hashWord(s.lowerText, len(w)))
	}
}

// A word of at most maxShortWordBytes bytes is hashed as a single number.
const maxShortWordBytes = 8

// hashSecrets are two random numbers, so that nobody can construct words with equal hashes.
var hashSecrets = [2]uint64{maphash.String(hashSeed, "add"), maphash.String(hashSeed, "multiply") | 1}

// hashWord returns the hash of the word in b's first wordLength bytes. A short word is hashed as a single number,
// because this is faster and most words are short. This number is read from maxShortWordBytes bytes, so b must have at
// least as many bytes.
func hashWord(b []byte, wordLength int) uint64 {
	if wordLength > maxShortWordBytes {
		return maphash.Bytes(hashSeed, b[:wordLength])
	}
	word := binary.LittleEndian.Uint64(
		b,
	) << (8 * (maxShortWordBytes - wordLength)) // The shift removes the bytes after the word.
	hi, lo := bits.Mul64(word^hashSecrets[0], hashSecrets[1])
	return hi ^ lo
}

// stableHash returns a hash of b's first byteCount bytes that is the same in each program run. b must have at least
// maxShortWordBytes more bytes.
func stableHash(b []byte, byteCount int) uint64 {
	h := uint64(byteCount)
	for ; byteCount > maxShortWordBytes; byteCount -= maxShortWordBytes {
		h = mixHashes(h, binary.LittleEndian.Uint64(b))
		b = b[maxShortWordBytes:]
	}
	// Shift out the bytes that follow the word, because eight bytes are read at once.
	return mixHashes(h, binary.LittleEndian.Uint64(b)<<(8*(maxShortWordBytes-byteCount)))
}

// mixHashes combines two numbers to a hash. If any single bit changes in a or b, about half of the hash's bits change.
func mixHashes(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^gramHashFactor, b^0xa0761d6478bd642f)
	return hi ^ lo
}

// hashWordGrams returns a hash for each six consecutive words, from the hashes of the single words. It computes
// each hash from the previous one.
func (s *wordGramHasher) hashWordGrams() []WordGram {
	s.wordGrams = s.wordGrams[:0]
	g := uint64(0)
	for i, h := range s.wordHashes {
		if i >= wordsPerGram {
			g -= s.wordHashes[i-wordsPerGram] * firstWordHashFactor
		}
		g = g*gramHashFactor + h
		if i >= wordsPerGram-1 {
			s.wordGrams = append(s.wordGrams, WordGram(g))
		}
	}
	return s.wordGrams
}

// computeWordGrams returns a hash for each sequence of six words in a text that is already split into words.
func computeWordGrams(words []string) []WordGram {
	var s wordGramHasher
	s.hashWords(words)
	return s.hashWordGrams()
}

// splitWords returns the words of a text in lower case.
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
		case text.IsUnspacedScriptLetter(r):
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
