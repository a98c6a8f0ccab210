// The measures of a ranking. All take the ranking best first,
// without repeats, and the ids that are right.

package quality

import "math"

// recallAny is 1 when one of the first k is right, else 0 (the hit rate, or
// success, at k).
func recallAny(ranking []string, right map[string]bool, k int) float64 {
	if found(ranking, right, k) > 0 {
		return 1
	}
	return 0
}

// recallAll is 1 when all that are right are among the first k, else 0. With
// more right ones than k it cannot be 1. With none right it is 0.
func recallAll(ranking []string, right map[string]bool, k int) float64 {
	if len(right) > 0 && found(ranking, right, k) == len(right) {
		return 1
	}
	return 0
}

// recallShare is the share of those right that are among the first k (recall at
// k); 0 when none is right.
func recallShare(ranking []string, right map[string]bool, k int) float64 {
	if len(right) == 0 {
		return 0
	}
	return float64(found(ranking, right, k)) / float64(len(right))
}

func found(ranking []string, right map[string]bool, k int) int {
	n := 0
	for _, id := range ranking[:min(k, len(ranking))] {
		if right[id] {
			n++
		}
	}
	return n
}

// dcg is the discounted cumulative gain of the first k, gains being 1 and 0: the
// sum of 1/log2(rank+1) over the right ones (Järvelin and Kekäläinen, "Cumulated
// gain-based evaluation of IR techniques", 2002, in the form of trec_eval's
// ndcg_cut).
func dcg(ranking []string, right map[string]bool, k int) float64 {
	sum := 0.0
	for i, id := range ranking[:min(k, len(ranking))] {
		if right[id] {
			sum += 1 / math.Log2(float64(i+2))
		}
	}
	return sum
}

// ideal is the dcg of a ranking of which the first n, at most k, are right.
func ideal(n, k int) float64 {
	sum := 0.0
	for i := range min(n, k) {
		sum += 1 / math.Log2(float64(i+2))
	}
	return sum
}

// ndcg is the dcg of the first k divided by the most that any ranking could reach,
// as trec_eval has it. It is 0 when none is right.
func ndcg(ranking []string, right map[string]bool, k int) float64 {
	if len(right) == 0 {
		return 0
	}
	return dcg(ranking, right, k) / ideal(len(right), k)
}

// ndcgRetrieved is the dcg of the first k divided by the most that a ranking of
// those same k could reach, so that what is not among them costs nothing. It is
// above ndcg, and 0 when none of them is right.
func ndcgRetrieved(ranking []string, right map[string]bool, k int) float64 {
	n := found(ranking, right, k)
	if n == 0 {
		return 0
	}
	return dcg(ranking, right, k) / ideal(n, k)
}

// ndcgLongMemEval is ndcg with the discount of the evaluation that LongMemEval
// publishes (eval_utils.py): the first and the second count 1, later ones
// 1/log2(rank).
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

// reciprocal is 1 divided by the rank of the first right one, or 0 when there
// is none. Its mean over queries is the MRR.
func reciprocal(ranking []string, right map[string]bool) float64 {
	for i, id := range ranking {
		if right[id] {
			return 1 / float64(i+1)
		}
	}
	return 0
}

// Scores are the means of the measures over N questions. JSON names them as the
// papers do.
type Scores struct {
	N     int     `json:"n"`
	Any1  float64 `json:"recall_any@1"` // questions with a right one among the first
	Any5  float64 `json:"recall_any@5"`
	Any10 float64 `json:"recall_any@10"`
	All5  float64 `json:"recall_all@5"` // questions with all right ones among the first 5
	NDCG  float64 `json:"ndcg@10"`      // by trec_eval's convention
	MRR   float64 `json:"mrr@10"`

	Recall5  float64 `json:"recall@5"` // share of the right ones
	Recall10 float64 `json:"recall@10"`
	Shown5   float64 `json:"shown_any@5"` // questions with a right one among the first 5 and two turns to each side of them

	NDCGRetrieved   float64 `json:"ndcg_retrieved@10"`   // divided by the ideal of what was retrieved
	NDCGLongMemEval float64 `json:"ndcg_longmemeval@10"` // by LongMemEval's own evaluation
}

// measures returns the places of all but N.
func (s *Scores) measures() []*float64 {
	return []*float64{&s.Any1, &s.Any5, &s.Any10, &s.All5, &s.NDCG, &s.MRR, &s.Recall5, &s.Recall10, &s.Shown5, &s.NDCGRetrieved, &s.NDCGLongMemEval}
}

// sums adds the measures of rankings up.
type sums struct {
	Scores
	share100 float64
}

// answer is what one question found.
type answer struct {
	ids   []string // the ranking
	shown []string // the first five and what is shown around them
}

// add counts one answer. All but recall at 100 look at the first ten.
func (s *sums) add(a answer, right map[string]bool) {
	s.N++
	for i, m := range s.measures() {
		*m += [...]float64{
			recallAny(a.ids, right, 1), recallAny(a.ids, right, 5), recallAny(a.ids, right, 10), recallAll(a.ids, right, 5),
			ndcg(a.ids, right, 10), reciprocal(a.ids[:min(10, len(a.ids))], right),
			recallShare(a.ids, right, 5), recallShare(a.ids, right, 10), recallAny(a.shown, right, len(a.shown)),
			ndcgRetrieved(a.ids, right, 10), ndcgLongMemEval(a.ids, right, 10),
		}[i]
	}
	s.share100 += recallShare(a.ids, right, 100)
}

func (s *sums) scores() Scores {
	means := s.Scores
	for _, m := range means.measures() {
		*m /= float64(max(s.N, 1))
	}
	return means
}
