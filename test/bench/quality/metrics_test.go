// This file compares the measures with values computed by hand.

package quality

import (
	"math"
	"testing"
)

func ids(names ...string) map[string]bool {
	m := map[string]bool{}
	for _, n := range names {
		m[n] = true
	}
	return m
}

func TestMeasures(t *testing.T) {
	// Gains by rank: 1/log2(2) = 1, 1/log2(3) = 0.6309298, 1/log2(4) = 0.5,
	// 1/log2(5) = 0.4306766, 1/log2(6) = 0.3868528.
	tests := []struct {
		name    string
		ranking []string
		right   map[string]bool

		any1, any5, all5, ndcg5, mrr, share3, retrieved5, longMemEval5 float64
	}{
		{"first", []string{"a", "b", "c"}, ids("a"), 1, 1, 1, 1, 1, 1, 1, 1},
		{"second", []string{"b", "a", "c"}, ids("a"), 0, 1, 1, 0.6309298, .5, 1, 0.6309298, 1},
		{"two of two, ranks 1 and 3", []string{"a", "x", "b"}, ids("a", "b"), 1, 1, 1, 1.5 / 1.6309298, 1, 1,
			1.5 / 1.6309298, 1.6309298 / 2},
		{"one of two, rank 4", []string{"x", "y", "z", "a"}, ids("a", "b"), 0, 1, 0, 0.4306766 / 1.6309298, .25, 0,
			0.4306766, .25},
		{"second one at rank 6", []string{"a", "v", "w", "x", "y", "b"}, ids("a", "b"), 1, 1, 0, 1 / 1.6309298, 1,
			.5, 1, .5},
		{"none found", []string{"x", "y"}, ids("a"), 0, 0, 0, 0, 0, 0, 0, 0},
		{"empty ranking", nil, ids("a"), 0, 0, 0, 0, 0, 0, 0, 0},
		{"none right", []string{"x"}, ids(), 0, 0, 0, 0, 0, 0, 0, 0},
		// There are six right entries, more than the five places. Five places can gain at most
		// 2.9484592. In this list, the first place has no right entry.
		{"more right than places", []string{"x", "a", "b", "c", "d", "e", "f"}, ids("a", "b", "c", "d", "e", "f"),
			0, 1, 0, 1.9484592 / 2.9484592, .5, 2. / 6, 1.9484592 / 2.5616063,
			(1 + 0.6309298 + .5 + 0.4306766) / (1 + 1 + 0.6309298 + .5 + 0.4306766)},
	}
	for _, tt := range tests {
		for _, m := range []struct {
			name      string
			got, want float64
		}{
			{"recallAny@1", recallAny(tt.ranking, tt.right, 1), tt.any1},
			{"recallAny@5", recallAny(tt.ranking, tt.right, 5), tt.any5},
			{"recallAll@5", recallAll(tt.ranking, tt.right, 5), tt.all5},
			{"ndcg@5", ndcg(tt.ranking, tt.right, 5), tt.ndcg5},
			{"reciprocal", reciprocalRank(tt.ranking, tt.right), tt.mrr},
			{"ndcgRetrieved@5", ndcgRetrieved(tt.ranking, tt.right, 5), tt.retrieved5},
			{"ndcgLongMemEval@5", ndcgLongMemEval(tt.ranking, tt.right, 5), tt.longMemEval5},
			{"recallShare@3", recallShare(tt.ranking, tt.right, 3), tt.share3},
		} {
			if math.Abs(m.got-m.want) > 1e-6 {
				t.Errorf("%s: %s = %v, want %v", tt.name, m.name, m.got, m.want)
			}
		}
	}
}

func TestSums(t *testing.T) {
	var s questionScoreSums
	if got := s.meanScores(); got != (Scores{}) {
		t.Errorf("means of nothing = %+v, want 0", got)
	}
	s.addResult(questionQueryResult{[]string{"a", "b"}, []string{"a"}}, ids("a")) // the reciprocal rank is 1
	s.addResult(questionQueryResult{[]string{"b", "a"}, nil}, ids("a"))           // the reciprocal rank is 1/2
	// the reciprocal rank is 0, but a is among the shown results
	s.addResult(questionQueryResult{[]string{"x"}, []string{"x", "a"}}, ids("a"))
	ten := []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "a"}
	s.addResult(questionQueryResult{ranking: ten}, ids("a")) // rank 11 is beyond the ten
	want := Scores{
		QuestionCount:   4,
		RecallAnyAt1:    .25,
		RecallAnyAt5:    .5,
		RecallAnyAt10:   .5,
		RecallAllAt5:    .5,
		NDCG:            (1 + 1/math.Log2(3)) / 4,
		MRR:             .375,
		RecallAt5:       .5,
		RecallAt10:      .5,
		ShownAnyAt5:     .5,
		NDCGRetrieved:   (1 + 1/math.Log2(3)) / 4,
		NDCGLongMemEval: .5,
	}
	if got := s.meanScores(); got != want {
		t.Errorf("scores() = %+v, want %+v", got, want)
	}
	if s.recallAt100 != 3 {
		t.Errorf("recall at 100 adds up to %v, want 3", s.recallAt100)
	}
}
