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

// ndcg is the normalised discounted cumulative gain of the first k, gains being
// 1 and 0: the sum of 1/log2(rank+1) over the right ones, divided by the most
// that any ranking could reach (Järvelin and Kekäläinen, "Cumulated gain-based
// evaluation of IR techniques", 2002, in the form of trec_eval's ndcg_cut). It
// is 0 when none is right.
func ndcg(ranking []string, right map[string]bool, k int) float64 {
	var sum, most float64
	for i := range k {
		gain := 1 / math.Log2(float64(i+2))
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

// sums adds the measures of rankings up.
type sums struct {
	n int

	any1, any5, any10, all5, ndcg10, mrr, share100 float64
}

// add counts one ranking. All but recall at 100 look at the first ten.
func (s *sums) add(ranking []string, right map[string]bool) {
	s.n++
	s.any1 += recallAny(ranking, right, 1)
	s.any5 += recallAny(ranking, right, 5)
	s.any10 += recallAny(ranking, right, 10)
	s.all5 += recallAll(ranking, right, 5)
	s.ndcg10 += ndcg(ranking, right, 10)
	s.mrr += reciprocal(ranking[:min(10, len(ranking))], right)
	s.share100 += recallShare(ranking, right, 100)
}

// Scores are the means of the measures over N questions. JSON names them as the
// papers do.
type Scores struct {
	N     int     `json:"n"`
	Any1  float64 `json:"recall_any@1"` // questions with a right one among the first
	Any5  float64 `json:"recall_any@5"`
	Any10 float64 `json:"recall_any@10"`
	All5  float64 `json:"recall_all@5"` // questions with all right ones among the first 5
	NDCG  float64 `json:"ndcg@10"`
	MRR   float64 `json:"mrr@10"`
}

func (s *sums) scores() Scores {
	n := float64(max(s.n, 1))
	return Scores{s.n, s.any1 / n, s.any5 / n, s.any10 / n, s.all5 / n, s.ndcg10 / n, s.mrr / n}
}
