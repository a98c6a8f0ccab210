// Collapsing of hits that say what a better one says.

package oxbow

import (
	"context"

	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

// collapsePool is how many hits are looked at for each that is wanted, when
// those that are alike count once.
const collapsePool = 4

// collapse returns the first limit hits, without those that say the same as a
// better one: their names are in its Alike, the best first. The rule is
// [analysis.NearDuplicates]. When ctx is done the hits are of no use.
func collapse(ctx context.Context, hits []Hit, limit int) []Hit {
	texts := make([]analysis.Passage, len(hits))
	for i := range hits {
		// What a short text says depends on what it is called.
		texts[i] = analysis.Passage{Text: hits[i].Entry.Content, Heading: hits[i].Entry.Name, Weight: len(hits) - i}
	}
	best := make([]int, len(hits)) // of those that are alike
	for i := range best {
		best[i] = i
	}
	find := func(i int) int {
		for best[i] != i {
			i = best[i]
		}
		return i
	}
	near, _ := analysis.NearDuplicates(ctx, texts, nil)
	for _, t := range near {
		a, b := find(t.Drop), find(t.Keep)
		if hits[a].Entry.Volunteered() == hits[b].Entry.Volunteered() { // else each counts for itself
			best[max(a, b)] = min(a, b)
		}
	}
	at := map[int]int{} // of the best, where it is in kept
	var kept []Hit
	for i, h := range hits {
		if b := find(i); b != i {
			if k, ok := at[b]; ok {
				kept[k].Alike = append(kept[k].Alike, h.Entry.Name)
			}
		} else if len(kept) < limit {
			at[i] = len(kept)
			kept = append(kept, h)
		}
	}
	return kept
}
