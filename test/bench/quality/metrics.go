// This file computes the measures of a ranking. Each function takes the ranking, best first
// and without repetitions, and the IDs of the right entries.

package quality

import "math"

// recallAny returns 1 if one of the first k entries in ranking is relevant, and otherwise 0. This measure is called hit
// rate or success at k.
func recallAny(ranking []string, relevantIDs map[string]bool, k int) float64 {
	if countFound(ranking, relevantIDs, k) > 0 {
		return 1
	}
	return 0
}

// recallAll returns 1 if the first k entries in ranking include all relevant entries, and otherwise 0. It also returns
// 0 if there are no relevant entries.
func recallAll(ranking []string, relevantIDs map[string]bool, k int) float64 {
	if len(relevantIDs) > 0 && countFound(ranking, relevantIDs, k) == len(relevantIDs) {
		return 1
	}
	return 0
}

// recallShare returns the share of the relevant entries that are among the first k entries in ranking. This measure is
// called recall at k. It returns 0 if there are no relevant entries.
func recallShare(ranking []string, relevantIDs map[string]bool, k int) float64 {
	if len(relevantIDs) == 0 {
		return 0
	}
	return float64(countFound(ranking, relevantIDs, k)) / float64(len(relevantIDs))
}

func countFound(ranking []string, relevantIDs map[string]bool, k int) int {
	n := 0
	for _, id := range ranking[:min(k, len(ranking))] {
		if relevantIDs[id] {
			n++
		}
	}
	return n
}

// dcg returns the discounted cumulative gain of the first k entries in ranking. This is the sum of 1/log2(rank+1) over
// the relevant entries, where the first rank is 1 (Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR
// techniques", 2002, in the form of trec_eval's ndcg_cut).
func dcg(ranking []string, relevantIDs map[string]bool, k int) float64 {
	sum := 0.0
	for i, id := range ranking[:min(k, len(ranking))] {
		if relevantIDs[id] {
			sum += 1 / math.Log2(float64(i+2))
		}
	}
	return sum
}

// idealDCG returns the highest possible dcg of the first k entries if there are relevantCount relevant entries. It is
// reached if all relevant entries come first.
func idealDCG(relevantCount, k int) float64 {
	sum := 0.0
	for i := range min(relevantCount, k) {
		sum += 1 / math.Log2(float64(i+2))
	}
	return sum
}

// ndcg returns the dcg of the first k entries, divided by the highest dcg that any ranking can have. trec_eval computes
// the same measure. It returns 0 if there are no relevant entries.
func ndcg(ranking []string, relevantIDs map[string]bool, k int) float64 {
	if len(relevantIDs) == 0 {
		return 0
	}
	return dcg(ranking, relevantIDs, k) / idealDCG(len(relevantIDs), k)
}

// ndcgRetrieved returns the dcg of the first k entries, divided by the highest dcg that these entries can have in any
// order. Relevant entries that are missing in ranking therefore do not matter, so the result is at least as high as
// ndcg. It is 0 if none of the first k entries is relevant.
func ndcgRetrieved(ranking []string, relevantIDs map[string]bool, k int) float64 {
	n := countFound(ranking, relevantIDs, k)
	if n == 0 {
		return 0
	}
	return dcg(ranking, relevantIDs, k) / idealDCG(n, k)
}

// ndcgLongMemEval is like ndcg, but with the discount of LongMemEval's published evaluation
// (eval_utils.py): the first two ranks count 1, and later ranks 1/log2(rank).
func ndcgLongMemEval(ranking []string, relevantIDs map[string]bool, k int) float64 {
	sum, most := 0.0, 0.0
	for i := range k {
		gain := 1 / math.Log2(float64(max(i+1, 2)))
		if i < len(relevantIDs) {
			most += gain
		}
		if i < len(ranking) && relevantIDs[ranking[i]] {
			sum += gain
		}
	}
	if most == 0 {
		return 0
	}
	return sum / most
}

// reciprocalRank returns 1 divided by the rank of the first relevant entry, or 0 without a relevant entry. The first
// rank is 1. The mean over all queries is the measure MRR.
func reciprocalRank(ranking []string, relevantIDs map[string]bool) float64 {
	for i, id := range ranking {
		if relevantIDs[id] {
			return 1 / float64(i+1)
		}
	}
	return 0
}

// Scores are the means of the measures over all questions. The JSON keys are the names that papers use.
type Scores struct {
	QuestionCount int     `json:"n"`
	RecallAnyAt1  float64 `json:"recall_any@1"` // share of the questions with a right entry in the first place
	RecallAnyAt5  float64 `json:"recall_any@5"`
	RecallAnyAt10 float64 `json:"recall_any@10"`
	RecallAllAt5  float64 `json:"recall_all@5"` // share of the questions whose right entries are all among the first 5
	NDCG          float64 `json:"ndcg@10"`      // nDCG as trec_eval computes it
	MRR           float64 `json:"mrr@10"`

	RecallAt5  float64 `json:"recall@5"` // mean share of the entries that answer the question and are among the first 5
	RecallAt10 float64 `json:"recall@10"`
	// share of the questions for which one of the first 5 entries, or a turn up to two turns before or after such an
	// entry, is an answer
	ShownAnyAt5 float64 `json:"shown_any@5"`

	// DCG divided by the DCG of the same 10 entries in the best order, so that missing entries do not matter
	NDCGRetrieved   float64 `json:"ndcg_retrieved@10"`
	NDCGLongMemEval float64 `json:"ndcg_longmemeval@10"` // nDCG as LongMemEval's own evaluation computes it
}

// fieldPointers returns pointers to all measures, which are all fields except QuestionCount.
func (s *Scores) fieldPointers() []*float64 {
	return []*float64{
		&s.RecallAnyAt1,
		&s.RecallAnyAt5,
		&s.RecallAnyAt10,
		&s.RecallAllAt5,
		&s.NDCG,
		&s.MRR,
		&s.RecallAt5,
		&s.RecallAt10,
		&s.ShownAnyAt5,
		&s.NDCGRetrieved,
		&s.NDCGLongMemEval,
	}
}

// questionScoreSums adds up the measures of all questions, such as nDCG, so that the means can be computed.
type questionScoreSums struct {
	Scores
	recallAt100 float64
}

// questionQueryResult is the result of a query for one question.
type questionQueryResult struct {
	ranking  []string // IDs of the found entries, best first
	shownIDs []string // IDs of the first five hits and the turns that are shown around them
}

// addResult adds the measures for one question. Recall at 100 uses the first 100 hits, and one measure uses all entries
// in a.shownIDs. All other measures use the first ten hits at most.
func (s *questionScoreSums) addResult(a questionQueryResult, relevantIDs map[string]bool) {
	s.QuestionCount++
	for i, m := range s.fieldPointers() {
		*m += [...]float64{
			recallAny(a.ranking, relevantIDs, 1), recallAny(a.ranking, relevantIDs, 5), recallAny(a.ranking, relevantIDs, 10),
			recallAll(a.ranking, relevantIDs, 5),
			ndcg(a.ranking, relevantIDs, 10), reciprocalRank(a.ranking[:min(10, len(a.ranking))], relevantIDs),
			recallShare(a.ranking, relevantIDs, 5), recallShare(a.ranking, relevantIDs, 10), recallAny(a.shownIDs, relevantIDs, len(a.shownIDs)),
			ndcgRetrieved(a.ranking, relevantIDs, 10), ndcgLongMemEval(a.ranking, relevantIDs, 10),
		}[i]
	}
	s.recallAt100 += recallShare(a.ranking, relevantIDs, 100)
}

func (s *questionScoreSums) meanScores() Scores {
	means := s.Scores
	for _, m := range means.fieldPointers() {
		*m /= float64(max(s.QuestionCount, 1))
	}
	return means
}
