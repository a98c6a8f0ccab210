// This file searches for the best documents by adding up the impacts of all terms in each document. An impact is an
// upper bound for what a term adds to a document's score.

package index

import (
	"math"
	"slices"
)

const (
	// scoreBoundUnits is the number of units of a score bound that are equal to the query's norm, which is the sum of
	// the terms' maximum contributions. Score bounds are whole numbers, because their sums are then exact.
	scoreBoundUnits = 1 << 24

	// maxScoreBoundSum limits the sum of the terms' maximum contributions, divided by the query's norm. Below this
	// limit, sums of score bounds fit in 32 bits.
	maxScoreBoundSum = 64

	// maxTermsForScoreBounds limits the number of terms for which score bounds are added up. For each term, the
	// rounding of scorePerImpact adds up to maxScoreImpact units to a score bound.
	maxTermsForScoreBounds = 1 << 12

	// postingsPerLookup determines when scoreQueryTerms gives up, so that scoreByBounds is used instead. The more terms
	// the query has, the more often scoreQueryTerms is the slower method, and the sooner it gives up: after a number of
	// lookups of terms in documents that is the number of postings divided by the number of terms and by
	// postingsPerLookup. minLookupsBeforeBounds lookups are allowed in any case, because they take little time.
	postingsPerLookup      = 2
	minLookupsBeforeBounds = 1024

	// scoreByBounds does not add up the bounds of the weakest terms if all these terms together contribute less than
	// this share of the threshold. With a larger share, it must estimate the scores of too many documents.
	maxSkippedShareOfThreshold = 0.2
)

// canUseScoreBounds reports whether scoreByBounds can search for the query's terms.
func (b *maxScoreSearch) canUseScoreBounds() bool {
	return len(b.cursors) <= maxTermsForScoreBounds && b.maxRemainingTermScores[0] < maxScoreBoundSum
}

// scoreByBounds finds the likely hits of the search, instead of scoreQueryTerms. It is faster if the sum of the terms'
// maximum contributions is much higher than what the terms contribute to a single document. This is so for most queries
// with many terms, for example if a prefix stands for many words. scoreQueryTerms would then look up all terms in most
// documents with one of the terms.
//
// For each document, scoreByBounds adds up the impacts of the document's terms. The sum is an upper bound for the
// document's score. If it reaches the threshold, scoreByBounds estimates the score and calls keepCandidateIfLikelyHit.
// The documents are processed in windows of docsPerScoreWindow documents.
func (b *maxScoreSearch) scoreByBounds() {
	// Discard the hits of an earlier attempt with scoreQueryTerms, because this search finds them again. The threshold
	// remains valid.
	b.topScoreEstimates, b.likelyHits = b.topScoreEstimates[:0], b.likelyHits[:0]
	b.remainingLookups = math.MaxInt
	for i := range b.cursors {
		// round up, so that the bound is never too low
		b.cursors[i].scoreBoundPerImpact = uint32(b.cursors[i].scorePerImpact*scoreBoundUnits) + 1
	}
	added := b.cursorIndexesByGain // the terms whose impacts are added, strongest first
	for first := 0; first < len(b.view.docLengths) && !b.isOverBudget(); first += docsPerScoreWindow {
		maxSkipped := maxSkippedShareOfThreshold * float64(b.threshold)
		for len(added) > 1 && b.maxRemainingTermScores[len(added)-1] < maxSkipped {
			added = added[:len(added)-1]
		}
		skippedBound := uint32(b.maxRemainingTermScores[len(added)]*scoreBoundUnits) + 1
		reached, minBound := b.windowDocsAboveBound[:0], b.minUsefulScoreBound(skippedBound)
		for _, i := range added {
			reached = b.cursors[i].addScoreBounds(uint32(first), &b.windowScoreBounds, minBound, reached)
		}
		b.scoreReachedDocuments(uint32(first), reached, skippedBound)
		clear(b.windowScoreBounds[:])
	}
	for i := range b.cursors {
		b.cursors[i].windowEnd = 0 // for scoreDocuments, which is used if this search gives up
	}
}

// minUsefulScoreBound returns the lowest score bound with which a document can still be among the best, if the bound
// does not include some terms, which add at most skippedBound. The result is at least 1, so that a document without any
// of the other terms does not reach it.
func (b *maxScoreSearch) minUsefulScoreBound(skippedBound uint32) uint32 {
	return uint32(min(max(float64(b.threshold)*scoreBoundUnits-float64(skippedBound), 1), math.MaxInt32))
}

// addScoreBounds adds the impacts of the cursor's term to the bounds of the documents in a window. The first document
// of the window has the number first. If a document's bound reaches minBound, addScoreBounds appends the document's
// index in the window to the slice reached. It returns the extended slice.
func (c *queryCursor) addScoreBounds(
	first uint32,
	bounds *[docsPerScoreWindow]uint32,
	minBound uint32,
	reached []uint16,
) []uint16 {
	perImpact := c.scoreBoundPerImpact
	if w := c.columns; w != nil {
		window := uint16(first) / docsPerScoreWindow
		docs := w.docNumberLowBits[c.windowEnd:w.findUpperBitsRangeEnd(first)]
		impacts := w.scoreImpacts[c.windowEnd:][:len(docs)]
		for i, doc := range docs {
			if doc/docsPerScoreWindow != window {
				docs = docs[:i]
				break
			}
			before := bounds[doc%docsPerScoreWindow]
			bound := before + perImpact*uint32(impacts[i])
			bounds[doc%docsPerScoreWindow] = bound
			if bound >= minBound && before < minBound {
				reached = append(reached, doc%docsPerScoreWindow)
			}
		}
		c.windowEnd += len(docs)
		return reached
	}
	for _, p := range c.list[c.windowEnd:] {
		at := p.docNumber - first
		if at >= docsPerScoreWindow {
			break
		}
		before := bounds[at]
		bounds[at] += perImpact * uint32(p.scoreImpact)
		if bounds[at] >= minBound && before < minBound {
			reached = append(reached, uint16(at))
		}
		c.windowEnd++
	}
	return reached
}

// scoreReachedDocuments estimates the scores of documents in a window, and passes the likely hits to
// keepCandidateIfLikelyHit. The first document of the window has the number first, and the slice reached contains the
// documents' indexes in the window. scoreReachedDocuments processes the documents in descending order of their bounds,
// so that the threshold soon reaches the scores of the best documents. It skips documents whose bound is then too low
// (see minUsefulScoreBound), and documents that do not meet the query's conditions.
func (b *maxScoreSearch) scoreReachedDocuments(first uint32, reached []uint16, skippedBound uint32) {
	bounds := &b.windowScoreBounds
	slices.SortFunc(reached, func(a, b uint16) int { return int(bounds[b]) - int(bounds[a]) })
	for len(reached) > 0 && !b.isOverBudget() {
		n, minBound := 0, b.minUsefulScoreBound(skippedBound)
		batch := reached[:min(len(reached), firstCandidateBatchSize)]
		reached = reached[len(batch):]
		for _, at := range batch {
			if bounds[at] < minBound {
				reached = nil // all further bounds are lower
				break
			}
			doc := first + uint32(at)
			if b.filter.accepts(doc) {
				k := b.adjustedK1Base + b.adjustedK1Slope*float32(b.view.docLengths[doc])
				b.hitCandidateBatch[n] = hitCandidate{docNumberOrPostingIndex: doc, lengthAdjustedK1: k}
				n++
			}
		}
		b.completeCandidateScores(-1, b.hitCandidateBatch[:n])
	}
}
