// This file implements the searches that rank documents.

package index

import (
	"cmp"
	"math"
	"slices"
)

// Search returns at most ask.Limit documents with the highest scores. Equal scores are
// ordered by larger Updated, then by smaller ID.
func (x *Searcher) Search(ask Query) []Hit {
	if ask.Limit <= 0 || x.scoredCount == 0 {
		return nil
	}
	q := newSearchState(x, ask.Terms)
	defer q.release()
	q.isBusy = true
	best := topK{limit: min(ask.Limit, x.scoredCount), heap: q.hitHeap[:0], minScore: math.SmallestNonzeroFloat64}
	for i := range x.views {
		q.searchView(&ask, i, &best)
	}
	q.hitHeap, q.isBusy = best.heap, false
	return best.takeHits()
}

// maxScoreLimit is the maximum limit for MaxScore. With more hits, its threshold rises too late.
const maxScoreLimit = 200

// searchView adds the hits in view i to best. If the limit is small, it tries to find the best documents without
// scoring all documents (see searchBest). Otherwise, or if this fails, it scores all documents with a query term.
func (q *searchState) searchView(ask *Query, i int, best *topK) {
	v := q.openView(i)
	if len(q.cursors) == 0 {
		return
	}
	q.filter.computeSet(v, ask, q.hashTerm, q.countPostings())
	if q.filter.documentCount == 0 {
		return
	}
	if ask.Limit <= maxScoreLimit && v.searchBest(q, ask, best) {
		return
	}
	v.scoreDocuments(q, best.minScore, func(number uint32, score float64) float64 {
		c := rankedHit{score, v, number}
		if !best.wouldKeep(c) || v.isDeleted(number) {
			return best.minScore
		}
		if !q.filter.accepts(number) {
			return best.minScore
		}
		if ask.AcceptDocument != nil && !ask.AcceptDocument(c.id()) {
			return best.minScore
		}
		if ask.ScoreFactor != nil { // an unwanted hit stays unwanted, because a factor never increases a score
			c.score *= ask.ScoreFactor(c.id())
		}
		if best.wouldKeep(c) {
			best.addHit(c)
		}
		return best.minScore
	})
}

// CountHits returns the number of documents with a score above 0 that the query accepts. It
// ignores the limit.
func (x *Searcher) CountHits(ask Query) int {
	q := newSearchState(x, ask.Terms)
	defer q.release()
	n := 0
	q.isBusy = true
	for i := range x.views {
		v := q.openView(i)
		q.filter.computeSet(v, &ask, q.hashTerm, q.countPostings())
		if len(q.cursors) == 0 || q.filter.documentCount == 0 {
			continue
		}
		v.scoreDocuments(q, math.SmallestNonzeroFloat64, func(number uint32, _ float64) float64 {
			if v.isDeleted(number) || !q.filter.accepts(number) {
				return math.SmallestNonzeroFloat64
			}
			if ask.AcceptDocument == nil || ask.AcceptDocument(v.ids.valueAt(number)) {
				n++
			}
			return math.SmallestNonzeroFloat64
		})
	}
	q.isBusy = false
	return n
}

// newestDocument is a document and the values by which Newest orders it.
type newestDocument struct {
	updated int64
	id      uint64
}

// NewestIDs returns the IDs of at most ask.Limit documents that the query accepts, with the
// largest Updated first, then with the largest ID. It ignores the terms of the query and
// includes documents without terms.
func (x *Searcher) NewestIDs(ask Query) []uint64 {
	limit := ask.Limit
	if limit <= 0 {
		return nil
	}
	order := func(a, b newestDocument) int {
		return cmp.Or(cmp.Compare(b.updated, a.updated), cmp.Compare(b.id, a.id))
	}
	var best []newestDocument
	var f filterSet
	for i := len(x.views) - 1; i >= 0; i-- {
		v := &x.views[i]
		f.computeSet(v, &ask, x.hashTerm, 0)
		latest := v.latestUpdateBlocks()
		// start with the documents added last, because they are probably the newest
		for block := len(latest) - 1; block >= 0; block-- {
			if len(best) == limit && latest[block] < best[limit-1].updated {
				continue
			}
			for n := min(64*block+64, len(v.docLengths)) - 1; n >= 64*block; n-- {
				number := uint32(n)
				if v.isDeleted(number) || !f.accepts(number) {
					continue
				}
				d := newestDocument{v.updated.valueAt(number), v.ids.valueAt(number)}
				if len(best) == limit && order(best[limit-1], d) < 0 {
					continue
				}
				if ask.AcceptDocument != nil && !ask.AcceptDocument(d.id) {
					continue
				}
				at, _ := slices.BinarySearchFunc(best, d, order)
				best = slices.Insert(best, at, d)
				best = best[:min(len(best), limit)]
			}
		}
	}
	ids := make([]uint64, len(best))
	for i, d := range best {
		ids[i] = d.id
	}
	return ids
}
