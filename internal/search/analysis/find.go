// This file searches for a few terms in many documents. It does not analyze all words of the documents.

package analysis

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"strings"
	"sync"

	"github.com/oxbow-memory/oxbow/internal/search/index"
)

// A TermFinder builds documents like an [Analyzer], but only with the terms in a given set. It is faster than an
// Analyzer because it does not analyze most words. If a word consists of lower-case letters, its first letters are
// usually enough to determine that its term is not in the set. A TermFinder then skips the word and adds 1 to the
// length of the document, because such a word always has exactly one term. Therefore the length of the document is the
// same as with an Analyzer. A TermFinder must not be used by several goroutines at the same time. A TermFinder keeps
// references to the texts that are passed to it.
type TermFinder struct {
	termsToFind *TermSet
	cache       chunkTermCache
	wantsDigits bool // termsToFind may contain a number

	// patterns for the first letters of the plain words whose term may be in termsToFind
	firstLettersPatterns []firstLettersPattern
	// set with the first three letters of all plain words whose term may be in termsToFind (see packThreeLetters), for
	// a fast first test
	threeLetterPrefixBits [1 << 10]uint32
	termSignatures        []uint64 // signatures of the terms in termsToFind (nil if termsToFind contains prefixes)
}

// firstLettersPattern is a pattern for the first letters of plain words. It contains the letters in the form that
// [packLetters] returns, and a mask that selects the bytes to compare.
type firstLettersPattern struct{ firstLetters, comparedBytesMask uint64 }

// maxFirstLettersPatterns is the maximum number of patterns with which the first letters of a word are compared. If
// there are more patterns, the comparison is skipped, and each word is analyzed.
const maxFirstLettersPatterns = 32

// NewTermFinder returns a TermFinder for the given set of terms.
func NewTermFinder(termsToFind *TermSet) *TermFinder {
	f := &TermFinder{termsToFind: termsToFind}
	for _, t := range slices.Concat(termsToFind.ListTerms(), termsToFind.ListPrefixes()) {
		f.addStemFirstLetters(t)
		f.wantsDigits = f.wantsDigits || t == "" || isDigit(t[0])
		f.termSignatures = append(f.termSignatures, termSignature(t))
	}
	for t := range termsToFind.terms {
		f.addWordFirstLetters(irregularWordsByTerm()[t])
	}
	if len(termsToFind.prefixes) > 0 {
		f.termSignatures = nil
		for t, words := range irregularWordsByTerm() {
			if termsToFind.HasAllWithPrefix(t) {
				f.addWordFirstLetters(words)
			}
		}
	}
	return f
}

// addWordFirstLetters prepares the finder for the words in the parameter words. For each word, it adds a pattern for
// the word's first letters. The finder analyzes a word of a document only if that word's first letters match such a
// pattern. The terms of the given words must be among the terms that the finder searches for.
func (f *TermFinder) addWordFirstLetters(words []string) {
	for _, w := range words {
		f.addFirstLettersPattern(packLetters(w), 8)
	}
}

// packLetters returns the first eight bytes of a word as a number. The word's first byte is the lowest byte of the
// number. If the word has fewer than eight bytes, the remaining bytes of the number are 0.
func packLetters(word string) (w uint64) {
	for i := range min(len(word), 8) {
		w |= uint64(word[i]) << (8 * i)
	}
	return w
}

// packThreeLetters returns the first three letters of a word as a 15-bit number. The parameter contains one letter in
// each byte. In the result, each letter has five bits: a is 1, and a missing letter is 0.
func packThreeLetters(packedLetters uint64) uint32 {
	return uint32(packedLetters&31<<10 | packedLetters>>8&31<<5 | packedLetters>>16&31)
}

// addFirstLettersPattern registers the first letterCount letters of a word. Words that begin with these letters may
// have a term that is searched for. The parameter packedFirstLetters contains the letters in the form that
// [packLetters] returns.
func (f *TermFinder) addFirstLettersPattern(packedFirstLetters uint64, letterCount int) {
	b := firstLettersPattern{packedFirstLetters, math.MaxUint64}
	if letterCount < 8 {
		b.comparedBytesMask = 1<<(8*letterCount) - 1
		b.firstLetters &= b.comparedBytesMask
	}
	f.firstLettersPatterns = append(f.firstLettersPatterns, b)
	three, free := packThreeLetters(b.firstLetters), packThreeLetters(^b.comparedBytesMask)
	for some := free; ; some = (some - 1) & free {
		f.threeLetterPrefixBits[(three|some)>>5] |= 1 << ((three | some) & 31)
		if some == 0 {
			break
		}
	}
}

// mayHaveTerm reports whether the search must examine a word that begins with packedFirstLetters, because one of the
// searched terms may match the word. The word consists only of ASCII letters and digits. packedFirstLetters has the
// form that [packLetters] returns.
func (f *TermFinder) mayHaveTerm(packedFirstLetters uint64) bool {
	return f.hasThreeLetterStart(packThreeLetters(packedFirstLetters)) && f.matchesFirstLetters(packedFirstLetters)
}

func (f *TermFinder) hasThreeLetterStart(packedLetters uint32) bool {
	return f.threeLetterPrefixBits[packedLetters>>5]>>(packedLetters&31)&1 != 0
}

// matchesFirstLetters reports whether the first letters of a word match a pattern in firstLettersPatterns. The argument
// packedFirstLetters contains these letters. If there are more than maxFirstLettersPatterns patterns, comparing them
// would be too slow. In this case, the result is true for each word.
func (f *TermFinder) matchesFirstLetters(packedFirstLetters uint64) bool {
	if len(f.firstLettersPatterns) > maxFirstLettersPatterns {
		return true
	}
	for i := range f.firstLettersPatterns {
		if b := &f.firstLettersPatterns[i]; packedFirstLetters&b.comparedBytesMask == b.firstLetters {
			return true
		}
	}
	return false
}

// irregularWordsByTerm contains, by term, the words whose terms do not follow from the rules of the stemmer.
var irregularWordsByTerm = sync.OnceValue(func() map[string][]string {
	words := map[string][]string{}
	for form, root := range irregularBaseForms() {
		words[Stem(root)] = append(words[Stem(root)], form)
	}
	for word, stem := range stemExceptions {
		words[stem] = append(words[stem], word)
	}
	return words
})

// trimCache replaces the cache of chunks by an empty cache if the cache is full. At the first call, trimCache creates
// the cache.
func (f *TermFinder) trimCache() {
	if f.cache.termsToFind == nil || f.cache.isFull() {
		f.cache = newChunkTermCache(f.findSearchedTerm, 1<<6)
		f.cache.termsToFind = f.termsToFind
	}
}

// mayBeApostrophe reports whether c may begin an apostrophe. The first byte of a typographic
// apostrophe also begins other characters.
func mayBeApostrophe(c byte) bool { return c == '\'' || c == "’"[0] }

// findSearchedTerm returns the term of a folded word, such as its stem. If the first letters show that the term is not
// searched for, it may return "" instead.
func (f *TermFinder) findSearchedTerm(word string) string {
	if len(word) > 2 && isPlainLetterWord(word) {
		if !f.mayHaveTerm(packLetters(word)) {
			return ""
		}
	}
	return TermOfWord(word)
}

// SearchesForWord reports whether the TermFinder searches for the term of the word, that is, whether termsToFind
// contains this term. A term is the form in which the index stores a word. The word must be in lower case.
func (f *TermFinder) SearchesForWord(word string) bool {
	term := f.findSearchedTerm(FoldText(word))
	return term != "" && f.termsToFind.Has(term)
}

// MayWantWord reports whether the TermFinder may search for the term of the word. Unlike [TermFinder.SearchesForWord],
// MayWantWord does not determine the term, and the word may have capitals. MayWantWord returns false for most words
// whose term the TermFinder does not search for.
func (f *TermFinder) MayWantWord(word string) bool {
	if len(word) <= 2 || len(word) > maxWordBytes {
		return true
	}
	var first uint64 // the word's first letters in lower case, as packLetters returns them
	for i := range len(word) {
		c := word[i] | 0x20 // converts a capital to lower case
		if !isLower(c) {
			return true
		}
		if i < 8 {
			first |= uint64(c) << (8 * i)
		}
	}
	return f.mayHaveTerm(first)
}

// addStemFirstLetters registers the first letters of all plain words whose stem is the parameter stem or begins with
// it. A word and its stem usually have the same first letters. For all words except those in irregularWordsByTerm,
// these rules apply:
//
//   - The first two letters are always the same.
//   - In a stem of three letters, the last letter may differ from the third letter of the word. An e in the stem may be
//     an i in the word (the stem of using is use), and an i may be a y (the stem of cry is cri).
//   - In a longer stem, the first three letters are the same. The other letters are the same except the last two
//     letters of the stem, for example because bility becomes ble.
func (f *TermFinder) addStemFirstLetters(stem string) {
	for i := range len(stem) {
		if !isLower(stem[i]) {
			return // The parameter stem has not only lower-case letters, so no plain word has it.
		}
	}
	n := len(stem)
	if n > 3 {
		n = max(3, n-2)
	}
	f.addFirstLettersPattern(packLetters(stem), n)
	switch {
	case len(stem) != 3:
	case stem[2] == 'e':
		f.addFirstLettersPattern(packLetters(stem[:2]+"i"), n)
	case stem[2] == 'i':
		f.addFirstLettersPattern(packLetters(stem[:2]+"y"), n)
	}
}

// SetDoc fills the document d with the terms of the given fields. Unlike [Analyzer.SetDoc], it adds only the wanted
// terms, which are the terms that the TermFinder f searches for. A term is listed once for each of its occurrences.
// hasTerms is true if the fields have any terms, wanted or not. If ctx is done, SetDoc returns early, and the caller
// must not use d.
func (f *TermFinder) SetDoc(ctx context.Context, d *index.Document, fields []Field) (hasTerms bool) {
	f.trimCache()
	d.Terms = d.Terms[:0]
	d.AnalyzerTermNumbers = d.AnalyzerTermNumbers[:0]
	d.PairHashes = nil // The TermFinder does not know the terms of all words.
	d.WeightedLength = 0
	for i := range fields {
		if f.addTextTerms(ctx, d, fields[i].Text, fields[i].Weight) {
			hasTerms = true
		}
	}
	return hasTerms
}

// addTextTerms searches the string s for the terms in f.termsToFind, and adds the terms that it finds to the document
// d, with the given weight. Each term of s, whether or not it is searched for, also increases d.WeightedLength.
// addTextTerms reports whether s contains any terms. It stops early if ctx is done.
func (f *TermFinder) addTextTerms(ctx context.Context, d *index.Document, s string, weight uint32) (hasTerms bool) {
	w := contextChecker{ctx: ctx}
	for i := 0; i < len(s) && !w.isContextDoneAt(i); {
		switch c := s[i]; {
		case isLower(c | 0x20):
			if n, end, w := measurePlainWord(s[i:]); n > 0 {
				hasTerms = true
				d.WeightedLength += weight
				if f.mayHaveTerm(w) {
					f.addFoundChunkTerms(d, f.cache.storedTermsOfChunk(f.cache.findOrAnalyzeChunk(s[i:i+n])), weight)
				}
				i += end
				if i < len(s) && s[i] == ' ' {
					i++
				}
				continue
			}
		case isDigit(c):
			if n := leadingNumberLength(s[i:]); n > 0 && !f.wantsDigits {
				hasTerms = true
				d.WeightedLength += weight
				i += n
				continue
			}
		case c < 0x80:
			i++
			continue
		}
		from, to := findNextChunk(s, i)
		if from == to {
			break
		}
		hasTerms = f.addChunkTerms(d, s[from:to], weight) || hasTerms
		i = to
	}
	return hasTerms
}

// addChunkTerms adds the terms of the parameter chunk to the document d. It adds only the terms that f searches for
// (see f.termsToFind). A chunk is a sequence of letters, digits and marks in a text, usually a single word.
// addChunkTerms adds the number of words in the chunk, multiplied by the argument weight, to d.WeightedLength. It
// reports whether the chunk has any terms, even if none of them was added.
func (f *TermFinder) addChunkTerms(d *index.Document, chunk string, weight uint32) bool {
	if len(chunk) <= maxCombinedTermBytes {
		k := f.cache.findOrAnalyzeChunk(chunk)
		d.WeightedLength += weight * uint32(k.partCount)
		f.addFoundChunkTerms(d, f.cache.storedTermsOfChunk(k), weight)
		return k.hasTerms
	}
	us, parts, any := f.cache.appendNumberedTerms(nil, chunk)
	d.WeightedLength += weight * uint32(parts)
	f.addFoundChunkTerms(d, us, weight)
	return any
}

// addFoundChunkTerms adds the terms in the slice terms to the document d. These terms come from one piece of the text,
// which has the given weight.
func (f *TermFinder) addFoundChunkTerms(d *index.Document, terms []chunkTerm, weight uint32) {
	for i := range terms {
		d.Terms = append(d.Terms, index.Term{Text: terms[i].text, Frequency: uint16(weight)})
	}
}

// measurePlainWord measures the plain word with which the text s starts. The word must be a whole chunk, which is a
// sequence of letters, digits and marks. A contraction such as 's may follow the word. The result length is the word's
// length in bytes. The result chunkEnd is the end of the chunk. The result packedFirstLetters contains the word's first
// letters in the form that [packLetters] returns. All results are 0 if s does not start with such a word, or if
// measurePlainWord cannot tell without an analysis of the whole chunk.
func measurePlainWord(s string) (length, chunkEnd int, packedFirstLetters uint64) {
	const (
		each = 0x0101010101010101
		high = 0x80 * each
	)
	if len(s) >= 8 {
		packedFirstLetters = readUint64(s) | 0x20 // The first letter may be a capital, so its lower-case bit is set.
		low := packedFirstLetters &^ high
		// The high bit of each byte is set if the byte is a lower-case letter.
		small := (low + (0x80-'a')*each) &^ (low + (0x80-'z'-1)*each) &^ packedFirstLetters & high
		length = bits.TrailingZeros64(^small&high) / 8
		if length < 8 {
			packedFirstLetters &= 1<<(8*length) - 1
		}
	} else {
		length = 1
		packedFirstLetters = uint64(s[0] | 0x20)
		for ; length < len(s) && isLower(s[length]); length++ {
			packedFirstLetters |= uint64(s[length]) << (8 * length)
		}
	}
	if length == 8 {
		for length < len(s) && isLower(s[length]) {
			length++
		}
	}
	chunkEnd = length
	if length < len(s) && mayBeApostrophe(s[length]) {
		chunkEnd += leadingContractionLength(s[length:])
	}
	if length > maxWordBytes || !chunkEndsAt(s, chunkEnd) {
		return 0, 0, 0
	}
	return length, chunkEnd, packedFirstLetters
}

// leadingContractionLength returns the length in bytes of the English contraction, such as 's, at the beginning of the
// string s. It returns 0 if s does not begin with a contraction, or if the chunk in s does not end after the
// contraction. A chunk is a sequence of letters, digits and marks in a text.
func leadingContractionLength(s string) int {
	n := len("'")
	if s[0] != '\'' {
		if !strings.HasPrefix(s, "’") {
			return 0
		}
		n = len("’")
	}
	for _, tail := range contractionEndings {
		if to := n + len(tail); strings.HasPrefix(s[n:], tail) && chunkEndsAt(s, to) {
			return to
		}
	}
	return 0
}

// leadingNumberLength returns the length in bytes of the number at the beginning of the string s, if the number is a
// complete chunk. A chunk is a sequence of letters, digits and marks in a text. Only a number that is a complete chunk
// is a single word. The first byte of s must be a digit. If it is not certain that the chunk ends after the number, or
// the number is too long for a word, the result is 0.
func leadingNumberLength(s string) int {
	n := 1
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	if n > maxWordBytes || !chunkEndsAt(s, n) {
		return 0
	}
	return n
}

// chunkEndsAt reports whether the chunk at the start of the text s certainly ends at byte endOffset. A chunk is a
// sequence of letters, digits and marks in a text. If the result is false, the chunk may end there or not, so a slower
// analysis must decide.
func chunkEndsAt(s string, endOffset int) bool {
	if endOffset == len(s) {
		return true
	}
	if s[endOffset] >= 0x80 {
		return false
	}
	switch asciiClass[s[endOffset]] {
	case separatorChar:
		return endOffset > 1 || (s[endOffset] != '+' && s[endOffset] != '#')
	case connectorChar:
		return endOffset+1 == len(s) || (s[endOffset+1] < 0x80 && asciiClass[s[endOffset+1]] != wordChar)
	}
	return false
}
