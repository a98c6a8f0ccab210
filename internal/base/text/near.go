// This file finds words that the user may have meant.

package text

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/base/ucd"
)

// FindSimilar returns at most limit candidates that are similar to word. The best candidate comes first, and no
// candidate is returned twice. Letter case is ignored. If word is empty, no candidate is similar. A candidate is
// similar if it belongs to one of these classes, from best to worst:
//
//  1. The candidate is equal to word.
//  2. The candidate begins with word. Or word begins with the candidate, and the candidate has at least 3 letters.
//  3. The candidate contains word, or word contains the candidate. Both must have at least 3 letters.
//  4. The candidate differs from word by at most 2 typing errors (see [EditDistance]), or by at most 1 if word has
//     fewer than 5 letters. The candidate must have at most 64 letters.
//
// Within a class, candidates with fewer typing errors come first. Candidates with equally many typing errors are
// ordered by these rules: candidates with the same first byte as word come first, then candidates with a similar
// length, then the candidates in lexical order.
func FindSimilar(word string, candidates iter.Seq[string], limit int) []string {
	s := NewSimilarTexts(word, limit)
	if s.maxTexts == 0 {
		return nil
	}
	for c := range candidates {
		if s.WouldAdd([]byte(c), 0) {
			s.Add(c)
		}
	}
	return s.Texts()
}

// SimilarTexts collects the candidates that are most similar to a word. [FindSimilar] defines which candidates these
// are. The order of the candidates does not matter.
type SimilarTexts struct {
	word        comparedWord
	maxTexts    int                // maximum number of texts, or 0 if no candidate can be similar
	bestMatches []similarCandidate // the best matches so far, sorted (at most maxTexts)
	// prefixLetters[i] is the set of letters in the first i bytes of the candidate that was last passed to WouldAdd
	prefixLetters []letterSet
	pairs         *wordPairs // nil until MayAddFromGroup needs it
}

// NewSimilarTexts returns an empty collection of texts that are similar to the parameter word. The collection keeps at
// most limit texts, which are the most similar texts that were added. If the word is empty, the collection stays empty,
// because no text is similar to an empty word.
func NewSimilarTexts(word string, limit int) *SimilarTexts {
	s := &SimilarTexts{word: newComparedWord(word), maxTexts: max(limit, 0), prefixLetters: make([]letterSet, 1, 64)}
	if len(s.word.runes) == 0 {
		s.maxTexts = 0
	}
	return s
}

// WouldAdd reports whether Add would add a candidate. It rejects most candidates within a few nanoseconds.
//
// The argument sharedPrefixBytes is the number of bytes that the beginning of the candidate shares with the beginning
// of the candidate in the last call. WouldAdd is faster because it does not examine these bytes again. The caller may
// pass 0 if it does not know the number. The number is useful if the candidates are sorted.
func (s *SimilarTexts) WouldAdd(candidate []byte, sharedPrefixBytes int) bool {
	sets := s.prefixLetters
	if cap(sets) <= len(candidate) {
		sets = slices.Grow(sets, len(candidate)+1-len(sets))
	}
	sets = sets[:len(candidate)+1]
	letters := sets[sharedPrefixBytes]
	for i := sharedPrefixBytes; i < len(candidate); i++ {
		letters |= s.word.letterSetOfByte[candidate[i]]
		sets[i+1] = letters
	}
	s.prefixLetters = sets
	length := len(candidate)
	if letters&nonASCIIMark != 0 {
		letters, length = lettersAndLength(string(candidate))
	}
	if s.maxTexts == 0 || !s.word.mayBeSimilar(letters, length) {
		return false
	}
	_, _, isNew := s.findPlace(string(candidate))
	return isNew
}

// Add adds a candidate to s.bestMatches if the candidate is similar enough to the searched word. If s.bestMatches
// already contains s.maxTexts texts, Add replaces the least similar text, but only if the candidate is more similar.
func (s *SimilarTexts) Add(candidate string) {
	m, i, isNew := s.findPlace(candidate)
	if !isNew {
		return
	}
	if len(s.bestMatches) == s.maxTexts {
		s.bestMatches = s.bestMatches[:s.maxTexts-1]
	}
	s.bestMatches = slices.Insert(s.bestMatches, i, m)
}

// findPlace compares a candidate with the searched word. m is the candidate with the result of the comparison, and i is
// the index at which m must be inserted into s.bestMatches. isNew is false if m must not be inserted.
func (s *SimilarTexts) findPlace(candidate string) (m similarCandidate, i int, isNew bool) {
	m, ok := s.word.compareCandidate(candidate)
	if !ok {
		return m, 0, false
	}
	i, isDuplicate := slices.BinarySearchFunc(s.bestMatches, m, similarCandidate.compare)
	return m, i, !isDuplicate && i < s.maxTexts
}

// Texts returns the texts in the collection, the most similar first.
func (s *SimilarTexts) Texts() []string {
	var texts []string
	for _, m := range s.bestMatches {
		// Copy the text, because it may be a part of a large string, which would stay in memory.
		texts = append(texts, strings.Clone(m.text))
	}
	return texts
}

// letterSet is a set of letters in lower case. Each letter has one of 64 bits, and some letters share a bit.
type letterSet uint64

// nonASCIIMark is the bit for each byte that belongs to a letter outside ASCII. It is used while a text is examined
// byte by byte, before its letters are decoded. No ASCII letter has this bit.
const nonASCIIMark letterSet = 1 << 31

// singleLetterSet returns the set that contains only the letter r, which must be in lower case.
func singleLetterSet(r rune) letterSet {
	if r >= utf8.RuneSelf {
		return 1 << (uint32(r) * 0x9E3779B1 >> 26)
	}
	bit := r&31 | r>>1&32 // 32 to 63 for letters, 0 to 31 for digits and most punctuation
	if bit == 31 {
		bit--
	}
	return 1 << bit
}

// lettersAndLength returns the set of letters in a text in lower case, and the letter count.
func lettersAndLength(s string) (letters letterSet, length int) {
	for _, r := range s {
		letters |= singleLetterSet(toLowerLetter(r))
		length++
	}
	return letters, length
}

// comparedWord is the word with which candidates are compared.
type comparedWord struct {
	runes           []rune
	text            string         // the word in lower case
	maxTypingErrors int            // maximum number of typing errors
	letters         letterSet      // the word's letters
	letterSetOfByte [256]letterSet // bit of each ASCII letter, and nonASCIIMark for all other bytes
}

func newComparedWord(word string) comparedWord {
	t := comparedWord{text: toLowerText(word), maxTypingErrors: 2}
	t.runes = []rune(t.text)
	if len(t.runes) < 5 {
		t.maxTypingErrors = 1
	}
	t.letters, _ = lettersAndLength(t.text)
	for b := range t.letterSetOfByte {
		t.letterSetOfByte[b] = nonASCIIMark
		if b < utf8.RuneSelf {
			t.letterSetOfByte[b] = singleLetterSet(toLowerLetter(rune(b)))
		}
	}
	return t
}

// mayBeSimilar reports whether a candidate with these letters and this number of letters may be similar to the word.
// It counts the letters that only one of the two words contains. Each such letter is a typing error, unless the
// candidate contains the word, or the word contains the candidate.
func (t *comparedWord) mayBeSimilar(letters letterSet, length int) bool {
	more, less := letters&^t.letters, t.letters&^letters
	switch difference := length - len(t.runes); {
	case difference > t.maxTypingErrors:
		return less == 0 // The candidate can only contain the word.
	case difference < -t.maxTypingErrors:
		return more == 0 // The word can only contain the candidate.
	}
	return bits.OnesCount64(uint64(more)) <= t.maxTypingErrors && bits.OnesCount64(uint64(less)) <= t.maxTypingErrors
}

const (
	minWordPartLetters  = 3  // minimum length of a word or candidate that is a part of the other
	maxCandidateLetters = 64 // maximum length of a candidate whose typing errors are counted
)

// similarCandidate is a candidate that is similar to the word.
type similarCandidate struct {
	text         string
	class        similarityClass
	editDistance int // number of typing errors if class is similarityTypingErrors, otherwise 0
	// 1 if the two words are similar except for typing errors and have different first bytes, otherwise 0. Such a
	// match is ranked lower, because people seldom mistype the first byte.
	differentStartPenalty int
	lengthDifference      int // difference between the lengths of the word and the candidate, in characters
}

// similarityClass says in which way a candidate is similar to a word. A smaller class is better (see [FindSimilar]).
type similarityClass int

const (
	similarityEqualWord similarityClass = iota
	similarityCommonPrefix
	similarityCommonPart
	similarityTypingErrors
)

// compare orders two matches by how similar they are, best first.
func (m similarCandidate) compare(o similarCandidate) int {
	return cmp.Or(
		cmp.Compare(m.class, o.class),
		cmp.Compare(m.editDistance, o.editDistance),
		cmp.Compare(
			m.differentStartPenalty,
			o.differentStartPenalty,
		),
		cmp.Compare(m.lengthDifference, o.lengthDifference),
		cmp.Compare(m.text, o.text),
	)
}

// compareCandidate returns how similar a candidate is to the word. It returns false if the candidate is not similar.
func (t *comparedWord) compareCandidate(candidate string) (similarCandidate, bool) {
	text := toLowerText(candidate)
	n := utf8.RuneCountInString(text)
	m := similarCandidate{text: candidate, lengthDifference: max(n-len(t.runes), len(t.runes)-n)}
	isLong := min(n, len(t.runes)) >= minWordPartLetters
	switch {
	case text == t.text:
		m.class = similarityEqualWord
	case n > 0 && strings.HasPrefix(text, t.text), isLong && strings.HasPrefix(t.text, text):
		m.class = similarityCommonPrefix
	case isLong && (strings.Contains(text, t.text) || strings.Contains(t.text, text)):
		m.class = similarityCommonPart
	// Count typing errors only for short words, because the time for counting them grows with the square of the
	// length.
	case m.lengthDifference <= t.maxTypingErrors && n <= maxCandidateLetters:
		m.class = similarityTypingErrors
		m.editDistance = EditDistance(t.runes, []rune(text))
		if text == "" || text[0] != t.text[0] {
			m.differentStartPenalty = 1
		}
		// Reject a match with as many typing errors as letters, because such words have nothing in common.
		return m, m.editDistance <= t.maxTypingErrors && m.editDistance < max(n, len(t.runes))
	default:
		return m, false
	}
	return m, true
}

// toLowerText converts each character of s to lower case separately.
func toLowerText(s string) string { return strings.Map(toLowerLetter, s) }

// toLowerLetter converts a letter to lower case.
func toLowerLetter(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	case r == ucd.CapitalIWithDot:
		return 'i'
	}
	return ucd.LowerRune(r)
}
