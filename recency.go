// Recency: older entries rank lower, when a query asks for it.

package oxbow

import (
	"fmt"
	"math"
	"time"
)

// recencyLeast is the part of its score that the oldest entry keeps: being new
// is worth something, saying what is looked for is worth more.
const recencyLeast = 0.5

// moment returns the time that an entry's age is counted from. What records a
// moment, and what was read from elsewhere, is as old as what it tells of; all
// else is as old as its last change.
func moment(e *Entry) time.Time {
	switch {
	case e.Kind == Archive, e.Kind == Journal, e.Kind == History, e.Source.Actor == Imported:
		return e.Created
	}
	return e.Updated
}

// ageFactor returns what the score of an entry of that age is multiplied by:
// least + (1 − least)·2^(−age/half), 1 for what is of the future.
func ageFactor(age, half time.Duration) float64 {
	if age <= 0 {
		return 1
	}
	return recencyLeast + float64((1-recencyLeast)*math.Exp2(-float64(age)/float64(half)))
}

// recency returns the factor of each entry under the query, nil for none. It is
// above 0 and at most 1, so that a bound of scores without it is one with it.
func (v *rankedView) recency(q Query) func(id uint64) float64 {
	if q.Recency == 0 {
		return nil
	}
	return func(id uint64) float64 {
		e := v.entry(id)
		if e == nil {
			return 1
		}
		return ageFactor(q.Now.Sub(moment(e)), q.Recency)
	}
}

// checkRecency refuses what is no half-life, and fills in the time that ages
// are counted to.
func checkRecency(q *Query, clock func() time.Time) error {
	switch {
	case q.Recency < 0:
		return &InvalidError{Field: "recency", Value: fmt.Sprint(q.Recency), Reason: "is a half-life below 0; 0 is for none"}
	case q.Recency > 0 && q.Now.IsZero():
		q.Now = clock()
	}
	return nil
}
