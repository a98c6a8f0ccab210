// This file tests the search for phrases in texts.

package analysis

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestHasSequence compares HasSequence with a simple search in the terms of random texts. The texts contain all kinds
// of chunks, and few different ones, so that sequences begin to match and then fail.
func TestHasSequence(t *testing.T) {
	chunks := []string{"the", "The", "cats", "cat", "getUserName", "user-name", "user", "v1.2.3-rc1", "1,000", "1000",
		"Café", "東京都", "東", "京都", "👨‍👩‍👧", "👩", "C++", "c", "don't", "don", "internal/near.go", "bought", "buying",
		strings.Repeat("a-b_", 40) + "c", "b"}
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
		}
	}
	if found < 3000 {
		t.Errorf("seed %d: %d texts contain the phrase", seed, found)
	}
}
