// This file compares the results of two rankings for the same questions.

package quality

import (
	"math"
	"slices"
)

// QuestionScore is the result of one ranking for one question.
type QuestionScore struct {
	DataSetName  string  `json:"set"`
	EntryKind    string  `json:"entries_are"`
	Ranking      string  `json:"ranking"`
	Number       int     `json:"number"` // number of the question in the set
	Question     string  `json:"question"`
	NDCG         float64 `json:"ndcg@10"`
	RecallAnyAt5 float64 `json:"recall_any@5"`
}

// Difference is the mean of the differences between two rankings. Each difference compares the scores that both
// rankings reached for one question. LowerBound and UpperBound are the bounds of the mean's 95 % interval.
type Difference struct{ Mean, LowerBound, UpperBound float64 }

// PairedDifference returns the mean of the differences, and its 95 % interval. Each difference is between two
// measurements of one question. The interval is a normal approximation: it extends 1.96 standard errors in both
// directions. With fewer than two differences, both ends of the interval are the mean.
func PairedDifference(differences []float64) Difference {
	n := float64(len(differences))
	if n == 0 {
		return Difference{}
	}
	mean, squares := 0.0, 0.0
	for _, d := range differences {
		mean += d / n
	}
	for _, d := range differences {
		squares += (d - mean) * (d - mean)
	}
	reach := 0.0
	if n > 1 {
		reach = 1.96 * math.Sqrt(squares/(n-1)/n)
	}
	return Difference{mean, mean - reach, mean + reach}
}

// RankingComparison compares the results of two measurements, now and before, that were made with the same ranking,
// data set and entry kind.
type RankingComparison struct {
	DataSetName, EntryKind, Ranking string
	N                               int
	NDCG, RecallAnyAt5              Difference
}

// Compare compares two lists of scores. The first list contains the new scores, and the second list contains the
// earlier scores. For each question that is in both lists, Compare computes the difference of the scores. It returns
// the differences for each set, kind of entry and ranking, in the order in which these first occur in the first list.
func Compare(newScores, earlierScores []QuestionScore) []RankingComparison {
	was := map[QuestionScore]QuestionScore{}
	id := func(q QuestionScore) QuestionScore { q.NDCG, q.RecallAnyAt5 = 0, 0; return q }
	for _, q := range earlierScores {
		was[id(q)] = q
	}
	var all []RankingComparison
	differences := map[int]*[2][]float64{}
	for _, q := range newScores {
		old, ok := was[id(q)]
		if !ok {
			continue
		}
		i := slices.IndexFunc(all, func(c RankingComparison) bool {
			return c.DataSetName == q.DataSetName && c.EntryKind == q.EntryKind && c.Ranking == q.Ranking
		})
		if i < 0 {
			i = len(all)
			all = append(all, RankingComparison{DataSetName: q.DataSetName, EntryKind: q.EntryKind, Ranking: q.Ranking})
			differences[i] = new([2][]float64)
		}
		d := differences[i]
		d[0], d[1] = append(d[0], q.NDCG-old.NDCG), append(d[1], q.RecallAnyAt5-old.RecallAnyAt5)
	}
	for i := range all {
		all[i].N = len(differences[i][0])
		all[i].NDCG, all[i].RecallAnyAt5 = PairedDifference(differences[i][0]), PairedDifference(differences[i][1])
	}
	return all
}
