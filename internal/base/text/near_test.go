// This file tests the search for similar words.

package text

import (
	"math/rand/v2"
	"slices"
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
	word := func() string {
		b := make([]byte, rng.IntN(9))
		for i := range b {
			b[i] = "aAbBc-1K"[rng.IntN(8)]
		}
		return string(b)
	}
	rejected := 0
	for range 20_000 {
		w, candidate := word(), word()
		target := newComparedWord(w)
		_, near := target.compareCandidate(candidate)
		if !target.mayBeSimilar(candidate) {
			rejected++
			if near {
				t.Fatalf("%q is near %q and is rejected", candidate, w)
			}
		}
	}
	if rejected < 2000 {
		t.Errorf("%d of 20000 candidates are rejected", rejected)
	}
}
