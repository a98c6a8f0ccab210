// This file finds near-duplicates among short texts. It compares the words of the texts, not the meanings.

// Package sametext finds near-duplicates: texts that say the same as another text. [FindNearDuplicates] is used for
// hits that repeat a better hit, for entries to consolidate, and for facts to remove from a Markdown file.
//
// The comparison is conservative. A text is a duplicate only if another text contains all its words in the same order,
// and both have the same numbers, symbols and negations.
//
// Similar questions are answered by other packages. Packages fingerprint and lineage decide whether a text was copied
// from another: whether six consecutive words are the same. Package fingerprint compares texts that an agent has read,
// and package lineage compares versions of entries. Package annotate decides whether code lines are an edited version
// of other lines.
package sametext

import (
	"cmp"
	"context"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

// A Passage is a text to compare.
type Passage struct {
	Text string
	// Heading is the heading above the text. A short text is a duplicate only of a text with the same heading. A text
	// is short if it has fewer than three words. In scripts without spaces between words, such as Chinese, a text is
	// short if it has fewer than six characters.
	Heading string
	// KeepPriority decides which of several equal texts is kept: the text with the highest priority or, if several
	// texts have this priority, the first of them.
	KeepPriority int
}

// nearDuplicate is a text that can be dropped because another text is kept.
type nearDuplicate struct {
	// indices of the text to drop and of the text to keep (which is never itself a text to drop)
	DroppedIndex, KeptIndex int
	IsExactDuplicate        bool // the two texts differ at most in white space, letter case and a final period
}

const (
	// minWordsToCompare is a number of words that is used in two ways. First, if a text has fewer words when stop words
	// are not counted, its words are not compared with other texts. Second, if a text has fewer words when all words
	// are counted, it is a duplicate of an equal text only if both texts have the same heading. For the second purpose,
	// a text in a script without spaces is measured in characters, and minRunesToCompare is used instead.
	minWordsToCompare, minRunesToCompare = 3, 6

	// The shorter text must have at least this share of the longer text's words. Otherwise, the longer text probably
	// says more than the shorter text.
	minWordShareNumerator, minWordShareDenominator = 3, 5

	// These constants limit the work if many texts have the same rarest word, for example because they follow the same
	// pattern. A text is compared with at most maxBitSetComparisons longer texts by a cheap test, which compares
	// 64-bit sets of words. It is compared with at most maxComparisonsPerText of these word by word.
	maxBitSetComparisons  = 4096
	maxComparisonsPerText = 256
)

// analyzedText is a text that was analyzed for comparisons.
type analyzedText struct {
	passageIndex   int
	source         Passage
	normalizedText string // the normalized text (equal texts have the same value)
	// Numbers of the stems in order, without stop words (nil if the text is not compared by words).
	stemNumbers []uint32
	// The text is very short. Another text with the same words is a duplicate only if both have the same heading.
	hasFewWords bool
	// It is the same for texts with the same words that must be identical in a duplicate: numbers, words with symbols,
	// and negations.
	exactWordsKey string
}

// wordBitSet returns a set with one bit for each word. Several words may have the same bit. If text a contains all
// words of text b, the set of a contains all bits in the set of b.
func (s *analyzedText) wordBitSet() (bits uint64) {
	for _, w := range s.stemNumbers {
		bits |= 1 << (w * 0x9e3779b1 >> 26)
	}
	return bits
}

// duplicateSearch is the state of a search for duplicates. Texts are identified by their indices. The keys of
// replacementByDroppedText and isExactByDroppedText are the texts that can be dropped.
type duplicateSearch struct {
	replacementByDroppedText map[int]int // for each text that can be dropped, the text that replaces it
	// for each text that can be dropped, whether it equals the text that replaces it
	isExactByDroppedText map[int]bool

	// bitSetComparisons is how many pairs of texts were compared by their 64-bit word sets. wordComparisons is how
	// many of these pairs were then compared word by word.
	bitSetComparisons, wordComparisons int
}

// NormalizeText returns s in lower case and with a single space between words. White space at the beginning and the end
// is removed. Therefore two texts have the same result if they differ only in white space, line breaks and letter case.
// Other packages store hashes of the results, so NormalizeText must always return the same result for the same text.
func NormalizeText(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return strings.Join(strings.Fields(strings.ToLower(s)), " ")
		}
	}
	// For ASCII characters, a single loop is much faster.
	var b strings.Builder
	b.Grow(len(s))
	needsSpace := false // white space follows a word that was written to b
	for i := range len(s) {
		c := s[i]
		if c == ' ' || (c >= '\t' && c <= '\r') {
			needsSpace = b.Len() > 0
			continue
		}
		if needsSpace {
			b.WriteByte(' ')
			needsSpace = false
		}
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		b.WriteByte(c)
	}
	return b.String()
}

// FindNearDuplicates returns the texts that can be dropped, each with the text to keep. The result is sorted by the
// field DroppedIndex, which is the index of the text to drop. The result depends only on the texts.
//
// A text is a duplicate of an equal text. A text is also a duplicate of a longer text that contains all its words
// (stemmed, without stop words) in the same order. There must be at least three such words, and they must be at least
// three fifths of the longer text's words. Both texts must then have the same numbers, the same words with symbols, and
// the same negations. Texts in scripts without spaces between words are only duplicates of equal texts. If very many
// texts share their rarest word, not all pairs are compared.
//
// FindNearDuplicates returns an error if ctx is done. After each analyzed text, it calls progress, which may be nil,
// with the number of analyzed texts.
func FindNearDuplicates(ctx context.Context, texts []Passage, progress func(done int)) ([]nearDuplicate, error) {
	d := duplicateSearch{replacementByDroppedText: map[int]int{}, isExactByDroppedText: map[int]bool{}}
	err := d.findAllDuplicates(ctx, texts, progress)
	return d.listDuplicates(), err
}

func (d *duplicateSearch) findAllDuplicates(ctx context.Context, texts []Passage, progress func(done int)) error {
	sums, textsPerSum := make([]uint64, len(texts)), make(map[uint64]int, len(texts))
	for i, t := range texts {
		sums[i] = sumDigits(t.Text)
		textsPerSum[sums[i]]++
	}
	c := textAnalyzers.Get().(*textAnalyzer)
	c.beginSearch()
	samples := make([]*analyzedText, 0, len(texts))
	for i, t := range texts {
		if textsPerSum[sums[i]] > 1 { // Otherwise no other text has the same digits, and the text has no duplicate.
			samples = append(samples, c.analyzeText(ctx, i, t))
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if progress != nil {
			progress(i + 1)
		}
	}
	stemCount := c.searchStemCount // another search may use the analyzer after the call of release
	// If ctx is done, the analyzer is not used again, because the stems of the last word may be incomplete.
	c.release()
	return d.findContainedTexts(ctx, d.findEqualTexts(samples), stemCount)
}

// digitWeights are the numbers that [sumDigits] adds for the digits 0 to 9. They are random, so that texts with
// different digits rarely have the same sum.
var digitWeights = func() (weights [10]uint64) {
	for i := range weights {
		weights[i] = rand.Uint64()
	}
	return weights
}()

// sumDigits returns a number that is the same for all texts that contain each digit equally often. Two texts are
// near-duplicates only if they have the same sum, because they must have the same words with digits. To compute the sum
// is much faster than to analyze the text.
func sumDigits(s string) (sum uint64) {
	for _, r := range s {
		if r >= '０' && r <= '９' { // A negation with a full-width digit is equal to one with an ordinary digit.
			r -= '０' - '0'
		}
		if r >= '0' && r <= '9' {
			sum += digitWeights[r-'0']
		}
	}
	return sum
}

// findEqualTexts returns each text once. If several texts are equal, it returns the text with the highest KeepPriority,
// and records in d that this text replaces all texts equal to it.
func (d *duplicateSearch) findEqualTexts(samples []*analyzedText) []*analyzedText {
	samples = slices.Clone(samples)
	slices.SortStableFunc(
		samples,
		func(a, b *analyzedText) int { return cmp.Compare(b.source.KeepPriority, a.source.KeepPriority) },
	)
	first := map[string]*analyzedText{}
	var left []*analyzedText
	for _, s := range samples {
		key := s.normalizedText
		if s.hasFewWords {
			key += "\x00" + s.source.Heading
		}
		if f := first[key]; f != nil && s.normalizedText != "" {
			d.replacementByDroppedText[s.passageIndex], d.isExactByDroppedText[s.passageIndex] = f.passageIndex, true
			continue
		}
		first[key] = s
		left = append(left, s)
	}
	return left
}

// findContainedTexts finds texts whose words are all contained in a longer text. It processes longer texts first, so
// that they are already registered when a shorter text is compared. Each word has a number, which is less than
// wordCount.
func (d *duplicateSearch) findContainedTexts(ctx context.Context, samples []*analyzedText, wordCount int) error {
	samples = slices.DeleteFunc(samples, func(s *analyzedText) bool { return s.stemNumbers == nil })
	slices.SortFunc(samples, func(a, b *analyzedText) int {
		return cmp.Or(
			cmp.Compare(len(b.stemNumbers), len(a.stemNumbers)),
			cmp.Compare(len(b.normalizedText), len(a.normalizedText)),
			cmp.Compare(a.passageIndex, b.passageIndex),
		)
	})
	// Count, for each word number, the texts that contain the word. The element last[w] is the index, plus 1, of the
	// last sample that contains the word with the number w. If no sample contains the word, it is 0.
	frequency, last := make([]int, wordCount), make([]int, wordCount)
	for i, s := range samples {
		for _, w := range s.stemNumbers {
			if last[w] != i+1 {
				last[w] = i + 1
				frequency[w]++
			}
		}
	}
	keys, number := rarestWordKeys(samples, frequency)
	clear(last)
	signatures := make([]uint64, len(samples))
	// Each key consists of a word and a text's exact words (such as numbers and negations). The element holders[n]
	// lists the texts that contain the word of the key with the number n and have the key's exact words, the longest
	// text first. A text is listed for each of its words that is the rarest word of any text. So a shorter text can be
	// compared with all texts that contain its rarest word.
	holders := make([][]int32, len(number))
	for i, s := range samples {
		if err := ctx.Err(); err != nil {
			return err
		}
		signatures[i] = s.wordBitSet()
		d.findContainingText(i, samples, signatures, holders[number[keys[i]]])
		k := keys[i]
		for _, k.stemNumber = range s.stemNumbers {
			if last[k.stemNumber] == i+1 {
				continue
			}
			last[k.stemNumber] = i + 1
			if n, ok := number[k]; ok {
				holders[n] = append(holders[n], int32(i))
			}
		}
	}
	return nil
}

// rarestWordKey decides which texts are compared by their words. stemNumber identifies the rarest word of a text.
// exactWordsID identifies the combination of all numbers, words with symbols and negations in the text. A text is
// compared only with texts that contain its rarest word and have the same exactWordsID.
type rarestWordKey struct{ stemNumber, exactWordsID uint32 }

// rarestWordKeys returns a key for each text. Texts with different keys are not compared with each other. A key
// consists of two numbers. The first is the number of that word in the text which occurs in the fewest texts. The
// second number is the same for texts that have the same exactWordsKey, which contains words that must be equal, such
// as negations and figures. The map keyNumbers assigns a number to each different key.
func rarestWordKeys(samples []*analyzedText, frequency []int) (keys []rarestWordKey, keyNumbers map[rarestWordKey]int) {
	keys, keyNumbers = make([]rarestWordKey, len(samples)), map[rarestWordKey]int{}
	sharps := map[string]uint32{}
	for i, s := range samples {
		n, ok := sharps[s.exactWordsKey]
		if !ok {
			n = uint32(len(sharps))
			sharps[s.exactWordsKey] = n
		}
		word := slices.MinFunc(s.stemNumbers, func(a, b uint32) int { return cmp.Compare(frequency[a], frequency[b]) })
		keys[i] = rarestWordKey{word, n}
		if _, ok := keyNumbers[keys[i]]; !ok {
			keyNumbers[keys[i]] = len(keyNumbers)
		}
	}
	return keys, keyNumbers
}

// findContainingText searches for a text that contains all words of the text samples[i], and records it in d. The
// candidates are in longerSamples, longest first.
func (d *duplicateSearch) findContainingText(
	i int,
	samples []*analyzedText,
	signatures []uint64,
	longerSamples []int32,
) {
	s, compared := samples[i], d.wordComparisons
	longerSamples = longerSamples[sort.Search(len(longerSamples), func(i int) bool {
		longer := samples[longerSamples[i]]
		return len(s.stemNumbers)*minWordShareDenominator >= len(longer.stemNumbers)*minWordShareNumerator
	}):]
	for _, l := range longerSamples[:min(len(longerSamples), maxBitSetComparisons)] {
		d.bitSetComparisons++
		if signatures[i]&^signatures[l] != 0 {
			continue
		}
		d.wordComparisons++
		if s.isContainedIn(samples[l]) {
			d.replacementByDroppedText[s.passageIndex] = samples[l].passageIndex
			return
		}
		if d.wordComparisons == compared+maxComparisonsPerText {
			return
		}
	}
}

// listDuplicates returns the duplicates, sorted by the index of the text that can be dropped.
func (d *duplicateSearch) listDuplicates() []nearDuplicate {
	var all []nearDuplicate
	for dropped := range d.replacementByDroppedText {
		all = append(all, d.resolveDuplicate(dropped))
	}
	slices.SortFunc(all, func(a, b nearDuplicate) int { return cmp.Compare(a.DroppedIndex, b.DroppedIndex) })
	return all
}

// resolveDuplicate returns a nearDuplicate that contains droppedIndex, the index of a dropped text, and the index of
// the text that is kept in its place. If the replacement of the dropped text is dropped as well, resolveDuplicate
// follows the chain of replacements to a text that is kept. The result also says whether the dropped text is an exact
// duplicate. This is true only if each text in the chain is equal to its replacement.
func (d *duplicateSearch) resolveDuplicate(droppedIndex int) nearDuplicate {
	kept := d.replacementByDroppedText[droppedIndex]
	isExact := d.isExactByDroppedText[droppedIndex]
	for {
		next, isDropped := d.replacementByDroppedText[kept]
		if !isDropped {
			return nearDuplicate{droppedIndex, kept, isExact}
		}
		isExact = isExact && d.isExactByDroppedText[kept]
		kept = next
	}
}

func wordSet(words []string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

// trimmedCharacters are the characters that are removed from both ends of a word: punctuation, quotes and emphasis.
const trimmedCharacters = ".,;:!?\"'()*_`“”‘’«»…"

// negationWords are words that reverse the meaning of a text.
var negationWords = wordSet(
	strings.Fields(`not no never none nobody nothing neither nor without except unless cannot cant dont
	isnt arent wasnt doesnt didnt wont shouldnt mustnt nt stop stopped instead
	nicht kein keine keinen nie ohne pas jamais sans ne non nunca sin geen niet ikke inte bez не нет без`),
)

// maxCachedWords is the maximum number of words in a textAnalyzer's cache. maxCachedWordBytes is the maximum length in
// bytes for such a word.
const (
	maxCachedWords     = 1 << 16
	maxCachedWordBytes = 64
)

// textAnalyzer splits texts into words and reduces the words to their stems. It keeps the stems of short words in a
// cache, because words are often repeated.
type textAnalyzer struct {
	analyzer      *analysis.Analyzer
	stemNumbers   map[string]uint32
	exactNumbers  map[string]uint32 // numbers, from 1, of the words that must be identical in a duplicate
	analyzedWords map[string]analyzedWord

	// In each search, the stems get new numbers from 0 to searchStemCount-1, because the search needs memory for each
	// number. The element searchStems[n] describes the stem that has the number n in stemNumbers.
	searchStems     []searchStem
	searchStemCount int
	searchNumber    uint32 // number of the current search, from 1

	exactWords    []uint32 // reused memory for the exact words of a text
	exactWordsKey []byte   // reused memory for the field exactWordsKey of a text
}

// searchStem is the number of a stem in the last search that encountered the stem.
type searchStem struct{ searchNumber, number uint32 }

// textAnalyzers contains analyzers of finished searches. The next search then need not analyze the most frequent words
// again.
var textAnalyzers = sync.Pool{New: func() any {
	return &textAnalyzer{
		analyzer:      analysis.NewAnalyzer(),
		stemNumbers:   map[string]uint32{},
		exactNumbers:  map[string]uint32{},
		analyzedWords: map[string]analyzedWord{},
	}
}}

// maxReusedWords limits the memory of the analyzers in textAnalyzers. An analyzer with more words is not used again.
const maxReusedWords = 1 << 15

// beginSearch prepares the analyzer for a new search.
func (c *textAnalyzer) beginSearch() {
	c.searchNumber++
	c.searchStemCount = 0
}

// release makes the analyzer available to a later search.
func (c *textAnalyzer) release() {
	if max(len(c.stemNumbers), len(c.exactNumbers), len(c.analyzedWords)) <= maxReusedWords {
		textAnalyzers.Put(c)
	}
}

// stemNumberInSearch returns the number that a stem has in the current search. The argument n is the stem's number in
// stemNumbers.
func (c *textAnalyzer) stemNumberInSearch(n uint32) uint32 {
	s := &c.searchStems[n]
	if s.searchNumber != c.searchNumber {
		*s = searchStem{c.searchNumber, uint32(c.searchStemCount)}
		c.searchStemCount++
	}
	return s.number
}

// analyzedWord is the analysis result for a word between spaces.
type analyzedWord struct {
	stemNumbers []uint32
	// number of the form of the word that must be identical in a duplicate, or 0 if the word need not be identical
	exactNumber uint32
}

// analyzeText analyzes the text of the passage t for comparisons. The argument passageIndex is the passage's index. If
// the text is Korean or in a script without spaces, the result contains no words, because such a text is compared only
// as a whole. The field hasFewWords then depends on the number of characters. If ctx is done, the result is incomplete.
func (c *textAnalyzer) analyzeText(ctx context.Context, passageIndex int, t Passage) *analyzedText {
	s := &analyzedText{passageIndex: passageIndex, source: t, hasFewWords: true}
	s.normalizedText = strings.TrimRight(NormalizeText(t.Text), ".")
	for _, r := range t.Text {
		if r < utf8.RuneSelf {
			continue
		}
		// Korean is written with spaces, but particles are attached to its words.
		if text.IsUnspacedScriptLetter(r) || unicode.Is(unicode.Hangul, r) {
			s.hasFewWords = utf8.RuneCountInString(s.normalizedText) < minRunesToCompare
			return s
		}
	}
	words := make([]uint32, 0, 64)
	c.exactWords = c.exactWords[:0]
	for w := range strings.FieldsSeq(t.Text) {
		if ctx.Err() != nil {
			return s
		}
		cut, ok := c.analyzedWords[w]
		if !ok {
			cut = c.analyzeWord(ctx, w)
			if len(c.analyzedWords) > maxCachedWords {
				clear(c.analyzedWords)
			}
			if len(w) <= maxCachedWordBytes {
				c.analyzedWords[strings.Clone(w)] = cut
			}
		}
		for _, n := range cut.stemNumbers {
			words = append(words, c.stemNumberInSearch(n))
		}
		if cut.exactNumber != 0 {
			c.exactWords = append(c.exactWords, cut.exactNumber)
		}
	}
	s.hasFewWords = !hasWords(s.normalizedText, minWordsToCompare)
	if len(words) >= minWordsToCompare {
		s.stemNumbers = slices.Clone(words)
	}
	slices.Sort(c.exactWords)
	c.exactWordsKey = c.exactWordsKey[:0]
	for _, n := range c.exactWords {
		c.exactWordsKey = binary.LittleEndian.AppendUint32(c.exactWordsKey, n)
	}
	s.exactWordsKey = string(c.exactWordsKey)
	return s
}

// hasWords reports whether the text has at least n words, separated by white space.
func hasWords(text string, n int) bool {
	for range strings.FieldsSeq(text) {
		n--
		if n == 0 {
			return true
		}
	}
	return false
}

// analyzeWord analyzes a word between spaces. The result contains the numbers of the word's stems, without stop words.
// If a duplicate must contain exactly the same word, such as a negation, the result also contains the number of the
// word's exact form.
func (c *textAnalyzer) analyzeWord(ctx context.Context, w string) (analyzed analyzedWord) {
	w = strings.Trim(w, trimmedCharacters)
	folded := analysis.FoldText(w)
	plain := strings.Map(func(r rune) rune {
		if r == '\'' || r == '’' {
			return -1
		}
		return r
	}, folded)
	exactForm := ""
	switch {
	case negationWords[plain] || (strings.HasSuffix(plain, "nt") && plain != folded):
		exactForm = plain
	case mustMatchExactly(w):
		exactForm = w
	}
	if exactForm != "" {
		n, ok := c.exactNumbers[exactForm]
		if !ok {
			n = uint32(len(c.exactNumbers) + 1)
			c.exactNumbers[strings.Clone(exactForm)] = n
		}
		analyzed.exactNumber = n
	}
	for _, stem := range c.analyzer.TermSequence(ctx, w) {
		if analysis.IsStopWord(stem) {
			continue
		}
		n, ok := c.stemNumbers[stem]
		if !ok {
			n = uint32(len(c.stemNumbers))
			c.stemNumbers[strings.Clone(stem)] = n
			c.searchStems = append(c.searchStems, searchStem{})
		}
		analyzed.stemNumbers = append(analyzed.stemNumbers, n)
	}
	return analyzed
}

// mustMatchExactly reports whether a word must be identical in a duplicate because it contains a digit or a symbol. A
// single hyphen or apostrophe between letters does not count as a symbol.
func mustMatchExactly(word string) bool {
	letter := false // the previous character was a letter
	for i, r := range word {
		switch {
		case unicode.IsLetter(r) || unicode.IsMark(r):
			letter = true
			continue
		case letter && (r == '-' || r == '\'' || r == '’') && i+len(string(r)) < len(word):
			// set letter to false, so that a second hyphen or apostrophe counts as a symbol
		default:
			return true
		}
		letter = false
	}
	return false
}

// isContainedIn reports whether the text in the argument longer contains the words of s in the same order. The words
// need not be consecutive in longer.
func (s *analyzedText) isContainedIn(longer *analyzedText) bool {
	// The variable more is how many words in longer may still be without a match in s.
	n, more := 0, len(longer.stemNumbers)-len(s.stemNumbers)
	for _, w := range longer.stemNumbers {
		if n < len(s.stemNumbers) && w == s.stemNumbers[n] {
			n++
		} else {
			more--
			if more < 0 {
				return false
			}
		}
	}
	return true
}
