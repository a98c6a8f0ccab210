// This file implements the methods that search for documents.

package index

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// Search returns the documents with the highest scores, at most query.Limit. Among documents with equal scores, the one
// with the larger Updated comes first, then the one with the smaller ID.
func (x *Searcher) Search(query Query) []Hit {
	if query.Limit <= 0 || x.scoredDocumentCount == 0 {
		return nil
	}
	q := newSearchState(x, query.Terms)
	defer q.release()
	q.isBusy = true
	best := bestHits{
		limit:       min(query.Limit, x.scoredDocumentCount),
		heap:        q.hitHeap[:0],
		minHitScore: math.SmallestNonzeroFloat64,
	}
	for i := range x.views {
		q.searchView(&query, i, &best)
	}
	q.hitHeap, q.isBusy = best.heap, false
	return best.takeHits()
}

// maxHitsForMaxScore is the largest number of requested hits for which the MaxScore algorithm is used. With more hits,
// the lowest score among them stays so low that the algorithm can skip only few documents.
const maxHitsForMaxScore = 200

// searchView adds the hits in view i to best. If the limit is small, it tries to find the best documents without
// scoring all documents (see searchBest). Otherwise, or if that fails, it scores each document that contains a query
// term.
func (q *searchState) searchView(query *Query, i int, best *bestHits) {
	v := q.openView(i)
	if len(q.cursors) == 0 {
		return
	}
	q.filter.computeMatchingDocuments(v, query, q.hashTerm, q.countPostings())
	if q.filter.matchingDocumentCount == 0 {
		return
	}
	if query.Limit <= maxHitsForMaxScore && v.searchBest(q, query, best) {
		return
	}
	v.scoreDocuments(q, best.minHitScore, func(number uint32, score float64) float64 {
		c := rankedHit{score: score, view: v, docNumber: number}
		if !best.wouldKeep(c) || v.isDeleted(number) {
			return best.minHitScore
		}
		if !q.filter.accepts(number) {
			return best.minHitScore
		}
		if !q.filter.passesChecks(v, query, number) {
			return best.minHitScore
		}
		// ScoreFactor never increases a score. So a hit that is already too weak for the list of best hits can be
		// dropped before ScoreFactor is called.
		if query.ScoreFactor != nil {
			c.score *= query.ScoreFactor(c.id())
		}
		if best.wouldKeep(c) {
			best.addHit(c)
		}
		return best.minHitScore
	})
}

// searchBest searches v, a part of the index, and adds the documents with the highest scores to the heap best. It
// implements MaxScore (Turtle and Flood, 1995). For each term of the query, there is a maximum that the term can add to
// a document's score. searchBest processes the terms in descending order of this maximum.
//
// For each term and each document that contains the term, the index stores an impact, which is an upper bound of what
// the term adds to the document's score. The threshold is the lowest score among the best documents that were found so
// far. searchBest skips a document if its impact for the current term plus the maximums of all later terms is below the
// threshold. The search ends when the maximums of all remaining terms together are below the threshold.
//
// If this method skips too few documents, searchBest uses another method, which adds up the impacts of all terms in
// each document (see scoreByBounds).
//
// During the search, scores are estimates in single precision, divided by the query's norm. The threshold is lowered a
// little to allow for rounding errors. After the search, searchBest computes the scores of the remaining candidates in
// double precision, over all terms in order. Therefore these scores are identical to the scores that scoreDocuments
// computes.
//
// The result done is false if the caller should compute the scores of all documents instead. In this case, searchBest
// has not changed the heap. There are three reasons for this result:
//   - The part of the index is small and contains the terms only rarely.
//   - The weights of the terms cannot be represented in single precision.
//   - Too many examined documents turned out not to be among the best.
func (v *segmentView) searchBest(q *searchState, query *Query, best *bestHits) (done bool) {
	if !(q.termScoreGainSum > minQueryNorm && q.termScoreGainSum < maxQueryNorm) {
		return false
	}
	for i := range q.cursors {
		if q.cursors[i].termScoreGainShare < minTermShareOfQueryNorm {
			return false
		}
	}
	postings := q.countPostings()
	b := maxScoreSearch{
		searchState:              q,
		view:                     v,
		searchQuery:              query,
		limit:                    best.limit,
		remainingWastedEstimates: postings / postingsPerWastedEstimate,
		remainingLookups:         math.MaxInt,
		nextCandidateBatchSize:   firstCandidateBatchSize,
	}
	// Ignore documents without any term of the query, because they are no hits. AcceptDocument is not called for them.
	b.threshold = math.SmallestNonzeroFloat32
	b.roundingErrorFactor = 1 - float32(len(q.terms)+maxRoundingErrorCount)*(1.0/(1<<22))
	b.adjustedK1Base, b.adjustedK1Slope = max(
		float32(q.scale.adjustedK1Base),
		lengthEpsilon,
	), float32(
		q.scale.adjustedK1Slope,
	)
	b.topScoreEstimates, b.likelyHits = q.topScoreEstimates[:0], q.likelyHits[:0]
	for _, r := range best.heap {
		b.insertTopScoreEstimate(float32(r.score / q.termScoreGainSum))
	}
	b.threshold = max(b.threshold, b.minTenthBestScore()*b.roundingErrorFactor)
	switch {
	case b.hasFewCandidates(postings):
		b.scoreAllMatchingDocuments()
	case postings <= maxPostingsToAdd && len(v.docLengths) <= 2*docsPerScoreWindow:
		return false // The terms occur so rarely that adding up all their postings is faster than a MaxScore search.
	default:
		if b.canUseScoreBounds() {
			b.remainingLookups = minLookupsBeforeBounds + postings/(postingsPerLookup*len(b.cursors))
		}
		b.scoreQueryTerms()
		if b.remainingLookups < 0 {
			b.scoreByBounds()
		}
	}
	q.topScoreEstimates, q.likelyHits = b.topScoreEstimates, b.likelyHits
	if b.remainingWastedEstimates < 0 {
		return false
	}
	b.rescoreLikelyHits(best)
	return true
}

// CountHits returns the number of documents that a search without a limit would find. Their scores are above 0, and
// the query's conditions are met.
func (x *Searcher) CountHits(query Query) int {
	q := newSearchState(x, query.Terms)
	defer q.release()
	n := 0
	q.isBusy = true
	for i := range x.views {
		v := q.openView(i)
		q.filter.computeMatchingDocuments(v, &query, q.hashTerm, q.countPostings())
		if len(q.cursors) == 0 || q.filter.matchingDocumentCount == 0 {
			continue
		}
		v.scoreDocuments(q, math.SmallestNonzeroFloat64, func(number uint32, _ float64) float64 {
			if v.isDeleted(number) || !q.filter.accepts(number) {
				return math.SmallestNonzeroFloat64
			}
			if q.filter.passesChecks(v, &query, number) {
				n++
			}
			return math.SmallestNonzeroFloat64
		})
	}
	q.isBusy = false
	return n
}

// CountDocuments returns the number of documents that the query accepts. It ignores the query's terms and limit, and
// also counts documents without terms. It needs less time and memory than [Searcher.NewestIDs], because it does not
// read the times and IDs of the documents.
func (x *Searcher) CountDocuments(query Query) int {
	n := 0
	var f filterSet
	hasChecks := query.AcceptDocument != nil || len(query.Checks) > 0
	for i := range x.views {
		v := &x.views[i]
		// All matching documents are visited, so the range of times must be applied to all of them at once.
		f.computeMatchingDocuments(v, &query, x.hashTerm, math.MaxInt)
		if f.acceptsAll && !hasChecks {
			n += v.liveDocumentCount()
			continue
		}
		if f.matchingDocumentCount == 0 {
			continue
		}
		for block := range (len(v.docLengths) + 63) / 64 {
			set := f.blockDocumentBits(block)
			if v.deletedBitSet != nil {
				set &^= v.deletedBitSet[block]
			}
			if !hasChecks {
				n += bits.OnesCount64(set)
				continue
			}
			for ; set != 0; set &= set - 1 {
				if f.passesChecks(v, &query, uint32(64*block+bits.TrailingZeros64(set))) {
					n++
				}
			}
		}
	}
	return n
}

// documentUpdateTime is a document with the values by which NewestIDs orders documents.
type documentUpdateTime struct {
	updateTime int64
	id         uint64
}

// compare orders the newest document first.
func (d documentUpdateTime) compare(other documentUpdateTime) int {
	return cmp.Or(cmp.Compare(other.updateTime, d.updateTime), cmp.Compare(other.id, d.id))
}

// insertNewest inserts the document d into best, a list of documents with the newest document first, and returns the
// list. The list has at most limit documents. insertNewest does not insert d if the list is full and all its documents
// are newer. It also does not insert d if the function accept returns false. The function accept is called at most
// once.
func insertNewest(
	best []documentUpdateTime,
	d documentUpdateTime,
	limit int,
	accept func() bool,
) []documentUpdateTime {
	at, _ := slices.BinarySearchFunc(best, d, documentUpdateTime.compare)
	if at == limit || !accept() {
		return best
	}
	best = slices.Insert(best, at, d)
	return best[:min(len(best), limit)]
}

// If at most this number of documents match, the search reads the time of each document. If more documents match, it is
// faster to compare the latest time of every block with 64 documents first.
const maxSingleTimeComparisons = 512

// NewestIDs returns the IDs of at most query.Limit documents that the query accepts, with the largest Updated first,
// then with the largest ID. It ignores the terms of the query and includes documents without terms.
func (x *Searcher) NewestIDs(query Query) []uint64 {
	limit := query.Limit
	if limit <= 0 {
		return nil
	}
	var best []documentUpdateTime
	var f filterSet
	for i := len(x.views) - 1; i >= 0; i-- {
		v := &x.views[i]
		f.computeMatchingDocuments(v, &query, x.hashTerm, 0)
		// latest time in each block of 64 documents. It is nil if so few documents meet the conditions that their
		// times are read one by one.
		var latest []int64
		if f.matchingDocumentCount > maxSingleTimeComparisons {
			latest = v.latestUpdateBlocks()
		}
		// start with the documents added last, because they are probably the newest
		for block := (len(v.docLengths)+63)/64 - 1; block >= 0; block-- {
			if len(best) == limit && latest != nil && latest[block] < best[limit-1].updateTime {
				continue
			}
			for set := f.blockDocumentBits(block); set != 0; {
				last := bits.Len64(set) - 1
				set &^= 1 << last
				number := uint32(64*block + last)
				if !v.isDeleted(number) && f.isCreatedInRange(number) {
					best = insertNewest(
						best,
						documentUpdateTime{v.updated.valueAt(number), v.ids.valueAt(number)},
						limit,
						func() bool { return f.passesChecks(v, &query, number) },
					)
				}
			}
		}
	}
	ids := make([]uint64, len(best))
	for i, d := range best {
		ids[i] = d.id
	}
	return ids
}
