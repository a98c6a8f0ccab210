// The ledger of a session: what was shown in it, and what of that a later text has.

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

// Bounds of a ledger and of what it finds.
const (
	maxShown   = 1 << 20 // bytes of the texts that a ledger keeps
	maxSources = 4       // sources that are found of one text
	leastRare  = 4       // rare words that a text has of its source
)

// Ledger holds the texts that were shown in one session. It is safe for concurrent
// use; the zero Ledger holds nothing.
type Ledger struct {
	mu      sync.Mutex // guards all below
	shown   []*Shown   // the one shown last at the end
	known   map[string]bool
	bytes   int // of their texts
	indexed int // so many of them are in grams and words
	grams   map[Gram]*Shown
	words   map[string][]*Shown
}

// Shown is a version of an entry, or a turn, of which a text was shown.
type Shown struct {
	Name    string
	Version uint64 // 0 for a turn
	Taints  []string
	Trust   oxbow.Trust
	Text    string
}

// ShownEntry returns an entry as what was shown of it: its content.
func ShownEntry(e *oxbow.Entry) Shown {
	return Shown{Name: e.Name, Version: e.Version, Taints: e.Values(oxbow.LabelTaint), Trust: e.Trust(), Text: e.Content}
}

// key identifies what was shown.
func (s *Shown) key() string {
	return fmt.Sprintf("%s@%d %x", s.Name, s.Version, maphash.String(seed, s.Text))
}

// Source returns the value of the label [Label] for what was shown.
func (s *Shown) Source() string {
	if s.Version == 0 {
		return s.Name
	}
	return Source(s.Name, s.Version)
}

// Show adds what was shown: of a text, at most the first maxShown/2 bytes. The oldest
// texts are dropped when there are too many. A nil Ledger adds nothing.
func (l *Ledger) Show(all ...Shown) {
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
	for ; l.bytes > maxShown/2 && from < len(l.shown)-1; from++ { // what was shown last stays
		l.bytes -= len(l.shown[from].Text)
		delete(l.known, l.shown[from].key())
	}
	l.shown = slices.Clone(l.shown[from:])
	l.indexed = 0
	l.grams = nil
	l.words = nil
}

// Sources returns of what was shown that of which a text has words in a row that old
// has not, then that of which it has rare words that old has not, most of them
// first. What was shown under the name itself is none. Rare returns which of some
// words are rare in the memory.
func (l *Ledger) Sources(name, text, old string, rare func(words []string) map[string]bool) []*Shown {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.shown) == 0 || text == old {
		return nil
	}
	l.index()
	words, had := wordsOf(text), wordsOf(old)
	rows := map[*Shown]int{}
	before := map[Gram]bool{}
	for _, g := range gramsOf(had) {
		before[g] = true
	}
	for _, g := range gramsOf(words) {
		if s := l.grams[g]; s != nil && !before[g] && s.Name != name {
			rows[s]++
		}
	}
	found := l.most(rows)
	for _, s := range l.most(l.rareWords(name, setOf(words, had), rare)) {
		if rows[s] == 0 {
			found = append(found, s)
		}
	}
	return found[:min(len(found), maxSources)]
}

// rareWords counts, for each text that has enough of them, those of some words that are
// rare.
func (l *Ledger) rareWords(name string, words map[string]bool, rare func([]string) map[string]bool) map[*Shown]int {
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
	counts := map[*Shown]int{}
	for w := range rare(shared) {
		for _, s := range l.words[w] {
			counts[s]++
		}
	}
	maps.DeleteFunc(counts, func(s *Shown, n int) bool { return n < leastRare || s.Name == name })
	return counts
}

// index cuts the texts that were shown since the last time into words.
func (l *Ledger) index() {
	if l.grams == nil {
		l.grams, l.words = map[Gram]*Shown{}, map[string][]*Shown{}
	}
	for _, s := range l.shown[l.indexed:] {
		words := wordsOf(s.Text)
		for w := range setOf(words, nil) {
			l.words[w] = append(l.words[w], s)
		}
		for _, g := range gramsOf(words) {
			if l.grams[g] == nil {
				l.grams[g] = s
			}
		}
	}
	l.indexed = len(l.shown)
}

// most returns what was counted, the most first, and of as many what was shown last.
func (l *Ledger) most(counts map[*Shown]int) (found []*Shown) {
	for _, s := range slices.Backward(l.shown) {
		if counts[s] > 0 {
			found = append(found, s)
		}
	}
	slices.SortStableFunc(found, func(a, b *Shown) int { return cmp.Compare(counts[b], counts[a]) })
	return found
}

// leastWord is the least letters of a word that may be rare.
const leastWord = 3

// setOf returns the words of that length that are none of others.
func setOf(words, others []string) map[string]bool {
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
