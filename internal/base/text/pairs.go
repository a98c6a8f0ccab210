// This file skips groups of candidates that contain no candidate similar to a word.

package text

import (
	"math/bits"
	"strings"
	"unicode/utf8"
)

// LetterPairSet is a set of pairs of adjacent letters that occur in a group of texts. The last letter of a text also
// forms a pair, with the end of the text. Each pair has one of 512 bits, and some pairs share a bit. Index files
// contain such sets, so a change of the bits needs a new index file format.
type LetterPairSet [8]uint64

// AddText adds the pairs of adjacent letters in the text s to the set. If s contains upper-case letters or invalid
// UTF-8, AddText instead adds every possible pair, so that the set excludes no text.
func (p *LetterPairSet) AddText(s string) {
	if toLowerText(s) != s {
		for i := range p {
			p[i] = ^uint64(0)
		}
		return
	}
	previous := rune(-1)
	for _, r := range s {
		if previous >= 0 {
			p.addPair(previous, r)
		}
		previous = r
	}
	if previous >= 0 {
		p.addPair(previous, endOfText)
	}
}

// endOfText stands for the end of a text in a pair.
const endOfText = -1

func (p *LetterPairSet) addPair(firstLetter, secondLetter rune) {
	n := (uint32(firstLetter)*0x9E3779B1 + uint32(secondLetter)) * 0x85EBCA6B >> (32 - 9)
	p[n/64] |= 1 << (n % 64)
}

// countMissingPairs returns the number of pairs in q that are not in p. Pairs that share a bit are counted once.
func (p *LetterPairSet) countMissingPairs(q *LetterPairSet) (n int) {
	for i := range p {
		n += bits.OnesCount64(q[i] &^ p[i])
	}
	return n
}

// hasAll reports whether p contains all pairs that are in q.
func (p *LetterPairSet) hasAll(q *LetterPairSet) bool {
	missing := uint64(0)
	for i := range p {
		missing |= q[i] &^ p[i]
	}
	return missing == 0
}

func (p *LetterPairSet) isFull() bool {
	all := ^uint64(0)
	for i := range p {
		all &= p[i]
	}
	return all == ^uint64(0)
}

// maxMistypedLetters is the maximum number of letters of a word to which a candidate can be similar because of typing
// errors.
const maxMistypedLetters = maxCandidateLetters + 2

// wordPairs contains the pairs of the word with which candidates are compared.
type wordPairs struct {
	allPairs LetterPairSet // all pairs, without the pair of the last letter and the end
	// suffixes[i] contains the pairs of the word without its first i letters. It is nil if the word is so long that it
	// is not compared by counting typing errors.
	suffixes []LetterPairSet
}

func newWordPairs(word []rune) *wordPairs {
	var p wordPairs
	for i := range len(word) - 1 {
		p.allPairs.addPair(word[i], word[i+1])
	}
	if len(word) > maxMistypedLetters {
		return &p
	}
	p.suffixes = make([]LetterPairSet, len(word)+1)
	next := rune(endOfText)
	for i := len(word) - 1; i >= 0; i-- {
		p.suffixes[i] = p.suffixes[i+1]
		p.suffixes[i].addPair(word[i], next)
		next = word[i]
	}
	return &p
}

// MayAddFromGroup reports whether a group of candidates may contain a candidate that is similar to the word. If the
// result is false, no candidate of the group is similar, and the caller can skip the whole group. All candidates of the
// group begin with the text prefix. The set pairs contains all pairs of adjacent letters that occur in the candidates.
func (s *SimilarTexts) MayAddFromGroup(prefix []byte, pairs *LetterPairSet) bool {
	if s.maxTexts == 0 {
		return false
	}
	if pairs.isFull() {
		return true // A full set excludes no candidate. AddText fills the set for a text with capitals.
	}
	if s.pairs == nil {
		s.pairs = newWordPairs(s.word.runes)
	}
	mayContainWord := pairs.hasAll(&s.pairs.allPairs)
	if len(s.word.runes) < minWordPartLetters {
		mayContainWord = strings.HasPrefix(s.word.text, string(prefix)) ||
			strings.HasPrefix(string(prefix), s.word.text)
	}
	return mayContainWord || strings.Contains(s.word.text, string(prefix)) || s.mayBeMistyped(prefix, pairs)
}

// mayBeMistyped reports whether a group of candidates may contain a candidate that differs from the word by few typing
// errors. All candidates begin with prefix, and pairs contains their pairs of adjacent letters.
//
// For each j, mayBeMistyped adds two numbers: the typing errors between prefix and the first j letters of the word, and
// the minimum number of errors in the rest of the word. The second number follows from the pairs of the rest that are
// not in the set pairs, because one typing error changes at most pairsPerTypingError pairs. The result is true if one
// of the sums is not above the maximum number of typing errors.
func (s *SimilarTexts) mayBeMistyped(prefix []byte, pairs *LetterPairSet) bool {
	const pairsPerTypingError = 3 // two swapped letters change the most pairs
	word, maxErrors, suffixes := s.word.runes, s.word.maxTypingErrors, s.pairs.suffixes
	if suffixes == nil {
		return false
	}
	var c prefixComparison
	if !c.compare(prefix, word, maxErrors) {
		return false
	}
	hasRest := func(start, errors int) bool {
		return errors <= maxErrors &&
			pairs.countMissingPairs(&suffixes[start]) <= pairsPerTypingError*(maxErrors-errors)
	}
	for j := range len(word) + 1 {
		if hasRest(j, c.errorCounts[j]) {
			return true
		}
		// The prefix's last letter and the candidate's next letter may be swapped.
		isSwapped := c.length > 0 && j+1 < len(word) && word[j+1] == c.lastLetter
		if isSwapped && hasRest(j+2, c.previousErrorCounts[j]+1) {
			return true
		}
	}
	return false
}

// prefixComparison is the result of comparing a prefix with all beginnings of a word.
type prefixComparison struct {
	length     int  // number of letters in the prefix
	lastLetter rune // last letter of the prefix, if length is not 0
	// errorCounts[j] is the number of typing errors between the prefix and the word's first j letters.
	// previousErrorCounts is the same for the prefix without its last letter. Both are rows of the table that
	// EditDistance also computes.
	errorCounts, previousErrorCounts [maxMistypedLetters + 1]int
}

// compare compares prefix with word. It returns false if prefix differs from each beginning of word by more than
// maxErrors typing errors. Otherwise it returns true, and c.errorCounts[j] contains the number of typing errors between
// prefix and the first j letters of word. An incomplete letter at the end of prefix is ignored.
func (c *prefixComparison) compare(prefix []byte, word []rune, maxErrors int) bool {
	var before [maxMistypedLetters + 1]int // the row before previousErrorCounts
	for j := range len(word) + 1 {
		c.errorCounts[j] = j
	}
	for len(prefix) > 0 {
		r, size := utf8.DecodeRune(prefix)
		if r == utf8.RuneError && size == 1 {
			break // The prefix ends within a letter.
		}
		prefix = prefix[size:]
		copy(before[:len(word)+1], c.previousErrorCounts[:])
		copy(c.previousErrorCounts[:len(word)+1], c.errorCounts[:])
		least := c.length + 1
		c.errorCounts[0] = least
		for j, letter := range word {
			d := c.previousErrorCounts[j]
			if letter != r {
				d++
			}
			d = min(d, c.previousErrorCounts[j+1]+1, c.errorCounts[j]+1)
			if c.length > 0 && j > 0 && r == word[j-1] && c.lastLetter == letter {
				d = min(d, before[j-1]+1)
			}
			c.errorCounts[j+1] = d
			least = min(least, d)
		}
		if least > maxErrors {
			return false
		}
		c.lastLetter = r
		c.length++
	}
	return true
}
