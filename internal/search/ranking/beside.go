// This file computes the contribution of neighbouring turns to a turn's score. A turn is the text that one person says
// at a time in a conversation between people (a talk).

package ranking

import (
	"cmp"
	"math"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

// Parameters for neighbouring turns.
const (
	maxCandidateTurnDistance = 2 // A turn that is at most this many turns away from a found turn may also become a hit.

	maxNeighbourTurnDistance = 5 // maximum distance, in turns, at which a turn contributes to the score of another turn
	// share of the previous turn's score that is added to a turn if the previous turn is a question
	previousQuestionScoreShare = 0.9
	// share of the previous turn's score that is added to a turn if the previous turn is not a question
	previousTurnScoreShare     = 0.6
	nextTurnScoreShare         = 0.4 // share of the next turn's score that is added to a turn
	distantNeighbourScoreShare = 0.3 // share of a more distant turn's score that is added to a turn
	// A turn that contains no query word may get a score from its neighbours. At least this many turns with the rarest
	// query word must rank before all turns without a query word.
	minTurnsWithRarestWord = 2
	// A turn without query words must rank below the turns with the rarest query word. If its score is above the limit
	// for such turns, the score is lowered to just below the limit. The distance to the limit is at most this share of
	// the limit.
	neighbourOnlyScoreMargin = 1e-6
	// A neighbour adds to a turn's score, for each word, a share of the neighbour's own score for the word. It adds
	// nothing for a word if this share is not more than minNeighbourScoreRatio times the score that the turn's own text
	// has for the word.
	minNeighbourScoreRatio = 0.25
)

// neighbourTermScore is a neighbour's contribution to the score of a turn, for a single term.
type neighbourTermScore struct {
	termIndex          int
	neighbourID        uint64
	scoreToFourthPower float64
}

// neighbourScoreShare returns which share of a neighbouring turn's score is added to a turn. distance is the
// neighbour's distance in turns, which is negative for an earlier turn.
func neighbourScoreShare(distance int, neighbour *dialogueTurn) float64 {
	if distance == -1 && !neighbour.isQuestion {
		return previousTurnScoreShare
	}
	return maxNeighbourScoreShare(distance)
}

// maxNeighbourScoreShare returns the largest share of a neighbouring turn's score that may be added to a turn.
// distance is the neighbour's distance in turns, which is negative for an earlier turn.
func maxNeighbourScoreShare(distance int) float64 {
	switch distance {
	case -1:
		return previousQuestionScoreShare
	case 1:
		return nextTurnScoreShare
	}
	return distantNeighbourScoreShare
}

// addNeighbourScores adds the contributions of neighbouring turns to turn i's score. It does so separately for each
// query word. The score of a word becomes the fourth root of the sum of the fourth powers of all contributions, which
// are those of the turn itself and of its neighbours. Therefore the score is only a little more than the largest
// contribution. Neighbours contribute nothing to query words that are dates.
func (t *dialogueScorer) addNeighbourScores(i int, candidate *hitCandidate, a *scoreExplanation) {
	a.neighbours, a.scoreFourthPowerSums = a.neighbours[:0], a.scoreFourthPowerSums[:0]
	for _, given := range candidate.termScores {
		a.scoreFourthPowerSums = append(a.scoreFourthPowerSums, fourthPower(given))
	}
	counts := func(k int, given float64) bool {
		return given > minNeighbourScoreRatio*candidate.termScores[k] && !t.isDateTerm[k]
	}
	worth := func(n *hitCandidate, step int) bool {
		part := maxNeighbourScoreShare(step)
		for k, given := range n.termScores {
			if counts(k, part*given) {
				return true
			}
		}
		return false
	}
	t.eachNeighbourTurn(i, maxNeighbourTurnDistance, worth, func(n *hitCandidate, step int) {
		part := neighbourScoreShare(step, n.turn)
		for k, given := range n.termScores {
			if given := part * given; counts(k, given) {
				power := fourthPower(given)
				a.neighbours = append(a.neighbours, neighbourTermScore{k, n.id, power})
				a.scoreFourthPowerSums[k] += power
			}
		}
	})
	for _, b := range a.neighbours {
		a.termScores[b.termIndex] = math.Sqrt(math.Sqrt(a.scoreFourthPowerSums[b.termIndex]))
	}
}

// maxNeighbourOnlyScore returns an upper limit for the scores of turns that contain no query word and are found only
// because of neighbouring turns. The limit is a score among the turns with the rarest query word, sorted by score: the
// score of the turn with the rank minTurnsWithRarestWord, or of the last turn if there are fewer. Turns that contain no
// query word therefore rank below these turns. If no turn contains a query word, the result is 0, which means no limit.
// The result is also 0 if the search found no turns of conversations between persons. The method
// limitNeighbourOnlyScore applies the limit. It does not limit a turn that follows a question with a query word.
func (t *dialogueScorer) maxNeighbourOnlyScore() float64 {
	t.plan.maxNeighbourOnlyScore = 0
	if !t.plan.foundDialogueKinds.hasPersonTurns {
		return 0
	}
	rarest := -1
	for _, i := range t.candidateIndexes {
		own := t.readTurn(i)
		for k := range t.termScores.Terms {
			if !t.isTermInTurnText(own, k) {
				continue
			}
			if rarest < 0 || t.termScores.TermScoreGains[k] > t.termScores.TermScoreGains[rarest] {
				rarest = k
			}
		}
	}
	if rarest < 0 {
		return 0
	}
	var scores []float64
	for _, i := range t.candidateIndexes {
		if t.isTermInTurnText(t.readTurn(i), rarest) {
			t.explainScore(i, &t.explanationBuffer)
			scores = append(scores, t.explanationBuffer.score)
		}
	}
	slices.SortFunc(scores, func(a, b float64) int { return cmp.Compare(b, a) })
	return scores[min(minTurnsWithRarestWord, len(scores))-1]
}

// limitNeighbourOnlyScore limits the score of a person's turn that contains no query word itself and was found only
// through its neighbours. A score above the limit becomes a value just below the limit. The order among such turns
// stays the same. If the turn directly before is a question with a query word, the score is not limited, because
// answers seldom repeat the words of the question.
func (t *dialogueScorer) limitNeighbourOnlyScore(i int, candidate *hitCandidate, a *scoreExplanation) {
	limit := t.plan.maxNeighbourOnlyScore
	if limit <= 0 || a.score < limit {
		return
	}
	if candidate.turn.dialogueKind != analysis.PersonTurn {
		return
	}
	for k := range t.termScores.Terms {
		if t.isTermInTurnText(candidate, k) {
			return
		}
	}
	isAnswer := false
	t.eachNeighbourTurn(i, 1, nil, func(n *hitCandidate, step int) {
		isAnswer = isAnswer || (step == -1 && n.turn.isQuestion && n.maxTermScore > 0)
	})
	if isAnswer {
		return
	}
	f := scoreFactor{
		"only turns beside it hold the words",
		limit / a.score * (1 - neighbourOnlyScoreMargin*limit/a.score),
	}
	a.factors = append(a.factors, f)
	a.score *= f.multiplier
}

// isTermInTurnText reports whether the text of a turn contains the term with the index termIndex. The turn is
// candidate.turn. The result is false if the turn is not by a person, or if the term is a date or a name of the turn's
// speaker.
func (t *dialogueScorer) isTermInTurnText(candidate *hitCandidate, termIndex int) bool {
	if candidate.turn.dialogueKind != analysis.PersonTurn {
		return false
	}
	if candidate.termScores[termIndex] == 0 || t.isDateTerm[termIndex] {
		return false
	}
	weights := t.speakerByName(candidate.turn.speaker).termWeights
	return weights == nil || weights[termIndex] == 1
}

// fourthPower returns the fourth power of x. Scores are combined by fourth powers and fourth roots because
// these are identical to the last bit on all machines, unlike other powers.
func fourthPower(x float64) float64 {
	x = float64(x * x)
	return float64(x * x)
}
