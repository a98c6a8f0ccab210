// The best stretch of a long text: where the query's words stand closest.

package ranking

import (
	"slices"

	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

// The best stretch of a dialogue that is one entry counts next to all of it: what
// answers a question stands in few of its turns.
const (
	stretchWords = 40  // its length
	stretchPart  = 0.5 // what its score counts next to that of the whole
	stretchPool  = 15  // it is looked for in so many of the best hits without it
)

// spoken are the fields that stretches are looked for in, all of them of weightBody: what
// a program said weighs too little to be worth the reading.
var spoken = []string{"body", "user"}

// tokens returns the tokens of what is spoken in an item, which are kept with it.
func (v *View) tokens(it Item) []*analysis.Tokens {
	kept := &it.Kept().tokens
	if ts := kept.Load(); ts != nil {
		return *ts
	}
	var ts []*analysis.Tokens
	for _, f := range v.fields(it) {
		if slices.Contains(spoken, f.Name) {
			ts = append(ts, analysis.Tokenize(v.ctx, f.Text))
		}
	}
	if v.ctx.Err() == nil { // else they may be cut short
		kept.Store(&ts)
	}
	return ts
}

// occurrence is a word of a query in a text.
type occurrence struct{ at, term int }

// stretch finds the best stretches of texts by the terms of one query.
type stretch struct {
	finder  *analysis.Finder
	numbers map[string]int // of the terms
	found   []occurrence

	// By term: how often it stands in a stretch, what that gives, and what it gives in the
	// best.
	tf, gives, best []float64
}

func newStretch(terms []string) *stretch {
	s := &stretch{finder: analysis.NewFinder(analysis.NewChoice(terms, nil)), numbers: make(map[string]int, len(terms))}
	for k, t := range terms {
		s.numbers[t] = k
	}
	return s
}

// stretchScore returns the score of a term that stands tf times in a stretch: BM25 without
// regard to length, since all stretches are of one length.
func stretchScore(gain, tf float64) float64 { return gain * tf / (tf + oxbowK1) }

// find returns what each term gives for the best stretch, by its number, nil for no
// stretch: a part of its score. What find returns is overwritten by the next call.
func (s *stretch) find(texts []*analysis.Tokens, gains []float64) []float64 {
	s.found = s.found[:0]
	from := 0
	for _, t := range texts {
		from += s.finder.Find(t, func(term string, at int) {
			s.found = append(s.found, occurrence{from + at, s.numbers[term]})
		})
	}
	s.tf = resized(s.tf, len(gains))
	s.gives = resized(s.gives, len(gains))
	s.best = resized(s.best, len(gains))
	count := func(k int, by float64) {
		s.tf[k] += by
		s.gives[k] = stretchScore(gains[k], s.tf[k])
	}
	most, first := 0.0, 0
	for _, o := range s.found {
		count(o.term, 1)
		for ; o.at-s.found[first].at >= stretchWords; first++ {
			count(s.found[first].term, -1)
		}
		sum := 0.0
		for _, given := range s.gives {
			sum += given
		}
		if sum > most {
			most = sum
			for k, given := range s.gives {
				s.best[k] = stretchPart * given
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
