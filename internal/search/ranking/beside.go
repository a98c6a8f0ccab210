// What a term gives to a turn of a talk because of the turns next to it.

package ranking

import (
	"cmp"
	"math"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

// What neighbours give to a turn of a talk.
const (
	turnNext = 2 // turns next to a candidate that are candidates, too

	neighbourReach   = 5    // turns to each side that give a part of what a term gives them
	neighbourAsked   = 0.9  // that part: of the turn before, when it is a question
	neighbourBefore  = 0.6  // … when it is none
	neighbourAfter   = 0.4  // … of the turn after
	neighbourFurther = 0.3  // … of all others
	rarestHolders    = 2    // turns with the rarest word that are placed before turns without any word
	limitStep        = 1e-6 // share of the limit by which the scores of such turns stay below it
	neighbourFaint   = 0.25 // that part of what the term gives to the turn itself adds nothing
)

// besideTerm is what a neighbour has in what a term gives.
type besideTerm struct {
	term  int
	from  uint64
	power float64
}

// part returns the part that a neighbour gives, so many turns away.
func part(step int, asks bool) float64 {
	switch {
	case step == -1 && asks:
		return neighbourAsked
	case step == -1:
		return neighbourBefore
	case step == 1:
		return neighbourAfter
	}
	return neighbourFurther
}

// beside makes what a term gives to the turn at a place the fourth root of a sum of
// fourth powers: of what it gives by itself, and of the parts of its neighbours. That
// is little more than the most of them, and more when many say the word. A date is
// each turn's own.
func (t *dialogue) beside(i int, own *candidate, a *account) {
	a.beside, a.powers = a.beside[:0], a.powers[:0]
	for _, given := range own.scores {
		a.powers = append(a.powers, fourth(given))
	}
	counts := func(k int, given float64) bool { return given > neighbourFaint*own.scores[k] && !t.dates[k] }
	worth := func(n *candidate, step int) bool {
		part := part(step, true)
		for k, given := range n.scores {
			if counts(k, part*given) {
				return true
			}
		}
		return false
	}
	t.neighbours(i, neighbourReach, worth, func(n *candidate, step int) {
		part := part(step, n.turn.asks)
		for k, given := range n.scores {
			if given := part * given; counts(k, given) {
				power := fourth(given)
				a.beside = append(a.beside, besideTerm{k, n.id, power})
				a.powers[k] += power
			}
		}
	})
	for _, b := range a.beside {
		a.terms[b.term] = math.Sqrt(math.Sqrt(a.powers[b.term]))
	}
}

// besideLimit returns the score that a turn stays below if it holds no word of the query
// and answers no question: the score of the second-best candidate that holds the rarest
// word, or of the only one. It returns 0, which limits nothing, if no candidate holds any
// word.
func (t *dialogue) besideLimit() float64 {
	t.p.besideLimit = 0
	if !t.p.found.talks {
		return 0
	}
	rarest := -1
	for _, i := range t.candidates {
		own := t.read(i)
		for k := range t.scores.Terms {
			if t.holds(own, k) && (rarest < 0 || t.scores.Gains[k] > t.scores.Gains[rarest]) {
				rarest = k
			}
		}
	}
	if rarest < 0 {
		return 0
	}
	var scores []float64
	for _, i := range t.candidates {
		if t.holds(t.read(i), rarest) {
			t.account(i, &t.spare)
			scores = append(scores, t.spare.score)
		}
	}
	slices.SortFunc(scores, func(a, b float64) int { return cmp.Compare(b, a) })
	return scores[min(rarestHolders, len(scores))-1]
}

// limitBeside lowers the score of a turn that has it from its neighbours alone to just
// below the limit. The order among such turns stays the same. A turn is not limited if
// the turn before is a question with a word of the query, because its answer seldom
// repeats the word.
func (t *dialogue) limitBeside(i int, own *candidate, a *account) {
	limit := t.p.besideLimit
	if limit <= 0 || a.score < limit || own.turn.kind != analysis.TurnOfTalk {
		return
	}
	for k := range t.scores.Terms {
		if t.holds(own, k) {
			return
		}
	}
	isAnswer := false
	t.neighbours(i, 1, nil, func(n *candidate, step int) {
		isAnswer = isAnswer || (step == -1 && n.turn.asks && n.most > 0)
	})
	if isAnswer {
		return
	}
	f := factor{"only turns beside it hold the words", limit / a.score * (1 - limitStep*limit/a.score)}
	a.factors = append(a.factors, f)
	a.score *= f.by
}

// holds reports whether a turn of a talk itself holds a term of the query that is neither
// a date nor the name of its speaker.
func (t *dialogue) holds(own *candidate, k int) bool {
	if own.turn.kind != analysis.TurnOfTalk || own.scores[k] == 0 || t.dates[k] {
		return false
	}
	weights := t.speaker(own.turn.speaker).weights
	return weights == nil || weights[k] == 1
}

// fourth returns the fourth power of x. It and its root are the same to the last bit
// on all machines, which those of other powers are not.
func fourth(x float64) float64 {
	x = float64(x * x)
	return float64(x * x)
}
