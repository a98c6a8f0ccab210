// This file tests that the matched words of a hit are found among all words of an entry.

package verb

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

// TestMatchedWords compares the matched words with those that are found if each word of the entry is converted to lower
// case and stemmed.
func TestMatchedWords(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	words := strings.Fields(
		"run Running RAN runs runner the The tests Testing test's ability able abilities cry cries CRIED " +
			"using Use USED go went Gone 7up 7UP v2 V2 été ÉTÉ ΟΔΟΣ οδός \u212aelvin kelvin Straße STRASSE İx x X a_b " +
			"better Good mice Mouse children child internationalisation " + strings.Repeat("Ab", 60),
	)
	terms := make([]string, len(words))
	for i, w := range words {
		terms[i] = analysis.TermOfWord(analysis.FoldText(w))
	}
	for range 5_000 {
		parsed := oxbow.ParsedQuery{Rank: oxbow.RankOxbow}
		if rng.IntN(3) == 0 {
			parsed.Rank = oxbow.RankSeed
		}
		for range 1 + rng.IntN(4) {
			i := rng.IntN(len(words))
			term := terms[i]
			if parsed.Rank == oxbow.RankSeed {
				term = strings.ToLower(words[i])
			}
			parsed.Terms = append(parsed.Terms, oxbow.ParsedTerm{Term: term})
		}
		m := newWordMatcher(parsed)
		for range 2 { // The matcher is used for several entries.
			var b strings.Builder
			for range rng.IntN(15) {
				b.WriteString(words[rng.IntN(len(words))] + []string{" ", "-", "\xff"}[rng.IntN(3)])
			}
			e := oxbow.Entry{Name: words[rng.IntN(len(words))], Content: b.String()}
			var want []string
			for _, w := range slices.Concat(text.CrabtalkTerms(e.Name), text.CrabtalkTerms(e.Content)) {
				isTerm := slices.ContainsFunc(parsed.Terms, func(p oxbow.ParsedTerm) bool {
					isStem := parsed.Rank != oxbow.RankSeed && p.Term == analysis.TermOfWord(analysis.FoldText(w))
					return p.Term == w || isStem
				})
				if isTerm && !slices.Contains(want, w) {
					want = append(want, w)
				}
			}
			if got := m.matchedWords(&e); !slices.Equal(got, want) {
				t.Fatalf("the terms %v match %q in %q, want %q", parsed.Terms, got, e.Name+" "+e.Content, want)
			}
		}
	}
}
