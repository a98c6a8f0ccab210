// This file records the texts shown in a session, and finds the texts from which a later text was
// copied.

package lineage

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
)

// Limits for a ledger and its results.
const (
	maxShown   = 1 << 20 // total size, in bytes, of the texts that a ledger keeps
	maxSources = 4       // number of sources returned for a text
	leastRare  = 4       // number of rare words that a text must share with its source
)

// Ledger records the texts shown in a session. It is safe for concurrent use. The zero Ledger is
// empty and ready to use.
type Ledger struct {
	mu      sync.Mutex      // guards all fields below
	shown   []*ShownText    // in the order in which they were shown, the newest last
	known   map[string]bool // keys of shown's elements
	bytes   int             // total size of the texts in shown
	indexed int             // the first indexed elements of shown are in grams and words
	// The first text that contains each gram, and all texts that contain each word.
	grams map[Gram]*ShownText
	words map[string][]*ShownText
}

// ShownText is a text that was shown. It belongs to a version of an entry or to a
// turn.
type ShownText struct {
	Name    string
	Version uint64 // 0 for a turn
	Taints  []string
	Trust   oxbow.Trust
	Text    string
}

// ShownEntry returns the content of an entry as a shown text.
func ShownEntry(e *oxbow.Entry) ShownText {
	return ShownText{Name: e.Name, Version: e.Version, Taints: e.Values(oxbow.LabelTaint), Trust: e.Trust(),
		Text: e.Content}
}

// key identifies the text and its version.
func (s *ShownText) key() string {
	return fmt.Sprintf("%s@%d %x", s.Name, s.Version, maphash.String(seed, s.Text))
}

// Source returns the value of the label [Label] that names the text's entry or turn.
func (s *ShownText) Source() string {
	if s.Version == 0 {
		return s.Name
	}
	return Source(s.Name, s.Version)
}

// Show adds texts to the ledger. It keeps the first maxShown/2 bytes of each text. If the ledger is
// full, it drops the oldest texts. On a nil Ledger, Show does nothing.
func (l *Ledger) Show(all ...ShownText) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range all {
		s.Text = s.Text[:min(len(s.Text), maxShown/2)]
		key := s.key()
		if s.Text == "" || l.known[key] {
			continue
		}
		if l.known == nil {
			l.known = map[string]bool{}
		}
		l.known[key] = true
		l.shown, l.bytes = append(l.shown, &s), l.bytes+len(s.Text)
	}
	if l.bytes <= maxShown {
		return
	}
	from := 0
	for ; l.bytes > maxShown/2 && from < len(l.shown)-1; from++ { // keep the newest text, even if it is large
		l.bytes -= len(l.shown[from].Text)
		delete(l.known, l.shown[from].key())
	}
	l.shown = slices.Clone(l.shown[from:])
	l.indexed = 0
	l.grams = nil
	l.words = nil
}

// Sources returns the shown texts from which text was probably copied. First come texts that have
// six consecutive words in common with text, then texts that have at least four rare words in
// common with it. Words that are also in old, the previous content, do not count. Texts that were
// shown from the entry name itself are left out. Sources with more matches come first. rare
// returns the words that are rare in the memory.
func (l *Ledger) Sources(name, text, old string, rare func(words []string) map[string]bool) []*ShownText {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.shown) == 0 || text == old {
		return nil
	}
	l.indexNew()
	words, had := splitWords(text), splitWords(old)
	rows := map[*ShownText]int{}
	before := map[Gram]bool{}
	for _, g := range wordGrams(had) {
		before[g] = true
	}
	for _, g := range wordGrams(words) {
		s := l.grams[g]
		if s == nil || before[g] {
			continue
		}
		if s.Name != name {
			rows[s]++
		}
	}
	found := l.mostCommon(rows)
	for _, s := range l.mostCommon(l.rareWords(name, ownWords(words, had), rare)) {
		if rows[s] == 0 {
			found = append(found, s)
		}
	}
	return found[:min(len(found), maxSources)]
}

// rareWords returns how many of the words are rare and occur in a shown text, for each text with at
// least leastRare such words.
func (l *Ledger) rareWords(name string, words map[string]bool, rare func([]string) map[string]bool) map[*ShownText]int {
	var shared []string
	for w := range words {
		if l.words[w] != nil {
			shared = append(shared, w)
		}
	}
	if len(shared) < leastRare {
		return nil
	}
	slices.Sort(shared)
	counts := map[*ShownText]int{}
	for w := range rare(shared) {
		for _, s := range l.words[w] {
			counts[s]++
		}
	}
	maps.DeleteFunc(counts, func(s *ShownText, n int) bool { return n < leastRare || s.Name == name })
	return counts
}

// indexNew adds the texts that were shown since the last call to grams and words.
func (l *Ledger) indexNew() {
	if l.grams == nil {
		l.grams, l.words = map[Gram]*ShownText{}, map[string][]*ShownText{}
	}
	for _, s := range l.shown[l.indexed:] {
		words := splitWords(s.Text)
		for w := range ownWords(words, nil) {
			l.words[w] = append(l.words[w], s)
		}
		for _, g := range wordGrams(words) {
			if l.grams[g] == nil {
				l.grams[g] = s
			}
		}
	}
	l.indexed = len(l.shown)
}

// mostCommon returns the texts in counts, by falling count. Texts with the same count are sorted by time,
// the newest first.
func (l *Ledger) mostCommon(counts map[*ShownText]int) (found []*ShownText) {
	for _, s := range slices.Backward(l.shown) {
		if counts[s] > 0 {
			found = append(found, s)
		}
	}
	slices.SortStableFunc(found, func(a, b *ShownText) int { return cmp.Compare(counts[b], counts[a]) })
	return found
}

// leastWord is the minimum length, in letters, of a rare word.
const leastWord = 3

// ownWords returns the words with at least leastWord letters that are not in others.
func ownWords(words, others []string) map[string]bool {
	set := make(map[string]bool, len(words))
	for _, w := range words {
		if utf8.RuneCountInString(w) >= leastWord {
			set[w] = true
		}
	}
	for _, w := range others {
		delete(set, w)
	}
	return set
}
