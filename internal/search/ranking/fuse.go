// This file fuses rankings.

package ranking

import (
	"cmp"
	"slices"
)

// fuseK is the parameter k of reciprocal rank fusion: rank r, counting from 1, scores
// 1/(k+r). See Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet
// and individual Rank Learning Methods", 2009.
const fuseK = 60

// FuseRankings sums 1/(60+rank) for each element over the rankings, and returns the elements
// ordered by their sums, and the sums. Elements with equal sums keep the order of the first
// ranking that has them.
func FuseRankings[T comparable](rankings ...[]T) (all []T, scores map[T]float64) {
	scores = map[T]float64{}
	for _, r := range rankings {
		for i, id := range r {
			if _, ok := scores[id]; !ok {
				all = append(all, id)
			}
			scores[id] += 1 / float64(fuseK+i+1)
		}
	}
	slices.SortStableFunc(all, func(a, b T) int { return cmp.Compare(scores[b], scores[a]) })
	return all, scores
}
