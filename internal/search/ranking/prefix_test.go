// This file tests for which words a prefix in a query stands.

package ranking

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

// TestFrequentTermsWithPrefix compares frequentTermsWithPrefix with a list of all terms that is sorted by frequency.
// Many terms have the same frequency. Such terms must be in alphabetical order.
func TestFrequentTermsWithPrefix(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	r := NewScorer(OxbowRanking, nil)
	err := r.FillIndex(t.Context(), func(yield func(Item, error) bool) {
		for i := range 600 {
			var text strings.Builder
			for range 1 + rng.IntN(8) {
				fmt.Fprintf(&text, "w%d ", int(1000*rng.Float64()*rng.Float64()))
			}
			if !yield(&note{id: uint64(i + 1), text: text.String()}, nil) {
				return
			}
		}
	}, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	v := r.NewView(t.Context(), nil)
	long := 0 // number of prefixes that more than maxPrefixWords terms have
	for _, prefix := range []string{"w", "w1", "w2", "w3", "w4", "w12", "w999", "w1x"} {
		q := analysis.QueryPrefix{FoldedText: prefix, Term: prefix}
		got, want := v.frequentTermsWithPrefix(q), v.termsWithPrefix(q)
		if len(want) > maxPrefixWords {
			long++
		}
		slices.SortFunc(want, func(a, b string) int {
			return cmp.Or(v.DocumentFrequency(b)-v.DocumentFrequency(a), strings.Compare(a, b))
		})
		want = want[:min(len(want), maxPrefixWords)]
		if !slices.Equal(got, want) {
			t.Errorf("frequentTermsWithPrefix(%q) = %q, want %q", prefix, got, want)
		}
	}
	if long < 3 {
		t.Errorf("%d prefixes have more than %d terms, want at least 3", long, maxPrefixWords)
	}
}
