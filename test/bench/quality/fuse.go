// This file ranks by vectors, and fuses two rankings.

package quality

import (
	"cmp"
	"slices"
)

// fusedEntriesPerRanking is how many entries of each ranking are fused.
const fusedEntriesPerRanking = 100

// nearestEntries returns the IDs of at most limit entries whose vectors are most similar to v, the most similar first.
// The similarity is the cosine. Among equally similar entries, the entry with the later date comes first. vectors[i] is
// the vector of es[i]. Each vector must have the Euclidean length 1 or 0.
func nearestEntries(es []MemoryEntry, vectors [][]float32, v []float32, limit int) []string {
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
