// This file computes the measures of a ranking. Each function takes the ranking, best first
// and without repetitions, and the IDs of the right entries.

package quality

import "math"

// recallAny returns 1 if any of the first k entries is right, otherwise 0 (hit rate or
// success at k).
func recallAny(ranking []string, right map[string]bool, k int) float64 {
	if countFound(ranking, right, k) > 0 {
		return 1
	}
	return 0
}

// recallAll returns 1 if the first k entries include all right entries, otherwise 0. It
// returns 0 if there are more than k right entries, or none.
func recallAll(ranking []string, right map[string]bool, k int) float64 {
	if len(right) > 0 && countFound(ranking, right, k) == len(right) {
		return 1
	}
	return 0
}

// recallShare returns the share of the right entries that are among the first k (recall at
// k). It returns 0 if there are no right entries.
func recallShare(ranking []string, right map[string]bool, k int) float64 {
	if len(right) == 0 {
		return 0
	}
	return float64(countFound(ranking, right, k)) / float64(len(right))
}

func countFound(ranking []string, right map[string]bool, k int) int {
	n := 0
	for _, id := range ranking[:min(k, len(ranking))] {
		if right[id] {
			n++
		}
	}
	return n
}

// dcg returns the discounted cumulative gain of the first k entries with gains 1 and 0: the
// sum of 1/log2(rank+1) over the right entries (Järvelin and Kekäläinen, "Cumulated
// gain-based evaluation of IR techniques", 2002, in the form of trec_eval's ndcg_cut).
func dcg(ranking []string, right map[string]bool, k int) float64 {
	sum := 0.0
	for i, id := range ranking[:min(k, len(ranking))] {
		if right[id] {
			sum += 1 / math.Log2(float64(i+2))
		}
	}
	return sum
}

// ideal returns the dcg of a ranking with right entries in the first n places, but at most
// k.
func ideal(n, k int) float64 {
	sum := 0.0
	for i := range min(n, k) {
		sum += 1 / math.Log2(float64(i+2))
	}
	return sum
}

// ndcg returns the dcg of the first k entries divided by the maximum for any ranking, like
// trec_eval. It returns 0 if there are no right entries.
func ndcg(ranking []string, right map[string]bool, k int) float64 {
	if len(right) == 0 {
		return 0
	}
	return dcg(ranking, right, k) / ideal(len(right), k)
}

// ndcgRetrieved returns the dcg of the first k entries divided by the maximum that any order of them has, so
// that missing entries do not matter. It is at least as high as ndcg, and 0 if none of the entries is right.
func ndcgRetrieved(ranking []string, right map[string]bool, k int) float64 {
	n := countFound(ranking, right, k)
	if n == 0 {
		return 0
	}
	return dcg(ranking, right, k) / ideal(n, k)
}

// ndcgLongMemEval is like ndcg, but with the discount of LongMemEval's published evaluation
// (eval_utils.py): the first two ranks count 1, and later ranks 1/log2(rank).
func ndcgLongMemEval(ranking []string, right map[string]bool, k int) float64 {
	sum, most := 0.0, 0.0
	for i := range k {
		gain := 1 / math.Log2(float64(max(i+1, 2)))
		if i < len(right) {
			most += gain
		}
		if i < len(ranking) && right[ranking[i]] {
			sum += gain
		}
	}
	if most == 0 {
		return 0
	}
	return sum / most
}

// reciprocal returns 1 divided by the rank of the first right entry, or 0 if there is none.
// The mean over all queries is the MRR.
func reciprocal(ranking []string, right map[string]bool) float64 {
	for i, id := range ranking {
		if right[id] {
			return 1 / float64(i+1)
		}
	}
	return 0
}

// Scores are the means of the measures over N questions. The JSON keys are the names in the
// papers.
type Scores struct {
	N     int     `json:"n"`
	Any1  float64 `json:"recall_any@1"` // share of questions with a right entry in first place
	Any5  float64 `json:"recall_any@5"`
	Any10 float64 `json:"recall_any@10"`
	All5  float64 `json:"recall_all@5"` // share of questions with all right entries among the first 5
	NDCG  float64 `json:"ndcg@10"`      // with trec_eval's convention
	MRR   float64 `json:"mrr@10"`

	Recall5  float64 `json:"recall@5"` // mean share of the right entries among the first 5
	Recall10 float64 `json:"recall@10"`
	// share of questions with a right entry among the first 5 or the two turns before and
	// after them
	Shown5 float64 `json:"shown_any@5"`

	NDCGRetrieved   float64 `json:"ndcg_retrieved@10"`   // divided by the ideal for the retrieved entries
	NDCGLongMemEval float64 `json:"ndcg_longmemeval@10"` // with LongMemEval's own evaluation
}

// fieldPointers returns pointers to all measures, which are all fields except the count N.
func (s *Scores) fieldPointers() []*float64 {
	return []*float64{&s.Any1, &s.Any5, &s.Any10, &s.All5, &s.NDCG, &s.MRR, &s.Recall5, &s.Recall10, &s.Shown5,
		&s.NDCGRetrieved, &s.NDCGLongMemEval}
}

// sums adds up the measures of rankings.
type sums struct {
	Scores
	share100 float64
}

// answer is the result of one question.
type answer struct {
	ids   []string // the ranking
	shown []string // the first five hits and the turns shown around them
}

// add counts one answer. All measures except recall at 100 use the first ten hits.
func (s *sums) add(a answer, right map[string]bool) {
	s.N++
	for i, m := range s.fieldPointers() {
		*m += [...]float64{
			recallAny(a.ids, right, 1), recallAny(a.ids, right, 5), recallAny(a.ids, right, 10),
			recallAll(a.ids, right, 5),
			ndcg(a.ids, right, 10), reciprocal(a.ids[:min(10, len(a.ids))], right),
			recallShare(a.ids, right, 5), recallShare(a.ids, right, 10), recallAny(a.shown, right, len(a.shown)),
			ndcgRetrieved(a.ids, right, 10), ndcgLongMemEval(a.ids, right, 10),
		}[i]
	}
	s.share100 += recallShare(a.ids, right, 100)
}

func (s *sums) meanScores() Scores {
	means := s.Scores
	for _, m := range means.fieldPointers() {
		*m /= float64(max(s.N, 1))
	}
	return means
}
