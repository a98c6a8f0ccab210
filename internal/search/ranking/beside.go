// This file computes the contributions of neighbouring turns to a turn's score in a
// talk.

package ranking

import (
	"cmp"
	"math"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

// Parameters for neighbouring turns.
const (
	turnNext = 2 // distance up to which neighbours of a candidate become candidates

	neighbourReach   = 5   // distance up to which neighbours contribute
	neighbourAsked   = 0.9 // share that the previous turn contributes if it is a question
	neighbourBefore  = 0.6 // share that the previous turn contributes otherwise
	neighbourAfter   = 0.4 // share that the next turn contributes
	neighbourFurther = 0.3 // share that other neighbours contribute
	rarestHolders    = 2   // number of turns with the rarest word that must rank before turns without any query word
	// relative distance below the limit at which the highest score of a turn without query words is
	// placed
	limitStep      = 1e-6
	neighbourFaint = 0.25 // a contribution is ignored if it is less than this share of the turn's own
)

// besideTerm is a neighbour's contribution for a term.
type besideTerm struct {
	term  int
	from  uint64
	power float64
}

// neighbourShare returns the share that a neighbour at this distance contributes.
func neighbourShare(step int, neighbour *turn) float64 {
	if step == -1 && !neighbour.isQuestion {
		return neighbourBefore
	}
	return maxNeighbourShare(step)
}

// maxNeighbourShare returns the largest share that a neighbour at this distance can contribute.
func maxNeighbourShare(step int) float64 {
	switch step {
	case -1:
		return neighbourAsked
	case 1:
		return neighbourAfter
	}
	return neighbourFurther
}

// combineNeighbours sets each term's contribution to the score of turn i. This is the fourth root of a sum of
// fourth powers. The sum has a term for the turn's own contribution, and a term for each
// neighbour's share. The result is a little more than the largest contribution, and more if many
// turns have the word. Terms of dates do not use neighbours.
func (t *dialogue) combineNeighbours(i int, own *candidate, a *account) {
	a.beside, a.powers = a.beside[:0], a.powers[:0]
	for _, given := range own.scores {
		a.powers = append(a.powers, fourthPower(given))
	}
	counts := func(k int, given float64) bool { return given > neighbourFaint*own.scores[k] && !t.dates[k] }
	worth := func(n *candidate, step int) bool {
		part := maxNeighbourShare(step)
		for k, given := range n.scores {
			if counts(k, part*given) {
				return true
			}
		}
		return false
	}
	t.eachNeighbour(i, neighbourReach, worth, func(n *candidate, step int) {
		part := neighbourShare(step, n.turn)
		for k, given := range n.scores {
			if given := part * given; counts(k, given) {
				power := fourthPower(given)
				a.beside = append(a.beside, besideTerm{k, n.id, power})
				a.powers[k] += power
			}
		}
	})
	for _, b := range a.beside {
		a.terms[b.term] = math.Sqrt(math.Sqrt(a.powers[b.term]))
	}
}

// besideLimit returns an upper limit for the score of a turn that has no query word itself and
// does not answer a question. The limit is the second-best score among candidates with the
// rarest word, or the score of the only such candidate. It returns 0, which means no limit, if
// no candidate has a query word.
func (t *dialogue) besideLimit() float64 {
	t.p.besideLimit = 0
	if !t.p.found.hasTalks {
		return 0
	}
	rarest := -1
	for _, i := range t.candidates {
		own := t.readTurn(i)
		for k := range t.scores.Terms {
			if !t.hasTerm(own, k) {
				continue
			}
			if rarest < 0 || t.scores.Gains[k] > t.scores.Gains[rarest] {
				rarest = k
			}
		}
	}
	if rarest < 0 {
		return 0
	}
	var scores []float64
	for _, i := range t.candidates {
		if t.hasTerm(t.readTurn(i), rarest) {
			t.explainScore(i, &t.spare)
			scores = append(scores, t.spare.score)
		}
	}
	slices.SortFunc(scores, func(a, b float64) int { return cmp.Compare(b, a) })
	return scores[min(rarestHolders, len(scores))-1]
}

// limitBeside reduces a turn's score to just below the limit if the score comes only from
// neighbours. The order among such turns stays the same. Turns after a question with a
// query word are not limited, because an answer seldom repeats the word.
func (t *dialogue) limitBeside(i int, own *candidate, a *account) {
	limit := t.p.besideLimit
	if limit <= 0 || a.score < limit {
		return
	}
	if own.turn.kind != analysis.TurnOfTalk {
		return
	}
	for k := range t.scores.Terms {
		if t.hasTerm(own, k) {
			return
		}
	}
	isAnswer := false
	t.eachNeighbour(i, 1, nil, func(n *candidate, step int) {
		isAnswer = isAnswer || (step == -1 && n.turn.isQuestion && n.most > 0)
	})
	if isAnswer {
		return
	}
	f := factor{"only turns beside it hold the words", limit / a.score * (1 - limitStep*limit/a.score)}
	a.factors = append(a.factors, f)
	a.score *= f.multiplier
}

// hasTerm reports whether the turn itself has term k, which must not be a date or the name of
// its speaker.
func (t *dialogue) hasTerm(own *candidate, k int) bool {
	if own.turn.kind != analysis.TurnOfTalk {
		return false
	}
	if own.scores[k] == 0 || t.dates[k] {
		return false
	}
	weights := t.speaker(own.turn.speaker).weights
	return weights == nil || weights[k] == 1
}

// fourthPower returns the fourth power of x. The fourth power and the fourth root are identical to the
// last bit on all machines, unlike other powers.
func fourthPower(x float64) float64 {
	x = float64(x * x)
	return float64(x * x)
}
