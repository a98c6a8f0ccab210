// The best stretch of a long text: where the query's words stand closest.

package ranking

import (
	"context"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/analysis"
)

// The best stretch of a dialogue that is one entry counts next to all of it: what
// answers a question stands in few of its turns.
const (
	stretchWords = 40  // its length
	stretchPart  = 0.5 // what its score counts next to that of the whole
	stretchPool  = 15  // it is looked for in so many of the best hits without it
)

// spoken are the fields that stretches are looked for in: what a program said
// weighs too little to be worth the reading.
var spoken = []string{"body", "user"}

// occurrence is a word of a query in a text.
type occurrence struct {
	at, term int
	weight   float64 // of its field, 1 for a plain word
}

// stretch finds the best stretches of texts by the terms of one query.
type stretch struct {
	finder   *analysis.Finder
	numbers  map[string]int // of the terms
	found    []occurrence
	tf, best []float64 // by term
}

func newStretch(terms []string) *stretch {
	s := &stretch{finder: analysis.NewFinder(analysis.NewChoice(terms, nil)), numbers: make(map[string]int, len(terms))}
	for k, t := range terms {
		s.numbers[t] = k
	}
	return s
}

// find returns what each term gives for the best stretch, by its number, nil for no
// stretch: a part of gain·tf/(tf + k1), which is BM25 without regard to length,
// since all stretches are of one length. What find returns is overwritten by the
// next call.
func (s *stretch) find(ctx context.Context, fields []analysis.Field, gains []float64) []float64 {
	s.found = s.found[:0]
	from := 0
	for _, f := range fields {
		if slices.Contains(spoken, f.Name) {
			weight := float64(f.Weight) / weightBody
			from += s.finder.Occurrences(ctx, f.Text, func(term string, at int) {
				s.found = append(s.found, occurrence{from + at, s.numbers[term], weight})
			})
		}
	}
	s.tf, s.best = resized(s.tf, len(gains)), resized(s.best, len(gains))
	gives := func(k int) float64 { return gains[k] * s.tf[k] / (s.tf[k] + oxbowK1) }
	most, first := 0.0, 0
	for _, o := range s.found {
		s.tf[o.term] += o.weight
		for ; o.at-s.found[first].at >= stretchWords; first++ {
			s.tf[s.found[first].term] -= s.found[first].weight
		}
		sum := 0.0
		for k := range gains {
			sum += gives(k)
		}
		if sum > most {
			most = sum
			for k := range gains {
				s.best[k] = stretchPart * gives(k)
			}
		}
	}
	if most == 0 {
		return nil
	}
	return s.best
}

// resized returns n zeros, in the room of s if it has enough.
func resized(s []float64, n int) []float64 {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}
