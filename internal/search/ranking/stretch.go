// This file finds the best stretch of a long text, that is, the part in which the query's
// words are densest.

package ranking

import (
	"slices"

	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

// A whole dialogue's best stretch adds to its score, because only a few turns answer a
// question.
const (
	stretchWords   = 40  // length of a stretch in words
	stretchWeight  = 0.5 // weight of the stretch's score
	maxStretchHits = 15  // number of best hits whose stretches are examined
)

// stretchFields are the fields in which stretches are searched. All have the weight weightContent.
// Texts of programs are left out, because their weight is too low to be worth the time.
var stretchFields = []string{"body", "user"}

// itemTokens returns the tokens of an item's spoken fields, and caches them in the item's
// memo.
func (v *View) itemTokens(it Item) []*analysis.Tokens {
	kept := &it.ItemMemo().tokens
	if ts := kept.Load(); ts != nil {
		return *ts
	}
	var ts []*analysis.Tokens
	for _, f := range v.itemFields(it) {
		if slices.Contains(stretchFields, f.Name) {
			ts = append(ts, analysis.Tokenize(v.ctx, f.Text))
		}
	}
	if v.ctx.Err() == nil { // if ctx is done, the tokens may be incomplete
		kept.Store(&ts)
	}
	return ts
}

// occurrence is a position in a text and the number of the query term there.
type occurrence struct{ position, term int }

// stretchFinder finds the best stretches of texts for a query's terms.
type stretchFinder struct {
	finder      *analysis.TermFinder
	numbers     map[string]int // numbers of the terms
	occurrences []occurrence

	// For each term: the number of occurrences in the current stretch, the term's score in this
	// stretch, and its weighted score in the best stretch.
	currentCounts, currentScores, bestScores []float64
}

func newStretch(terms []string) *stretchFinder {
	s := &stretchFinder{
		finder:  analysis.NewTermFinder(analysis.NewTermSet(terms, nil)),
		numbers: make(map[string]int, len(terms)),
	}
	for k, t := range terms {
		s.numbers[t] = k
	}
	return s
}

// stretchScore returns the score of a term that occurs tf times in a stretch: BM25 without
// a length, because all stretches have the same length.
func stretchScore(gain, tf float64) float64 { return gain * tf / (tf + oxbowK1) }

// findBest returns the contribution of each term in the best stretch, by its number, or nil if
// no term occurs. The result is valid until the next call.
func (s *stretchFinder) findBest(texts []*analysis.Tokens, gains []float64) []float64 {
	s.occurrences = s.occurrences[:0]
	from := 0
	for _, t := range texts {
		from += s.finder.FindOccurrences(t, func(term string, at int) {
			s.occurrences = append(s.occurrences, occurrence{from + at, s.numbers[term]})
		})
	}
	s.currentCounts = zeroedSlice(s.currentCounts, len(gains))
	s.currentScores = zeroedSlice(s.currentScores, len(gains))
	s.bestScores = zeroedSlice(s.bestScores, len(gains))
	count := func(k int, by float64) {
		s.currentCounts[k] += by
		s.currentScores[k] = stretchScore(gains[k], s.currentCounts[k])
	}
	most, first := 0.0, 0
	for _, o := range s.occurrences {
		count(o.term, 1)
		for ; o.position-s.occurrences[first].position >= stretchWords; first++ {
			count(s.occurrences[first].term, -1)
		}
		sum := 0.0
		for _, given := range s.currentScores {
			sum += given
		}
		if sum > most {
			most = sum
			for k, given := range s.currentScores {
				s.bestScores[k] = stretchWeight * given
			}
		}
	}
	if most == 0 {
		return nil
	}
	return s.bestScores
}

// zeroedSlice returns n zeros, using the memory of s if possible.
func zeroedSlice(s []float64, n int) []float64 {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}
