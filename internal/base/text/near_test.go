// This file tests the search for similar words.

package text

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestNear(t *testing.T) {
	names := []string{"deploy", "deploy-guide", "redeploy", "destroy", "Deplyo", "employ", "dep", "zebra", "a",
		"deploy"}
	tests := []struct {
		name       string
		word       string
		candidates []string
		limit      int
		want       []string
	}{
		{"equal, begins, holds, then errors", "deploy", names, 10,
			[]string{"deploy", "dep", "deploy-guide", "redeploy", "Deplyo", "employ"}},
		{"the best of them", "deploy", names, 2, []string{"deploy", "dep"}},
		{"capitals do not count", "DEPLOY", []string{"Deploy"}, 5, []string{"Deploy"}},
		{"a swap is one error", "dolg", []string{"dlog", "dolt", "logd"}, 5, []string{"dlog", "dolt"}},
		{"short words: one error", "vert", []string{"vet", "vat"}, 5, []string{"vet"}},
		{"longer words: two", "memroi", []string{"memory", "melodic"}, 5, []string{"memory"}},
		{"nothing in common is not near", "ab", []string{"cd", "xb"}, 5, []string{"xb"}},
		{"one letter is no part", "abc", []string{"b", "ab", "xabcx"}, 5, []string{"xabcx", "ab"}},
		{"letters outside ASCII", "ÉCLAIR", []string{"éclairs", "eclair"}, 5, []string{"éclairs", "eclair"}},
		{"ties by the first letter, by length, then by text", "cat", []string{"cot", "bat", "cats", "catch"}, 5,
			[]string{"cats", "catch", "cot", "bat"}},
		{"empty word", "", names, 5, nil},
		{"no limit", "deploy", names, 0, nil},
		{"nothing near", "qqqqqq", names, 5, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := FindSimilar(tt.word, slices.Values(tt.candidates), tt.limit)
			if !slices.Equal(got, tt.want) {
				t.Errorf("Near(%q, %q, %d) = %q, want %q", tt.word, tt.candidates, tt.limit, got, tt.want)
			}
			back := slices.Clone(tt.candidates)
			slices.Reverse(back)
			if again := FindSimilar(tt.word, slices.Values(back), tt.limit); !slices.Equal(again, got) {
				t.Errorf("Near(%q, %q, %d) = %q, but %q in the other order", tt.word, back, tt.limit, again, got)
			}
		})
	}
}

// TestMaybeNear tests that the fast check of a candidate's letters rejects only candidates that are not similar.
func TestMaybeNear(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	rejected := 0
	for range 50_000 {
		w, candidate := randomWord(rng), randomWord(rng)
		target := newComparedWord(w)
		_, near := target.compareCandidate(candidate)
		if !target.mayBeSimilar(lettersAndLength(candidate)) {
			rejected++
			if near {
				t.Fatalf("%q is near %q and is rejected", candidate, w)
			}
		}
	}
	if rejected < 5000 {
		t.Errorf("%d of 50000 candidates are rejected", rejected)
	}
}

// randomWord returns a short word of few different letters, so that two such words are often similar.
func randomWord(rng *rand.Rand) string {
	letters := []string{
		"a", "A", "b", "B", "c", "-", "1", "K", "é", "É", "İ", "i", "\u212a", "k", "\xff", "世", "界", "?", "q",
	}
	if rng.IntN(3) == 0 {
		letters = letters[:3+rng.IntN(len(letters)-3)]
	}
	if rng.IntN(4) == 0 {
		letters = letters[rng.IntN(len(letters)):]
	}
	var b strings.Builder
	for range rng.IntN(9) {
		b.WriteString(letters[rng.IntN(len(letters))])
	}
	return b.String()
}

// TestSimilarTextsSorted compares the collection from a sorted dictionary with the result of comparing all candidates
// completely.
func TestSimilarTextsSorted(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	found := 0
	for range 2000 {
		words := make([]string, rng.IntN(200))
		for i := range words {
			words[i] = randomWord(rng)
			if i > 0 && rng.IntN(3) == 0 {
				words[i] = words[rng.IntN(i)] + words[i]
			}
		}
		word, limit := randomWord(rng), rng.IntN(5)
		if len(words) > 0 && rng.IntN(4) == 0 {
			word = words[rng.IntN(len(words))] + word
		}
		var want []similarCandidate
		target := newComparedWord(word)
		for _, w := range words {
			if m, ok := target.compareCandidate(w); ok && word != "" && !slices.Contains(want, m) {
				want = append(want, m)
			}
		}
		slices.SortFunc(want, similarCandidate.compare)
		want = want[:min(limit, len(want))]
		found += len(want)

		slices.Sort(words)
		s := NewSimilarTexts(word, limit)
		last := ""
		for _, w := range words {
			shared := 0
			for shared < min(len(w), len(last)) && w[shared] == last[shared] {
				shared++
			}
			last = w
			before := slices.Clone(s.bestMatches)
			wouldAdd := s.WouldAdd([]byte(w), shared)
			s.Add(w)
			if wouldAdd == slices.Equal(before, s.bestMatches) {
				t.Fatalf("WouldAdd(%q, %d) = %t for the word %q after %v", w, shared, wouldAdd, word, before)
			}
		}
		if !slices.Equal(s.bestMatches, want) {
			t.Fatalf("%d words similar to %q in %q: %v, want %v", limit, word, words, s.bestMatches, want)
		}
		if got := FindSimilar(word, slices.Values(words), limit); !slices.Equal(got, s.Texts()) {
			t.Fatalf("FindSimilar = %q, want %q", got, s.Texts())
		}
	}
	if found < 1000 {
		t.Errorf("%d similar words", found)
	}
}
