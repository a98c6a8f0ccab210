// What a term gives to a turn of a talk because of the turns next to it.

package ranking

import "math"

// What neighbours give to a turn of a talk.
const (
	turnNext = 2 // turns next to a candidate that are candidates, too

	neighbourReach   = 5    // turns to each side that give a part of what a term gives them
	neighbourAsked   = 0.9  // that part: of the turn before, when it is a question
	neighbourBefore  = 0.6  // … when it is none
	neighbourAfter   = 0.4  // … of the turn after
	neighbourFurther = 0.3  // … of all others
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

// fourth returns the fourth power of x. It and its root are the same to the last bit
// on all machines, which those of other powers are not.
func fourth(x float64) float64 {
	x = float64(x * x)
	return float64(x * x)
}
