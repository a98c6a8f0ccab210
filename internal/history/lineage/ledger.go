// This file records the texts that a model was shown in a session, and finds those from which a later text was copied.

package lineage

import (
	"cmp"
	"hash/maphash"
	"maps"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
)

// Limits for a ledger, which records the texts that a model was shown, and for the results of a search in a ledger.
const (
	maxShownTextBytes  = 1 << 20 // maximum total size, in bytes, of the texts that a ledger records
	maxReturnedSources = 4       // maximum number of sources that are returned for a text
	// minimum number of rare words that a text must share with a shown text to count as made from it
	minSharedRareWords = 4
)

// ShownTextLedger records the texts that a model was shown in a session. It is safe for concurrent use. The zero
// ShownTextLedger is empty and ready to use.
type ShownTextLedger struct {
	mu             sync.Mutex   // mu guards all fields below.
	shownTexts     []*ShownText // texts in the order in which they were shown, oldest first
	shownTextKeys  map[shownTextKey]bool
	shownTextBytes int // total size of shownTexts, in bytes
	// how many texts, from the oldest on, were already added to textByWordGram and textsByWord
	indexedTextCount int
	// textByWordGram contains, by the hash of six consecutive words, the first shown text with these words. textsByWord
	// contains, by word, all shown texts with this word.
	textByWordGram map[WordGram]*ShownText
	textsByWord    map[string][]*ShownText
}

// ShownText is a text that a model was shown: a version of an entry, or a turn.
type ShownText struct {
	Name         string
	Version      uint64 // version of the entry, or 0 for a turn
	TaintSources []string
	Trust        oxbow.Trust
	Text         string
}

// NewShownText returns the ShownText for the content of an entry.
func NewShownText(e *oxbow.Entry) ShownText {
	return ShownText{Name: e.Name, Version: e.Version, TaintSources: e.Values(oxbow.LabelTaint), Trust: e.Trust(),
		Text: e.Content}
}

// shownTextKey identifies a text, including its name and version.
type shownTextKey struct {
	name              string
	version, textHash uint64
}

func (s *ShownText) key() shownTextKey {
	return shownTextKey{s.Name, s.Version, maphash.String(hashSeed, s.Text)}
}

// SourceLabelValue returns the value with which the label [SourceLabel] names the source of the text. For an entry, the
// value contains the name and the version. If s.Version is 0, as for a turn of a session, the value is the name only.
func (s *ShownText) SourceLabelValue() string {
	if s.Version == 0 {
		return s.Name
	}
	return FormatSource(s.Name, s.Version)
}

// AddTexts adds texts to the ledger, each cut to its first maxShownTextBytes/2 bytes. If the ledger is full, it drops
// the oldest texts. On a nil ShownTextLedger, AddTexts does nothing.
func (l *ShownTextLedger) AddTexts(texts ...ShownText) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range texts {
		s.Text = s.Text[:min(len(s.Text), maxShownTextBytes/2)]
		key := s.key()
		if s.Text == "" || l.shownTextKeys[key] {
			continue
		}
		if l.shownTextKeys == nil {
			l.shownTextKeys = map[shownTextKey]bool{}
		}
		l.shownTextKeys[key] = true
		l.shownTexts, l.shownTextBytes = append(l.shownTexts, &s), l.shownTextBytes+len(s.Text)
	}
	if l.shownTextBytes <= maxShownTextBytes {
		return
	}
	from := 0
	// Always keep the newest text, even if it is large.
	for ; l.shownTextBytes > maxShownTextBytes/2 && from < len(l.shownTexts)-1; from++ {
		l.shownTextBytes -= len(l.shownTexts[from].Text)
		delete(l.shownTextKeys, l.shownTexts[from].key())
	}
	l.shownTexts = slices.Clone(l.shownTexts[from:])
	l.indexedTextCount = 0
	l.textByWordGram = nil
	l.textsByWord = nil
}

// FindSources returns the shown texts from which the argument text was probably copied, at most maxReturnedSources.
// First come shown texts that have six consecutive words in common with text, then shown texts that have at least
// minSharedRareWords rare words in common with it. In both parts, shown texts with more matches come first. The
// function findRareWords must return those of the words that are rare in the memory.
//
// The argument oldContent is the previous content of the entry called name. Words that are also in oldContent do not
// count, and shown texts of this entry are left out.
func (l *ShownTextLedger) FindSources(
	name, text, oldContent string,
	findRareWords func(words []string) map[string]bool,
) []*ShownText {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.shownTexts) == 0 || text == oldContent {
		return nil
	}
	l.indexNewTexts()
	words, had := splitWords(text), splitWords(oldContent)
	rows := map[*ShownText]int{}
	before := map[WordGram]bool{}
	for _, g := range computeWordGrams(had) {
		before[g] = true
	}
	for _, g := range computeWordGrams(words) {
		s := l.textByWordGram[g]
		if s == nil || before[g] {
			continue
		}
		if s.Name != name {
			rows[s]++
		}
	}
	found := l.sortTextsByCount(rows)
	for _, s := range l.sortTextsByCount(l.countSharedRareWords(name, filterLongWords(words, had), findRareWords)) {
		if rows[s] == 0 {
			found = append(found, s)
		}
	}
	return found[:min(len(found), maxReturnedSources)]
}

// countSharedRareWords returns how many rare words each shown text has in common with the given words. The function
// findRareWords selects the rare words. Texts that share fewer than minSharedRareWords rare words are left out, and so
// are the texts of the entry with this name.
func (l *ShownTextLedger) countSharedRareWords(
	name string,
	words map[string]bool,
	findRareWords func([]string) map[string]bool,
) map[*ShownText]int {
	var shared []string
	for w := range words {
		if l.textsByWord[w] != nil {
			shared = append(shared, w)
		}
	}
	if len(shared) < minSharedRareWords {
		return nil
	}
	slices.Sort(shared)
	counts := map[*ShownText]int{}
	for w := range findRareWords(shared) {
		for _, s := range l.textsByWord[w] {
			counts[s]++
		}
	}
	maps.DeleteFunc(counts, func(s *ShownText, n int) bool { return n < minSharedRareWords || s.Name == name })
	return counts
}

// indexNewTexts adds the texts that were shown since its last call to the maps textByWordGram and textsByWord, in which
// texts are found by their words.
func (l *ShownTextLedger) indexNewTexts() {
	if l.textByWordGram == nil {
		l.textByWordGram, l.textsByWord = map[WordGram]*ShownText{}, map[string][]*ShownText{}
	}
	for _, s := range l.shownTexts[l.indexedTextCount:] {
		words := splitWords(s.Text)
		for w := range filterLongWords(words, nil) {
			l.textsByWord[w] = append(l.textsByWord[w], s)
		}
		for _, g := range computeWordGrams(words) {
			if l.textByWordGram[g] == nil {
				l.textByWordGram[g] = s
			}
		}
	}
	l.indexedTextCount = len(l.shownTexts)
}

// sortTextsByCount returns the texts in counts, ordered by falling count. Of texts with the same count, the newest
// comes first.
func (l *ShownTextLedger) sortTextsByCount(counts map[*ShownText]int) (found []*ShownText) {
	for _, s := range slices.Backward(l.shownTexts) {
		if counts[s] > 0 {
			found = append(found, s)
		}
	}
	slices.SortStableFunc(found, func(a, b *ShownText) int { return cmp.Compare(counts[b], counts[a]) })
	return found
}

// minRareWordLetters is the minimum length, in letters, of a rare word.
const minRareWordLetters = 3

// filterLongWords returns the set of those words that have at least minRareWordLetters letters and do not occur in the
// list excludedWords.
func filterLongWords(words, excludedWords []string) map[string]bool {
	set := make(map[string]bool, len(words))
	for _, w := range words {
		if utf8.RuneCountInString(w) >= minRareWordLetters {
			set[w] = true
		}
	}
	for _, w := range excludedWords {
		delete(set, w)
	}
	return set
}
