// This file implements MaxScore, a search that finds only the best documents. It skips documents that cannot reach the
// scores of the best documents found so far.

package index

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// A MaxScore search estimates scores in single precision, divided by the query's norm, which is the sum of the terms'
// maximum contributions. The search is used only if the norm is between minQueryNorm and maxQueryNorm, and if each
// term's share in the norm is at least minTermShareOfQueryNorm. Otherwise numbers would be too small or too large for
// single precision.
const (
	minTermShareOfQueryNorm = 1e-20
	minQueryNorm            = 1e-280
	maxQueryNorm            = 1e280
	lengthEpsilon           = 1e-30 // added to document lengths, so that 0 is never divided by 0
	// maximum number of rounding errors while a term's contribution to an estimated score is computed
	maxRoundingErrorCount = 16
)

// isUnfilteredQuery reports whether each document with a query term is a hit with its full score. This is not so if the
// query has a condition, or a function that excludes documents or reduces their scores.
func (b *maxScoreSearch) isUnfilteredQuery() bool {
	hasChecks := b.searchQuery.AcceptDocument != nil || len(b.searchQuery.Checks) > 0
	return b.filter.acceptsAll && !hasChecks && b.searchQuery.ScoreFactor == nil
}

// minTenthBestScore returns a score that at least ten documents of the segment reach. An impact is a rounded part of a
// document's score that one term contributes. For each term, the tenth highest impact tells how much the term alone
// adds to at least ten documents' scores. The result is the largest of these amounts. Impacts are rounded up, so
// minTenthBestScore subtracts 1 from an impact. If the length of a document now reduces scores more than when the
// impacts were computed, the result is reduced.
//
// The result is 0 if the query wants more than ten documents. It is also 0 if documents were deleted or the query has a
// filter, because some of the ten documents might then not be hits.
func (b *maxScoreSearch) minTenthBestScore() float32 {
	v, least := b.view, 0.0
	if b.limit > tenthHighestRank {
		return 0
	}
	if v.deletedCount > 0 || !b.isUnfilteredQuery() {
		return 0
	}
	for i := range b.cursors {
		if c := &b.cursors[i]; c.columns != nil {
			least = max(
				least,
				float64(c.termScoreGainShare)*float64(c.columns.tenthHighestScoreImpact-1)/maxScoreImpact,
			)
		}
	}
	if b.scale.adjustedK1Slope > v.scoreImpactK1Slope {
		least *= v.scoreImpactK1Slope / b.scale.adjustedK1Slope
	}
	return float32(least)
}

// firstCandidateBatchSize is the size of the first candidate batch. Candidates are documents that may be among the
// best. Later batches grow up to estimateBatchSize. The first batches are small, because each batch raises the
// threshold, so that later batches skip more postings.
const firstCandidateBatchSize = 32

// maxPostingsToAdd is the largest number of postings for which a search adds up the scores of all postings. For more
// postings, MaxScore is faster. MaxScore is an algorithm that skips documents which cannot be among the best hits.
const maxPostingsToAdd = 400

// postingsPerWastedEstimate determines when a MaxScore search gives up, so that a simpler method is used, which adds up
// all postings. An estimate is wasted if its document turns out not to be a hit. In the time of one wasted estimate,
// the simpler method processes postingsPerWastedEstimate postings. Therefore the search gives up if the number of
// wasted estimates exceeds the number of postings divided by postingsPerWastedEstimate.
const postingsPerWastedEstimate = 32

// minPostingsForImpactOrder applies to frequent terms. If a term has at least this many postings, the search begins
// with the postings that contribute most, those with at least 7/8 of the largest impact. Their documents raise the
// minimum score of a hit, so that many remaining postings can be skipped.
const minPostingsForImpactOrder = 512

// maxScoreSearch is the state of a MaxScore search in one view.
type maxScoreSearch struct {
	*searchState
	view        *segmentView
	searchQuery *Query
	limit       int

	// smallest estimated score with which a document can still be among the best hits. It never decreases.
	threshold float32
	// Number slightly below 1. Because of rounding errors, a score may be higher than its estimate, but at most by the
	// factor 1/roundingErrorFactor.
	roundingErrorFactor float32
	// The largest estimated scores of documents so far, at most limit, as float bits in ascending order.
	topScoreEstimates []uint32
	likelyHits        []likelyHit // documents whose estimated score reached the threshold
	// A document of length dl has adjustedK1Base + adjustedK1Slope·dl as its k in the scoring formula gain·tf/(tf + k).
	adjustedK1Base, adjustedK1Slope float32
	nextCandidateBatchSize          int // number of documents that the next batch estimates together
	remainingWastedEstimates        int // how many more documents may turn out to be no hits before the search gives up
	// how many more lookups of a term in a document scoreQueryTerms may make before scoreByBounds is used instead
	remainingLookups int
}

// isOverBudget reports whether the search has done so much work without success that another kind of search is faster.
func (b *maxScoreSearch) isOverBudget() bool {
	return b.remainingWastedEstimates < 0 || b.remainingLookups < 0
}

// scoreQueryTerms adds the scores of the query's terms to the documents, beginning with the strongest term. It stops if
// the remaining terms together cannot raise the score of a document to the threshold, which is the lowest score among
// the best documents so far. It also stops if it has estimated the scores of too many documents that the query does not
// accept, or if it has looked up terms in too many documents. In these two cases isOverBudget returns true, and the
// caller must search again with another method.
func (b *maxScoreSearch) scoreQueryTerms() {
	for place, i := range b.cursorIndexesByGain {
		c := &b.cursors[i]
		if b.maxRemainingTermScores[place] < float64(b.threshold) || b.isOverBudget() {
			return
		}
		switch w := c.columns; {
		case w == nil:
			b.scorePostingList(c, place)
		case w.docBitSet != nil && b.filter.matchingDocumentShare < maxMatchingShareForLookup:
			b.scoreFilteredDocuments(c, place)
		default:
			above := maxScoreImpact + 1
			if strong := int(c.maxTermScoreInSegment/c.scorePerImpact) * 7 / 8; len(
				w.docNumberLowBits,
			) > minPostingsForImpactOrder &&
				strong > b.minUsefulScoreImpact(c, place) {
				b.scoreColumns(c, place, strong, above)
				above = strong
			}
			b.scoreColumns(c, place, b.minUsefulScoreImpact(c, place), above)
		}
		b.nextCandidateBatchSize = estimateBatchSize
	}
}

// minUsefulScoreImpact returns the lowest impact that term c must have in a document so that the document can still be
// among the best. The impact is an upper bound of what a term adds to a document's score. indexInTermOrder is the
// term's index in the processing order. If no impact is high enough, the result is above maxScoreImpact.
func (b *maxScoreSearch) minUsefulScoreImpact(c *queryCursor, indexInTermOrder int) int {
	need := math.Ceil((float64(b.threshold) - b.maxRemainingTermScores[indexInTermOrder+1]) / c.scorePerImpact)
	return int(min(max(need, 1), maxScoreImpact+1))
}

// maxMatchingShareForLookup is a share of all documents. If the documents that meet the query's conditions are a
// smaller share, it is faster to check for each of them whether it contains a term. Otherwise, it is faster to process
// all documents with the term.
const maxMatchingShareForLookup = 0.15

// makeCandidate returns a candidate for a search hit: a document with the number doc that contains the term of the
// cursor c. The parameter tf is the term's frequency in the document. The candidate's estimated score comes from this
// term only.
func (b *maxScoreSearch) makeCandidate(c *queryCursor, doc uint32, tf uint16) hitCandidate {
	f, k := float32(tf), b.adjustedK1Base+b.adjustedK1Slope*float32(b.view.docLengths[doc])
	return hitCandidate{doc, c.termScoreGainShare * f / (f + k), k}
}

func (b *maxScoreSearch) scorePostingList(c *queryCursor, indexInTermOrder int) {
	n, minImpact := 0, b.minUsefulScoreImpact(c, indexInTermOrder)
	for _, p := range c.list {
		if int(p.scoreImpact) >= minImpact && b.filter.accepts(p.docNumber) {
			b.hitCandidateBatch[n] = b.makeCandidate(c, p.docNumber, p.termFrequency)
			n++
		}
	}
	b.completeCandidateScores(indexInTermOrder, b.hitCandidateBatch[:n])
}

const (
	onesInBytes    = 0x0101010101010101
	topBitsOfBytes = 0x80 * onesInBytes

	// a multiplication by it moves the lowest bits of all bytes to the highest byte
	gatherLowBitsFactor = 0x0102040810204080
)

// scoreColumns estimates the scores of documents that contain c's term. It uses only postings with an impact from
// minImpact to impactLimit-1. As better documents are found, the score that a document needs to become a hit rises.
// scoreColumns then raises minImpact to the result of minUsefulScoreImpact, and so skips more postings. The argument
// orderIndex is the index of the term in cursorIndexesByGain.
func (b *maxScoreSearch) scoreColumns(c *queryCursor, orderIndex, minImpact, impactLimit int) {
	w := c.columns
	upper, end := uint32(0), w.findUpperBitsRangeEnd(0)
	unit := float32(w.frequencyBytesUnit)
	docs := w.docNumberLowBits
	tfs := w.termFrequencies
	dense := w.frequencyBytes
	lens := b.view.docLengths
	part := c.termScoreGainShare
	c0 := b.adjustedK1Base
	c1 := b.adjustedK1Slope
	all := b.filter.acceptsAll
	for i := 0; i < len(w.scoreImpacts) && minImpact < impactLimit &&
		!b.isOverBudget(); minImpact = max(minImpact, b.minUsefulScoreImpact(c, orderIndex)) {
		n := 0
		n, i = b.collectHighScoreImpacts(w.scoreImpacts, i, minImpact, impactLimit)
		left := 0
		for _, x := range b.hitCandidateBatch[:n] {
			at := int(x.docNumberOrPostingIndex)
			for at >= end {
				upper += 1 << 16
				end = w.findUpperBitsRangeEnd(upper)
			}
			doc, f := upper|uint32(docs[at]), float32(0)
			if !all && !b.filter.hasBit(doc) {
				continue
			}
			if dense == nil {
				f = float32(tfs[at])
			} else {
				f = float32(dense[doc])
				if f == largeFrequencyByte {
					f = float32(w.findLargeFrequency(doc))
				} else {
					f *= unit
				}
			}
			k := c0 + c1*float32(lens[doc])
			b.hitCandidateBatch[left] = hitCandidate{doc, part * f / (f + k), k}
			left++
		}
		batch := b.hitCandidateBatch[:left]
		// The time is checked here and not in the loop over the postings, because a small loop is faster.
		if b.filter.unappliedRange != nil {
			batch = slices.DeleteFunc(
				batch,
				func(c hitCandidate) bool { return !b.filter.isCreatedInRange(c.docNumberOrPostingIndex) },
			)
		}
		b.nextCandidateBatchSize = min(2*b.nextCandidateBatchSize, estimateBatchSize)
		b.completeCandidateScores(orderIndex, batch)
	}
}

// collectHighScoreImpacts finds the elements of the slice impacts with a value from minImpact to impactLimit-1. Each
// element is the impact of a posting (a document in a term's list). The indexes of the elements are stored in
// b.hitCandidateBatch. The search starts at index i, and stops after a block of elements if the batch is full.
// storedCount is the number of stored indexes, and nextIndex is the index at which to continue.
//
// To be fast, collectHighScoreImpacts compares eight impacts with a single addition. If an impact is at least
// minImpact, the addition sets the top bit of the impact's byte. Few blocks of elements contain such an impact. A
// branch for each block would therefore be hard to predict for the processor. So collectHighScoreImpacts first collects
// these blocks without a branch, and then examines only the collected blocks. In these blocks it also checks the limit
// impactLimit.
func (b *maxScoreSearch) collectHighScoreImpacts(
	impacts []uint8,
	i, minImpact, impactLimit int,
) (storedCount, nextIndex int) {
	var blocks [64]int32
	low, high := uint64(0x80-minImpact)*onesInBytes, uint64(0x80-impactLimit)*onesInBytes
	le := binary.LittleEndian
	for i < len(impacts) {
		found := 0
		for end := min(i+len(blocks)*scoreImpactBlockSize, len(impacts)); i < end; i += scoreImpactBlockSize {
			some := impacts[i : i+scoreImpactBlockSize]
			set := ((le.Uint64(some) + low) | (le.Uint64(some[8:]) + low) | (le.Uint64(
				some[16:],
			) + low) | (le.Uint64(some[24:]) + low)) & topBitsOfBytes
			blocks[found%len(blocks)] = int32(i)
			found += int((set | -set) >> 63)
		}
		for _, at := range blocks[:found] {
			some, set := impacts[at:at+scoreImpactBlockSize], uint64(0)
			for j := 0; j < scoreImpactBlockSize; j += 8 {
				eight := le.Uint64(some[j:])
				set |= ((eight + low) &^ (eight + high) & topBitsOfBytes >> 7 * gatherLowBitsFactor) >> 56 << j
			}
			for ; set != 0; set &= set - 1 {
				b.hitCandidateBatch[storedCount].docNumberOrPostingIndex = uint32(
					at,
				) + uint32(
					bits.TrailingZeros64(set),
				)
				storedCount++
			}
			if storedCount >= b.nextCandidateBatchSize {
				return storedCount, int(at) + scoreImpactBlockSize
			}
		}
	}
	return storedCount, i
}

// scoreFilteredDocuments estimates the scores of documents that contain the cursor c's term. It is used if only few
// documents meet the query's conditions, because it looks up whether each of these documents contains the term. It
// passes the documents with the term to completeCandidateScores in batches. The argument indexInTermOrder is the
// position of the term in the order in which the search processes the terms.
func (b *maxScoreSearch) scoreFilteredDocuments(c *queryCursor, indexInTermOrder int) {
	n := 0
	for i, set := range b.filter.documentBits {
		for set &= c.columns.docBitSet[i]; set != 0 && !b.isOverBudget(); set &= set - 1 {
			doc := uint32(64*i + bits.TrailingZeros64(set))
			if !b.filter.isCreatedInRange(doc) {
				continue
			}
			b.hitCandidateBatch[n] = b.makeCandidate(c, doc, c.columns.termFrequency(doc))
			n++
			if n == estimateBatchSize {
				b.completeCandidateScores(indexInTermOrder, b.hitCandidateBatch[:n])
				n = 0
			}
		}
	}
	b.completeCandidateScores(indexInTermOrder, b.hitCandidateBatch[:n])
}

// completeCandidateScores completes the estimated scores of documents. It adds the contributions of the terms after
// indexInTermOrder, and drops the documents that cannot reach the threshold. It calls keepCandidateIfLikelyHit for each
// remaining document.
func (b *maxScoreSearch) completeCandidateScores(indexInTermOrder int, candidates []hitCandidate) {
	for next := indexInTermOrder + 1; next < len(b.cursorIndexesByGain) && len(candidates) > 0; next++ {
		if need := b.threshold - float32(b.maxRemainingTermScores[next]); need > 0 {
			left := 0
			for _, x := range candidates {
				candidates[left] = x
				left += 1 - int(math.Float32bits(x.scoreEstimate-need)>>31)
			}
			candidates = candidates[:left]
		}
		b.remainingLookups -= len(candidates)
		b.cursors[b.cursorIndexesByGain[next]].addEstimatedTermScores(candidates)
	}
	for _, x := range candidates {
		if x.scoreEstimate >= b.threshold {
			b.keepCandidateIfLikelyHit(indexInTermOrder, x)
		}
	}
}

// addEstimatedTermScores increases the field scoreEstimate of each candidate. The increase is the contribution of the
// cursor's term to the score of the candidate's document. If the document does not contain the term, the estimate does
// not change.
func (c *queryCursor) addEstimatedTermScores(candidates []hitCandidate) {
	part, w := c.termScoreGainShare, c.columns
	switch {
	case w == nil:
		for i := range candidates {
			x := &candidates[i]
			if at := c.findPostingIndex(x.docNumberOrPostingIndex); c.list[at].docNumber == x.docNumberOrPostingIndex {
				f := float32(c.list[at].termFrequency)
				x.scoreEstimate += part * f / (f + x.lengthAdjustedK1)
			}
		}
	case w.frequencyBytes != nil:
		dense, unit := w.frequencyBytes, float32(w.frequencyBytesUnit)
		for i := range candidates {
			x := &candidates[i]
			f := float32(dense[x.docNumberOrPostingIndex])
			if f == largeFrequencyByte {
				f = float32(w.findLargeFrequency(x.docNumberOrPostingIndex))
			} else {
				f *= unit
			}
			x.scoreEstimate += part * f / (f + x.lengthAdjustedK1)
		}
	case w.docBitSet != nil:
		all := w.docBitSet
		starts := w.firstPostingIndexes
		tfs := w.termFrequencies
		for i := range candidates {
			x := &candidates[i]
			word := x.docNumberOrPostingIndex / 64
			if set, bit := all[word], x.docNumberOrPostingIndex%64; set>>bit&1 != 0 {
				f := float32(tfs[int(starts[word])+bits.OnesCount64(set&(1<<bit-1))])
				x.scoreEstimate += part * f / (f + x.lengthAdjustedK1)
			}
		}
	default:
		docs := w.docNumberLowBits
		starts := w.firstPostingIndexes
		shift := w.firstPostingIndexShift
		for i := range candidates {
			x := &candidates[i]
			slot, low := x.docNumberOrPostingIndex>>shift, uint16(x.docNumberOrPostingIndex)
			if at, ok := findLowDocNumber(docs, starts[slot], starts[slot+1], low); ok {
				f := float32(w.termFrequencies[at])
				x.scoreEstimate += part * f / (f + x.lengthAdjustedK1)
			}
		}
	}
}

// keepCandidateIfLikelyHit adds a candidate to b.likelyHits and updates the threshold of the search. It ignores the
// candidate in these cases:
//
//   - The document is deleted.
//   - The document contains a term that comes before indexInTermOrder in cursorIndexesByGain. These terms were
//     processed earlier, so that the search has already examined the document.
//   - The query does not accept the document. The counter remainingWastedEstimates then decreases by 1.
//   - ScoreFactor reduces the estimated score below the threshold.
func (b *maxScoreSearch) keepCandidateIfLikelyHit(indexInTermOrder int, x hitCandidate) {
	if b.view.isDeleted(x.docNumberOrPostingIndex) {
		return
	}
	for _, i := range b.cursorIndexesByGain[:max(indexInTermOrder, 0)] {
		if b.cursors[i].termFrequency(x.docNumberOrPostingIndex) > 0 {
			return
		}
	}
	if !b.filter.passesChecks(b.view, b.searchQuery, x.docNumberOrPostingIndex) {
		b.remainingWastedEstimates--
		return
	}
	// ScoreFactor never increases a score. A document whose reduced score is below the threshold cannot be among the
	// best hits, so drop it.
	if b.searchQuery.ScoreFactor != nil {
		x.scoreEstimate *= float32(b.searchQuery.ScoreFactor(b.view.ids.valueAt(x.docNumberOrPostingIndex)))
		if x.scoreEstimate < b.threshold {
			return
		}
	}
	b.likelyHits = append(b.likelyHits, likelyHit{doc: x.docNumberOrPostingIndex, estimatedScore: x.scoreEstimate})
	b.insertTopScoreEstimate(x.scoreEstimate)
}

// insertTopScoreEstimate inserts a document's estimated score, the argument scoreEstimate, into the sorted list of the
// largest estimates. If the list already contains b.limit estimates, a new estimate replaces the smallest estimate in
// the list, or is ignored if it is not larger than the smallest estimate. When the list is full, the threshold is
// raised to the smallest estimate times b.roundingErrorFactor. The threshold is never lowered. The loop has no
// branches, because the processor would often predict them wrong.
func (b *maxScoreSearch) insertTopScoreEstimate(scoreEstimate float32) {
	// Compare the estimated score as an integer, because the bits of non-negative floats have the same order.
	bits := math.Float32bits(scoreEstimate)
	if len(b.topScoreEstimates) < b.limit {
		b.topScoreEstimates = slices.Insert(b.topScoreEstimates, 0, 0)
	} else if bits <= b.topScoreEstimates[0] {
		return
	}
	near := b.topScoreEstimates
	for i := 1; i < len(near); i++ {
		near[i-1] = min(near[i], bits)
		bits = max(near[i], bits)
	}
	near[len(near)-1] = bits
	if len(near) == b.limit {
		b.threshold = max(b.threshold, math.Float32frombits(near[0])*b.roundingErrorFactor)
	}
}

// rescoreLikelyHits computes the exact scores of all likelyHits whose estimated scores are at least threshold. It adds
// the documents with the best scores to the list best. It processes all documents for one term before the next term, so
// that memory is read in order.
func (b *maxScoreSearch) rescoreLikelyHits(best *bestHits) {
	n, rest := 0, max(b.scale.adjustedK1Base, minScoreDenominator)
	for _, x := range b.likelyHits {
		if x.estimatedScore >= b.threshold {
			b.likelyHits[n] = likelyHit{
				doc:              x.doc,
				lengthAdjustedK1: rest + float64(b.scale.adjustedK1Slope*float64(b.view.docLengths[x.doc])),
			}
			n++
		}
	}
	some := b.likelyHits[:n]
	for i := range b.cursors {
		b.cursors[i].addExactTermScores(some)
	}
	for i := range some {
		x := &some[i]
		r := rankedHit{score: x.score, view: b.view, docNumber: x.doc}
		if b.searchQuery.ScoreFactor != nil {
			r.score *= b.searchQuery.ScoreFactor(r.id())
		}
		if r.score >= best.minHitScore && best.wouldKeep(r) {
			best.addHit(r)
		}
	}
}

// minScoreDenominator replaces 0 in the denominator of a term's contribution, gain·tf/(tf + k). For tf = 0 and k = 0,
// the contribution would otherwise be NaN and not 0. It is too small to change any other score.
const minScoreDenominator = 1e-300

// addExactTermScores adds what the cursor's term contributes to the exact score of each document. The formula is a
// copy of bm25Scale.score, because this is faster than a call.
func (c *queryCursor) addExactTermScores(docs []likelyHit) {
	gain := c.termScoreGain
	switch w := c.columns; {
	case w == nil:
		for i := range docs {
			x := &docs[i]
			if at := c.findPostingIndex(x.doc); c.list[at].docNumber == x.doc {
				f := float64(c.list[at].termFrequency)
				x.score += float64(gain*f) / (f + x.lengthAdjustedK1)
			}
		}
	case w.frequencyBytes != nil:
		for i := range docs {
			x := &docs[i]
			f := float64(w.decodeFrequencyByte(x.doc))
			x.score += float64(gain*f) / (f + x.lengthAdjustedK1)
		}
	default:
		for i := range docs {
			x := &docs[i]
			if at, ok := w.findPostingIndex(x.doc); ok {
				f := float64(w.termFrequencies[at])
				x.score += float64(gain*f) / (f + x.lengthAdjustedK1)
			}
		}
	}
}

// hasFewCandidates reports whether so few documents meet the query's conditions that it is faster to look up the terms
// in each of these documents. Otherwise it is faster to process all postings of the terms. The argument postings is the
// number of these postings.
func (b *maxScoreSearch) hasFewCandidates(postings int) bool {
	w := &b.filter
	return !w.acceptsAll && w.matchingDocumentCount*fewMatchesDivisor <= len(b.view.docLengths) &&
		w.matchingDocumentCount*len(b.cursors) <= postings*postingsPerTermLookup
}

// scoreAllMatchingDocuments estimates the score of each document that meets the query's conditions.
func (b *maxScoreSearch) scoreAllMatchingDocuments() {
	n := 0
	complete := func() {
		for i := range b.hitCandidateBatch[:n] {
			x := &b.hitCandidateBatch[i]
			x.scoreEstimate, x.lengthAdjustedK1 = 0, b.adjustedK1Base+b.adjustedK1Slope*float32(
				b.view.docLengths[x.docNumberOrPostingIndex],
			)
		}
		b.completeCandidateScores(-1, b.hitCandidateBatch[:n])
		n = 0
	}
	for i, set := range b.filter.documentBits {
		for ; set != 0 && !b.isOverBudget(); set &= set - 1 {
			doc := uint32(64*i + bits.TrailingZeros64(set))
			if !b.filter.isCreatedInRange(doc) {
				continue
			}
			b.hitCandidateBatch[n].docNumberOrPostingIndex = doc
			n++
			if n == estimateBatchSize {
				complete()
			}
		}
	}
	complete()
}
