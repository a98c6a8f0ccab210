// This file tests the search for phrases in texts.

package analysis

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/search/index"
)

// TestHasSequence compares HasSequence with a simple search in the terms of random texts. The texts contain all kinds
// of chunks, and few different ones, so that sequences begin to match and then fail.
func TestHasSequence(t *testing.T) {
	chunks := testChunks
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	text := func(maxChunks, kinds int) string {
		var words []string
		for range 1 + rng.IntN(maxChunks) {
			words = append(words, chunks[rng.IntN(kinds)])
		}
		return strings.Join(words, []string{" ", ", ", "\n\n", ". "}[rng.IntN(4)])
	}
	a := NewAnalyzer()
	found := 0
	for range 30_000 {
		kinds := 2 + rng.IntN(len(chunks)-1)
		s, phrase := text(40, kinds), text(5, kinds)
		if rng.IntN(4) == 0 { // a phrase that overlaps with itself
			phrase = strings.Repeat(chunks[rng.IntN(kinds)]+" ", 1+rng.IntN(4)) + phrase
		}
		terms, wanted := a.TermSequence(t.Context(), s), a.TermSequence(t.Context(), phrase)
		if len(wanted) == 0 {
			continue
		}
		has := false
		for i := range max(0, len(terms)-len(wanted)+1) {
			has = has || slices.Equal(terms[i:i+len(wanted)], wanted)
		}
		if got := a.HasSequence(t.Context(), s, NewTermSequence(wanted)); got != has {
			t.Fatalf("seed %d: %q has the phrase %q: %v, want %v", seed, s, phrase, got, has)
		}
		if has {
			found++
			checkPairHashes(t, a, s, NewTermSequence(wanted))
		}
	}
	if found < 3000 {
		t.Errorf("seed %d: %d texts contain the phrase", seed, found)
	}
}

// testChunks are chunks of all kinds.
var testChunks = []string{"the", "The", "cats", "cat", "getUserName", "user-name", "user", "v1.2.3-rc1", "1,000",
	"1000", "Café", "東京都", "東", "京都", "👨‍👩‍👧", "👩", "C++", "c", "don't", "don", "internal/near.go", "bought", "buying",
	strings.Repeat("a-b_", 40) + "c", "b"}

// TestCountTerms compares CountTerms with the terms that a document of the same text gets. A new analyzer is used now
// and then, which has not cached the counted terms before.
func TestCountTerms(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	a := NewAnalyzer()
	for range 3000 {
		if rng.IntN(3) == 0 {
			a = NewAnalyzer()
		}
		var words, wanted []string
		for range rng.IntN(40) {
			words = append(words, testChunks[rng.IntN(len(testChunks))])
		}
		s := strings.Join(words, " ")
		for range rng.IntN(100) {
			wanted = append(wanted, TermOfWord(FoldText(testChunks[rng.IntN(len(testChunks))])))
		}
		slices.Sort(wanted)
		wanted = append(slices.Compact(wanted), "getusername", "nowhere")
		counts := a.CountTerms(t.Context(), s, wanted)
		var d index.Document
		NewAnalyzer().SetDoc(t.Context(), &d, []Field{{Text: s, Weight: 1}})
		for i, term := range wanted {
			want := 0
			for _, u := range d.Terms {
				if u.Text == term {
					want = int(u.Frequency)
				}
			}
			if counts[i] != want {
				t.Fatalf("seed %d: CountTerms of %q found %q %d times, want %d", seed, s, term, counts[i], want)
			}
		}
	}
}

// checkPairHashes tests that the document of a text with the sequence q has all pairs of the sequence.
func checkPairHashes(t *testing.T, a *Analyzer, text string, q *TermSequence) {
	t.Helper()
	var d index.Document
	a.SetDoc(t.Context(), &d, []Field{{Text: "the", Weight: 16}, {Text: text, Weight: 16}})
	for _, hash := range q.PairHashes() {
		if !slices.Contains(d.PairHashes, hash) {
			t.Fatalf("the document of %q lacks a pair of %q", text, q.terms)
		}
	}
}

// TestPairHashes tests that a pair of words has the same hash in each process, because index files contain bits that
// depend on the hashes. It also tests that there are no pairs across fields, and that the order of the words matters.
func TestPairHashes(t *testing.T) {
	var d index.Document
	NewAnalyzer().SetDoc(t.Context(), &d, []Field{{Text: "red", Weight: 16}, {Text: "ships user-name", Weight: 16}})
	if want := []uint32{0x224bcf3f, 0x69b3a45f}; !slices.Equal(d.PairHashes, want) {
		t.Errorf("the pairs have the hashes %#x, want %#x; a change needs a new format of the index file",
			d.PairHashes, want)
	}
	if a, b := NewTermSequence([]string{"a", "b"}), NewTermSequence([]string{"b", "a"}); slices.Equal(
		a.PairHashes(), b.PairHashes()) {
		t.Error("two orders of the same words have the same hash")
	}
}

// TestPairsOfRepeatedWords tests that a text that repeats few words has each pair of words once.
func TestPairsOfRepeatedWords(t *testing.T) {
	var d index.Document
	a := NewAnalyzer()
	a.SetDoc(t.Context(), &d, []Field{{Name: "content", Text: strings.Repeat("zero one ", 10_000), Weight: 1}})
	if n := len(d.PairHashes); n != 2 {
		t.Errorf("the document has %d pairs of words, want 2", n)
	}
}
