package quality

import (
	"math"
	"testing"
)

func TestPairedDifference(t *testing.T) {
	// Mean 2, variance ((1)^2+0+(1)^2)/2 = 1, standard error 1/sqrt 3.
	got, reach := PairedDifference([]float64{1, 2, 3}), 1.96/math.Sqrt(3)
	if math.Abs(got.Mean-2) > 1e-12 || math.Abs(got.LowerBound-(2-reach)) > 1e-12 ||
		math.Abs(got.UpperBound-(2+reach)) > 1e-12 {
		t.Errorf("PairedDifference = %+v, want 2 and %v to each side", got, reach)
	}
	if got := PairedDifference([]float64{.5}); got != (Difference{.5, .5, .5}) {
		t.Errorf("of one: %+v", got)
	}
	if got := PairedDifference(nil); got != (Difference{}) {
		t.Errorf("of none: %+v", got)
	}
}

func TestCompare(t *testing.T) {
	q := func(set string, number int, ndcg float64) QuestionScore {
		return QuestionScore{
			DataSetName:  set,
			EntryKind:    "turns",
			Ranking:      "oxbow",
			Number:       number,
			NDCG:         ndcg,
			RecallAnyAt5: 1,
		}
	}
	now := []QuestionScore{q("a", 0, .5), q("a", 1, 1), q("b", 0, .25), q("b", 7, 1)}
	before := []QuestionScore{q("b", 0, .75), q("a", 1, .5), q("a", 0, .5), q("c", 0, 1)}
	got := Compare(now, before)
	if len(got) != 2 || got[0].DataSetName != "a" || got[0].N != 2 || got[0].NDCG.Mean != .25 || got[0].RecallAnyAt5.Mean != 0 ||
		got[1].DataSetName != "b" || got[1].N != 1 ||
		got[1].NDCG.Mean != -.5 {
		t.Errorf("Compare = %+v", got)
	}
}
