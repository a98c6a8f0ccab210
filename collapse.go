// This file removes hits that repeat a better hit.

package oxbow

import (
	"context"

	"github.com/oxbow-memory/oxbow/internal/search/sametext"
)

// maxHitsExaminedPerResult limits the work of a search that collapses similar hits into one hit. Such a search
// examines at most this many hits for each hit that the caller requested.
const maxHitsExaminedPerResult = 4

// collapseSimilarHits returns at most limit hits of the slice hits, in the same order, and leaves out near-duplicates.
// [sametext.FindNearDuplicates] defines which hits are near-duplicates. A hit that may be shown unasked and a hit that
// must not be shown unasked are never treated as duplicates. The best hit of each group of near-duplicates, which is
// the first hit of the group, is kept. Its field Alike lists the names of the removed hits of the group, best first. If
// ctx is done, the result is incomplete, and the caller must discard the result.
func collapseSimilarHits(ctx context.Context, hits []Hit, limit int) []Hit {
	texts := make([]sametext.Passage, len(hits))
	for i := range hits {
		// Compare the entry's name as well, because short texts can be equal and mean different things under different
		// names.
		texts[i] = sametext.Passage{
			Text:         hits[i].Entry.Content,
			Heading:      hits[i].Entry.Name,
			KeepPriority: len(hits) - i,
		}
	}
	// best is a forest of duplicate groups (union-find). best[i] is the index of a better duplicate of hit i. It is i
	// if hit i is the best hit of its group.
	best := make([]int, len(hits))
	for i := range best {
		best[i] = i
	}
	find := func(i int) int {
		for best[i] != i {
			i = best[i]
		}
		return i
	}
	near, _ := sametext.FindNearDuplicates(ctx, texts, nil)
	for _, t := range near {
		a, b := find(t.DroppedIndex), find(t.KeptIndex)
		// merge two hits only if both, or neither, may be shown unasked
		if hits[a].Entry.MayShow(Unasked) == hits[b].Entry.MayShow(Unasked) {
			best[max(a, b)] = min(a, b)
		}
	}
	at := map[int]int{} // for the best hit of each group of near-duplicates: the hit's index in kept
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
