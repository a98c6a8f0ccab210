// This file computes the contribution of neighbouring turns to a turn's score. A turn is what one person says at a
// time in a conversation between people (a talk).

package ranking

import (
	"cmp"
	"math"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

// Parameters for neighbouring turns.
const (
	maxCandidateDistance = 2 // A turn that is at most this many turns away from a found turn may also become a hit.

	maxNeighbourDistance = 5 // maximum distance, in turns, at which a turn contributes to the score of another turn
	// share of the previous turn's score that is added to a turn if the previous turn is a question
	previousQuestionShare = 0.9
	// share of the previous turn's score that is added to a turn if the previous turn is not a question
	previousTurnShare   = 0.6
	nextTurnShare       = 0.4 // share of the next turn's score that is added to a turn
	otherNeighbourShare = 0.3 // share of a more distant turn's score that is added to a turn
	// A turn that contains no query word may get a score from its neighbours. At least this many turns with the rarest
	// query word must rank before all turns without a query word.
	minTurnsWithRarestWord = 2
	// The scores of turns without query words are lowered below a limit. The highest of them is placed below the limit
	// by this part of the limit.
	limitMargin = 1e-6
	// A neighbouring turn adds nothing for a word if it would add less than this share of what the turn's own text
	// has.
	minShareOfOwnScore = 0.25
)

// neighbourContribution is a neighbour's contribution to the score of a turn, for a single term.
type neighbourContribution struct {
	termIndex   int
	neighbourID uint64
	fourthPower float64
}

// neighbourShare returns which share of a neighbouring turn's score is added to a turn. distance is the neighbour's
// distance in turns, which is negative for an earlier turn.
func neighbourShare(distance int, neighbour *dialogueTurn) float64 {
	if distance == -1 && !neighbour.isQuestion {
		return previousTurnShare
	}
	return maxNeighbourShare(distance)
}

// maxNeighbourShare returns the largest share of a neighbouring turn's score that may be added to a turn. distance is
// the neighbour's distance in turns, which is negative for an earlier turn.
func maxNeighbourShare(distance int) float64 {
	switch distance {
	case -1:
		return previousQuestionShare
	case 1:
		return nextTurnShare
	}
	return otherNeighbourShare
}

// addNeighbourScores adds, for each query word, the contributions of neighbouring turns to the score of turn i. All
// contributions for a word are combined: their fourth powers are added, and the fourth root is taken. Therefore the
// result is only a little more than the largest of them. For dates, neighbours contribute nothing.
func (t *dialogueScorer) addNeighbourScores(i int, own *candidate, a *scoreExplanation) {
	a.neighbours, a.fourthPowers = a.neighbours[:0], a.fourthPowers[:0]
	for _, given := range own.termScores {
		a.fourthPowers = append(a.fourthPowers, fourthPower(given))
	}
	counts := func(k int, given float64) bool {
		return given > minShareOfOwnScore*own.termScores[k] && !t.isDateTerm[k]
	}
	worth := func(n *candidate, step int) bool {
		part := maxNeighbourShare(step)
		for k, given := range n.termScores {
			if counts(k, part*given) {
				return true
			}
		}
		return false
	}
	t.eachNeighbour(i, maxNeighbourDistance, worth, func(n *candidate, step int) {
		part := neighbourShare(step, n.turn)
		for k, given := range n.termScores {
			if given := part * given; counts(k, given) {
				power := fourthPower(given)
				a.neighbours = append(a.neighbours, neighbourContribution{k, n.id, power})
				a.fourthPowers[k] += power
			}
		}
	})
	for _, b := range a.neighbours {
		a.termScores[b.termIndex] = math.Sqrt(math.Sqrt(a.fourthPowers[b.termIndex]))
	}
}

// neighbourOnlyLimit returns an upper limit for the score of a turn that contains no query word and does not follow a
// question with such a word. The limit is the second-best score of the turns with the rarest query word, or the best
// score if only one turn has the word. If no turn contains a query word, the result is 0, which means no limit.
func (t *dialogueScorer) neighbourOnlyLimit() float64 {
	t.plan.neighbourOnlyLimit = 0
	if !t.plan.foundKinds.hasTalks {
		return 0
	}
	rarest := -1
	for _, i := range t.candidates {
		own := t.readTurn(i)
		for k := range t.termScores.Terms {
			if !t.hasTerm(own, k) {
				continue
			}
			if rarest < 0 || t.termScores.Gains[k] > t.termScores.Gains[rarest] {
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
			t.explainScore(i, &t.accountBuffer)
			scores = append(scores, t.accountBuffer.score)
		}
	}
	slices.SortFunc(scores, func(a, b float64) int { return cmp.Compare(b, a) })
	return scores[min(minTurnsWithRarestWord, len(scores))-1]
}

// limitToNeighbourScore limits the score of a turn that was found only because of its neighbours and contains no query
// word. A score above the limit becomes a value just below the limit, and the order among these turns stays the same.
// A turn that follows a question with a query word is not limited, because answers seldom repeat the words of the
// question.
func (t *dialogueScorer) limitToNeighbourScore(i int, own *candidate, a *scoreExplanation) {
	limit := t.plan.neighbourOnlyLimit
	if limit <= 0 || a.score < limit {
		return
	}
	if own.turn.speechKind != analysis.TurnOfTalk {
		return
	}
	for k := range t.termScores.Terms {
		if t.hasTerm(own, k) {
			return
		}
	}
	isAnswer := false
	t.eachNeighbour(i, 1, nil, func(n *candidate, step int) {
		isAnswer = isAnswer || (step == -1 && n.turn.isQuestion && n.maxTermScore > 0)
	})
	if isAnswer {
		return
	}
	f := scoreFactor{"only turns beside it hold the words", limit / a.score * (1 - limitMargin*limit/a.score)}
	a.factors = append(a.factors, f)
	a.score *= f.multiplier
}

// hasTerm reports whether the turn itself has term termIndex, which must not be a date or the name of
// its speaker.
func (t *dialogueScorer) hasTerm(own *candidate, termIndex int) bool {
	if own.turn.speechKind != analysis.TurnOfTalk {
		return false
	}
	if own.termScores[termIndex] == 0 || t.isDateTerm[termIndex] {
		return false
	}
	weights := t.speakerByName(own.turn.speaker).termWeights
	return weights == nil || weights[termIndex] == 1
}

// fourthPower returns the fourth power of x. Scores are combined by fourth powers and fourth roots because these are
// identical to the last bit on all machines, unlike other powers.
func fourthPower(x float64) float64 {
	x = float64(x * x)
	return float64(x * x)
}
