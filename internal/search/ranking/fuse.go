// This file combines several rankings into one (reciprocal rank fusion).

package ranking

import (
	"cmp"
	"slices"
)

// reciprocalRankConstant is the parameter k of reciprocal rank fusion: rank r, counting from 1, scores
// 1/(k+r). See Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet
// and individual Rank Learning Methods", 2009.
const reciprocalRankConstant = 60

// FuseRankings combines several rankings. For each element, it adds 1/(60+rank) for each ranking that contains the
// element. It returns the elements, ordered by this sum from the highest to the lowest, and the sums. Elements with
// equal sums are ordered by the first ranking in which they occur.
func FuseRankings[T comparable](rankings ...[]T) (all []T, scores map[T]float64) {
	scores = map[T]float64{}
	for _, r := range rankings {
		for i, id := range r {
			if _, ok := scores[id]; !ok {
				all = append(all, id)
			}
			scores[id] += 1 / float64(reciprocalRankConstant+i+1)
		}
	}
	slices.SortStableFunc(all, func(a, b T) int { return cmp.Compare(scores[b], scores[a]) })
	return all, scores
}
