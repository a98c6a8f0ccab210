// Fusion of rankings by reciprocal rank.

package ranking

import (
	"cmp"
	"slices"
)

// fuseK is the k of reciprocal rank fusion (Cormack, Clarke and Büttcher,
// "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning
// Methods", 2009): rank r, from 1, scores 1/(k+r).
const fuseK = 60

// Fuse ranks by the sum, over the rankings, of 1/(60+rank), and returns the sums,
// too. Of equal sums, what an earlier ranking has first comes first.
func Fuse[T comparable](rankings ...[]T) (all []T, scores map[T]float64) {
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
