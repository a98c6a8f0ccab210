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
	"slices"
	"sort"
	"strings"
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
	// The words that must be identical in a duplicate: numbers, words with symbols, and negations.
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
func NormalizeText(s string) string { return strings.Join(strings.Fields(strings.ToLower(s)), " ") }

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
	c := textAnalyzer{analysis.NewAnalyzer(), map[string]uint32{}, map[string]analyzedWord{}}
	samples := make([]*analyzedText, len(texts))
	for i, t := range texts {
		samples[i] = c.analyzeText(ctx, i, t)
		if err := ctx.Err(); err != nil {
			return err
		}
		if progress != nil {
			progress(i + 1)
		}
	}
	return d.findContainedTexts(ctx, d.findEqualTexts(samples), len(c.stemNumbers))
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
	analyzedWords map[string]analyzedWord
}

// analyzedWord is the analysis result for a word between spaces.
type analyzedWord struct {
	stemNumbers []uint32
	// the form of the word that must be identical in a duplicate, or "" if the word need not be identical
	exactForm string
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
	var words []uint32
	var sharps []string
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
				c.analyzedWords[w] = cut
			}
		}
		words = append(words, cut.stemNumbers...)
		if cut.exactForm != "" {
			sharps = append(sharps, cut.exactForm)
		}
	}
	s.hasFewWords = len(strings.Fields(s.normalizedText)) < minWordsToCompare
	if len(words) >= minWordsToCompare {
		s.stemNumbers = slices.Clip(words)
	}
	slices.Sort(sharps)
	s.exactWordsKey = strings.Join(sharps, " ")
	return s
}

// analyzeWord analyzes a word between spaces. The result contains the numbers of the word's stems, without stop words.
// If a duplicate must contain exactly the same word, such as a negation, the result also contains the word's exact
// form.
func (c *textAnalyzer) analyzeWord(ctx context.Context, w string) (analyzed analyzedWord) {
	w = strings.Trim(w, trimmedCharacters)
	folded := analysis.FoldText(w)
	plain := strings.Map(func(r rune) rune {
		if r == '\'' || r == '’' {
			return -1
		}
		return r
	}, folded)
	switch {
	case negationWords[plain] || (strings.HasSuffix(plain, "nt") && plain != folded):
		analyzed.exactForm = plain
	case mustMatchExactly(w):
		analyzed.exactForm = w
	}
	for _, stem := range c.analyzer.TermSequence(ctx, w) {
		if analysis.IsStopWord(stem) {
			continue
		}
		n, ok := c.stemNumbers[stem]
		if !ok {
			n = uint32(len(c.stemNumbers))
			c.stemNumbers[strings.Clone(stem)] = n
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
