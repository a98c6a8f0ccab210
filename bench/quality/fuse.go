// Rankings by vectors, and the fusion of two rankings.

package quality

import (
	"cmp"
	"math"
	"slices"
)

// fuseDepth is how many of each ranking are fused.
const fuseDepth = 100

// fuseK is the k of reciprocal rank fusion (Cormack, Clarke and Büttcher,
// "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning
// Methods", 2009): the place r of a ranking, from 1, is worth 1/(k+r).
const fuseK = 60

// Fuse ranks by the sum, over the rankings, of 1/(60+rank). What is worth the
// same stands as it was first met: along the first ranking, then the second.
func Fuse(rankings ...[]string) []string {
	worth := map[string]float64{}
	var all []string
	for _, r := range rankings {
		for i, id := range r {
			if _, ok := worth[id]; !ok {
				all = append(all, id)
			}
			worth[id] += 1 / float64(fuseK+i+1)
		}
	}
	slices.SortStableFunc(all, func(a, b string) int { return cmp.Compare(worth[b], worth[a]) })
	return all
}

// nearest returns the ids of the entries whose vectors have the greatest cosine
// with v, at most limit, the nearest first; of equal ones the newer, which is
// the later. All vectors have length 1, or 0.
func nearest(es []Entry, vectors [][]float32, v []float32, limit int) []string {
	type near struct {
		i      int
		cosine float64
	}
	ns := make([]near, len(es))
	for i, e := range vectors {
		sum := 0.0
		for j, x := range e {
			sum += float64(x) * float64(v[j])
		}
		ns[i] = near{i, sum}
	}
	slices.SortFunc(ns, func(a, b near) int {
		return cmp.Or(cmp.Compare(b.cosine, a.cosine), es[b.i].Date.Compare(es[a.i].Date), b.i-a.i)
	})
	ids := make([]string, min(limit, len(ns)))
	for i := range ids {
		ids[i] = es[ns[i].i].ID
	}
	return ids
}

// normalise gives v length 1, unless it has none.
func normalise(v []float32) {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return
	}
	by := 1 / math.Sqrt(sum)
	for i, x := range v {
		v[i] = float32(float64(x) * by)
	}
}
