// This file implements MaxScore, a search that finds only the best documents. It skips documents that cannot reach the
// scores of the best documents found so far.

package index

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// searchBest adds the documents with the highest scores in a part of the index (v) to the heap best. It implements
// MaxScore (Turtle and Flood, 1995). It processes the query's terms in descending order of the maximum that a term can
// add to a score.
//
// For each term and each document that contains the term, the index stores an impact. The impact is an upper bound of
// what the term adds to the document's score. A document is skipped if this impact, plus the maximum of all weaker
// terms, is below the lowest score among the best documents so far. The search ends when all remaining terms together
// cannot reach that score.
//
// Until then, scores are estimates in single precision, divided by the query's norm. Bounds of the estimates allow for
// rounding errors. At the end, the scores of the remaining candidates are computed in double precision over all terms
// in order. They are therefore identical to the scores that scoreDocuments computes.
//
// searchBest returns false, without changing the heap, if it is better to compute the scores of all documents. This is
// so in a small part of the index, for weights that single precision cannot represent, and if too many candidates are
// not accepted.
func (v *view) searchBest(q *searchState, ask *Query, best *topK) (done bool) {
	if !(q.gainSum > minNorm && q.gainSum < maxNorm) {
		return false
	}
	for i := range q.cursors {
		if q.cursors[i].gainShare < minTermGainShare {
			return false
		}
	}
	postings := q.countPostings()
	b := maxScore{
		searchState:       q,
		view:              v,
		searchQuery:       ask,
		limit:             best.limit,
		remainingRefusals: postings / postingsPerRefusal,
		nextBatchSize:     firstBatchSize,
	}
	b.estimateSlack = 1 - float32(len(q.terms)+maxRoundingErrors)*(1.0/(1<<22))
	b.lengthBase, b.lengthSlope = max(float32(q.scale.lengthBase), lengthEpsilon), float32(q.scale.lengthSlope)
	b.topEstimates, b.keptDocuments = q.topEstimates[:0], q.keptDocuments[:0]
	for _, r := range best.heap {
		b.pushEstimate(float32(r.score / q.gainSum))
	}
	b.threshold = max(b.threshold, b.tenthBestBound()*b.estimateSlack)
	switch {
	case b.hasFewCandidates(postings):
		b.scoreAllCandidates()
	case postings <= maxPostingsToAdd && len(v.docLengths) <= 2*windowDocs:
		return false // The terms occur so rarely that adding up all their postings is faster than a MaxScore search.
	default:
		b.processTerms()
	}
	q.topEstimates, q.keptDocuments = b.topEstimates, b.keptDocuments
	if b.remainingRefusals < 0 {
		return false
	}
	b.rescoreKept(best)
	return true
}

// A MaxScore search estimates scores in single precision, divided by the query's norm, which is the sum of the terms'
// maximum contributions. The search is used only if the norm is between minNorm and maxNorm, and if each term's share
// in the norm is at least minTermGainShare. Otherwise numbers would be too small or too large for single precision.
const (
	minTermGainShare = 1e-20
	minNorm          = 1e-280
	maxNorm          = 1e280
	lengthEpsilon    = 1e-30 // added to document lengths, so that 0 is never divided by 0
	// maximum number of rounding errors while a term's contribution to an estimated score is computed
	maxRoundingErrors = 16
)

// canKeepScores reports whether each document with a query term is a hit with its full score. This is not so if the
// query has a condition, or a function that excludes documents or reduces their scores.
func (b *maxScore) canKeepScores() bool {
	return b.filter.acceptsAll && b.searchQuery.AcceptDocument == nil && b.searchQuery.ScoreFactor == nil
}

// tenthBestBound returns a score that at least ten documents of the view reach, even if only their strongest term
// counts. It returns 0 if the query wants more than ten documents, or if some of the ten might not be hits. It
// computes the score from impacts. Impacts are rounded up, so it uses the next lower impact. It reduces the result if
// document lengths reduce scores more now than when the impacts were computed.
func (b *maxScore) tenthBestBound() float32 {
	v, least := b.view, 0.0
	if b.limit > highImpactRank {
		return 0
	}
	if v.deletedCount > 0 || !b.canKeepScores() {
		return 0
	}
	for i := range b.cursors {
		if c := &b.cursors[i]; c.columns != nil {
			least = max(least, float64(c.gainShare)*float64(c.columns.tenthImpact-1)/maxImpact)
		}
	}
	if b.scale.lengthSlope > v.impactSlope {
		least *= v.impactSlope / b.scale.lengthSlope
	}
	return float32(least)
}

// firstBatchSize is the size of the first candidate batch. Candidates are documents that may be among the best. Later
// batches grow up to batchSize. The first batches are small, because each batch raises the threshold, so that later
// batches skip more postings.
const firstBatchSize = 32

// maxPostingsToAdd is the largest number of postings for which adding up all postings is faster than MaxScore.
const maxPostingsToAdd = 400

// postingsPerRefusal limits when a MaxScore search gives up. A document may turn out not to be a hit only after the
// search has computed an estimate for it. In the same time, postingsPerRefusal postings could have been added up by
// the simpler method.
const postingsPerRefusal = 32

// minStrongPostings applies to frequent terms. If a term has at least this many postings, the search begins with the
// postings that contribute most, those with at least 7/8 of the largest impact. Their documents raise the minimum
// score of a hit, so that many of the other postings can be skipped.
const minStrongPostings = 512

// maxScore is the state of a MaxScore search in one view.
type maxScore struct {
	*searchState
	view        *view
	searchQuery *Query
	limit       int

	// smallest estimated score with which a document can still be among the best hits. It never decreases.
	threshold float32
	// Number slightly below 1. Because of rounding errors, a score may be higher than its estimate, but at most by the
	// factor 1/estimateSlack.
	estimateSlack float32
	// The largest estimated scores of documents so far, at most limit, as float bits in ascending order.
	topEstimates  []uint32
	keptDocuments []keptDocument // documents whose estimated score reached the threshold
	// A document of length dl has lengthBase + lengthSlope·dl as its k in the scoring formula gain·tf/(tf + k).
	lengthBase, lengthSlope float32
	nextBatchSize           int // number of documents that the next batch estimates together
	remainingRefusals       int // how many more documents may turn out to be no hits before the search gives up
}

// processTerms processes the query's terms, the strongest first. It stops when the remaining terms together cannot
// raise a document's score to the lowest score among the best documents so far.
func (b *maxScore) processTerms() {
	for place, i := range b.cursorOrder {
		c := &b.cursors[i]
		if b.maxRestScores[place] < float64(b.threshold) || b.remainingRefusals < 0 {
			return
		}
		switch w := c.columns; {
		case w == nil:
			b.scorePostingList(c, place)
		case w.docBits != nil && b.filter.documentShare < maxLookupShare:
			b.scoreFiltered(c, place)
		default:
			above := maxImpact + 1
			if strong := int(c.maxContribution/c.impactUnit) * 7 / 8; len(w.docs) > minStrongPostings &&
				strong > b.minImpact(c, place) {
				b.scoreColumns(c, place, strong, above)
				above = strong
			}
			b.scoreColumns(c, place, b.minImpact(c, place), above)
		}
		b.nextBatchSize = batchSize
	}
}

// minImpact returns the lowest impact that term c must have in a document so that the document can still be among the
// best. The impact is an upper bound of what a term adds to a document's score. orderIndex is the term's index in the
// processing order. If no impact is high enough, the result is above maxImpact.
func (b *maxScore) minImpact(c *queryCursor, orderIndex int) int {
	need := math.Ceil((float64(b.threshold) - b.maxRestScores[orderIndex+1]) / c.impactUnit)
	return int(min(max(need, 1), maxImpact+1))
}

// If a smaller share of all documents than maxLookupShare meets the query's conditions, it is faster to look up which
// of these documents contain a term than to go through all documents with the term.
const maxLookupShare = 0.15

// makeCandidate returns the candidate for a posting of term c.
func (b *maxScore) makeCandidate(c *queryCursor, doc uint32, tf uint16) candidate {
	f, k := float32(tf), b.lengthBase+b.lengthSlope*float32(b.view.docLengths[doc])
	return candidate{doc, c.gainShare * f / (f + k), k}
}

func (b *maxScore) scorePostingList(c *queryCursor, orderIndex int) {
	n, minImpact := 0, b.minImpact(c, orderIndex)
	for _, p := range c.list {
		if int(p.impact) >= minImpact && b.filter.accepts(p.doc) {
			b.candidateBatch[n] = b.makeCandidate(c, p.doc, p.tf)
			n++
		}
	}
	b.completeCandidates(orderIndex, b.candidateBatch[:n])
}

const (
	onesInBytes    = 0x0101010101010101
	topBitsOfBytes = 0x80 * onesInBytes

	// a multiplication by it moves the lowest bits of all bytes to the highest byte
	gatherBitsFactor = 0x0102040810204080
)

// scoreColumns estimates the scores of documents that contain the term of c. It reads only the postings with an impact
// from minImpact to impactLimit-1. minImpact rises during the loop, together with the threshold.
func (b *maxScore) scoreColumns(c *queryCursor, orderIndex, minImpact, impactLimit int) {
	w := c.columns
	upper, end := uint32(0), w.upperHalfEnd(0)
	unit := float32(w.denseUnit)
	docs := w.docs
	tfs := w.tfs
	dense := w.denseTFs
	lens := b.view.docLengths
	part := c.gainShare
	c0 := b.lengthBase
	c1 := b.lengthSlope
	all := b.filter.acceptsAll
	for i := 0; i < len(w.impacts) && minImpact < impactLimit &&
		b.remainingRefusals >= 0; minImpact = max(minImpact, b.minImpact(c, orderIndex)) {
		n := 0
		n, i = b.collectHighImpacts(w.impacts, i, minImpact, impactLimit)
		left := 0
		for _, x := range b.candidateBatch[:n] {
			at := int(x.doc)
			for at >= end {
				upper += 1 << 16
				end = w.upperHalfEnd(upper)
			}
			doc, f := upper|uint32(docs[at]), float32(0)
			if !all && !b.filter.hasBit(doc) {
				continue
			}
			if dense == nil {
				f = float32(tfs[at])
			} else {
				f = float32(dense[doc])
				if f == maxDenseTF {
					f = float32(w.findLargeTF(doc))
				} else {
					f *= unit
				}
			}
			k := c0 + c1*float32(lens[doc])
			b.candidateBatch[left] = candidate{doc, part * f / (f + k), k}
			left++
		}
		batch := b.candidateBatch[:left]
		// The time is checked here and not in the loop over the postings, because a small loop is faster.
		if b.filter.unappliedRange != nil {
			batch = slices.DeleteFunc(batch, func(c candidate) bool { return !b.filter.isInTime(c.doc) })
		}
		b.nextBatchSize = min(2*b.nextBatchSize, batchSize)
		b.completeCandidates(orderIndex, batch)
	}
}

// collectHighImpacts finds the postings of a term whose impact is from minImpact to impactLimit-1, and collects their
// indexes. It starts at index i and stops when the batch is full. It returns the number of collected indexes, and the
// index at which to continue.
//
// One addition compares eight impacts. It overflows into the top bit of each byte whose impact is at least minImpact.
// Few blocks contain such an impact, so a branch on it would be mispredicted. Therefore collectHighImpacts first
// collects these blocks without a branch that depends on the impacts.
func (b *maxScore) collectHighImpacts(impacts []uint8, i, minImpact, impactLimit int) (n, next int) {
	var blocks [64]int32
	low, high := uint64(0x80-minImpact)*onesInBytes, uint64(0x80-impactLimit)*onesInBytes
	le := binary.LittleEndian
	for i < len(impacts) {
		found := 0
		for end := min(i+len(blocks)*impactBlockSize, len(impacts)); i < end; i += impactBlockSize {
			some := impacts[i : i+impactBlockSize]
			set := ((le.Uint64(some) + low) | (le.Uint64(some[8:]) + low) | (le.Uint64(
				some[16:],
			) + low) | (le.Uint64(some[24:]) + low)) & topBitsOfBytes
			blocks[found%len(blocks)] = int32(i)
			found += int((set | -set) >> 63)
		}
		for _, at := range blocks[:found] {
			some, set := impacts[at:at+impactBlockSize], uint64(0)
			for j := 0; j < impactBlockSize; j += 8 {
				eight := le.Uint64(some[j:])
				set |= ((eight + low) &^ (eight + high) & topBitsOfBytes >> 7 * gatherBitsFactor) >> 56 << j
			}
			for ; set != 0; set &= set - 1 {
				b.candidateBatch[n].doc = uint32(at) + uint32(bits.TrailingZeros64(set))
				n++
			}
			if n >= b.nextBatchSize {
				return n, int(at) + impactBlockSize
			}
		}
	}
	return n, i
}

// scoreFiltered estimates the scores of documents that contain term c, if only few documents meet the query's
// conditions. It looks up whether each of these few documents contains the term.
func (b *maxScore) scoreFiltered(c *queryCursor, orderIndex int) {
	n := 0
	for i, set := range b.filter.documentBits {
		for set &= c.columns.docBits[i]; set != 0 && b.remainingRefusals >= 0; set &= set - 1 {
			doc := uint32(64*i + bits.TrailingZeros64(set))
			if !b.filter.isInTime(doc) {
				continue
			}
			b.candidateBatch[n] = b.makeCandidate(c, doc, c.columns.termFrequency(doc))
			n++
			if n == batchSize {
				b.completeCandidates(orderIndex, b.candidateBatch[:n])
				n = 0
			}
		}
	}
	b.completeCandidates(orderIndex, b.candidateBatch[:n])
}

// completeCandidates completes the estimated scores of documents. It adds the contributions of the terms after
// orderIndex, and drops the documents that cannot reach the threshold. It calls offerCandidate for each remaining
// document.
func (b *maxScore) completeCandidates(orderIndex int, candidates []candidate) {
	for next := orderIndex + 1; next < len(b.cursorOrder) && len(candidates) > 0; next++ {
		if need := b.threshold - float32(b.maxRestScores[next]); need > 0 {
			left := 0
			for _, x := range candidates {
				candidates[left] = x
				left += 1 - int(math.Float32bits(x.sum-need)>>31)
			}
			candidates = candidates[:left]
		}
		b.cursors[b.cursorOrder[next]].addContributions(candidates)
	}
	for _, x := range candidates {
		if x.sum >= b.threshold {
			b.offerCandidate(orderIndex, x)
		}
	}
}

// addContributions adds what the cursor's term contributes to the estimated score of each candidate.
func (c *queryCursor) addContributions(candidates []candidate) {
	part, w := c.gainShare, c.columns
	switch {
	case w == nil:
		for i := range candidates {
			x := &candidates[i]
			if at := c.findIndex(x.doc); c.list[at].doc == x.doc {
				f := float32(c.list[at].tf)
				x.sum += part * f / (f + x.k)
			}
		}
	case w.denseTFs != nil:
		dense, unit := w.denseTFs, float32(w.denseUnit)
		for i := range candidates {
			x := &candidates[i]
			f := float32(dense[x.doc])
			if f == maxDenseTF {
				f = float32(w.findLargeTF(x.doc))
			} else {
				f *= unit
			}
			x.sum += part * f / (f + x.k)
		}
	case w.docBits != nil:
		all := w.docBits
		starts := w.startIndexes
		tfs := w.tfs
		for i := range candidates {
			x := &candidates[i]
			word := x.doc / 64
			if set, bit := all[word], x.doc%64; set>>bit&1 != 0 {
				f := float32(tfs[int(starts[word])+bits.OnesCount64(set&(1<<bit-1))])
				x.sum += part * f / (f + x.k)
			}
		}
	default:
		docs := w.docs
		starts := w.startIndexes
		shift := w.startShift
		for i := range candidates {
			x := &candidates[i]
			slot, low := x.doc>>shift, uint16(x.doc)
			if at, ok := findLowerHalf(docs, starts[slot], starts[slot+1], low); ok {
				f := float32(w.tfs[at])
				x.sum += part * f / (f + x.k)
			}
		}
	}
}

// offerCandidate keeps a candidate for the best documents. It ignores the candidate if the document is deleted or not
// accepted, or if the search already found it by a term that was processed before the term at orderIndex.
func (b *maxScore) offerCandidate(orderIndex int, x candidate) {
	if b.view.isDeleted(x.doc) {
		return
	}
	for _, i := range b.cursorOrder[:max(orderIndex, 0)] {
		if b.cursors[i].termFrequency(x.doc) > 0 {
			return
		}
	}
	if b.searchQuery.AcceptDocument != nil && !b.searchQuery.AcceptDocument(b.view.ids.valueAt(x.doc)) {
		b.remainingRefusals--
		return
	}
	// ScoreFactor never increases a score. A document whose reduced score is below the threshold cannot be among the
	// best hits, so drop it.
	if b.searchQuery.ScoreFactor != nil {
		x.sum *= float32(b.searchQuery.ScoreFactor(b.view.ids.valueAt(x.doc)))
		if x.sum < b.threshold {
			return
		}
	}
	b.keptDocuments = append(b.keptDocuments, keptDocument{doc: x.doc, estimate: x.sum})
	b.pushEstimate(x.sum)
}

// pushEstimate inserts a document's estimated score into the list of the largest estimates. If the list is full, the
// smallest of these estimates becomes the new threshold. pushEstimate always processes the whole list, because
// branches would be mispredicted.
func (b *maxScore) pushEstimate(sum float32) {
	// Compare the estimated score as an integer, because the bits of non-negative floats have the same order.
	bits := math.Float32bits(sum)
	if len(b.topEstimates) < b.limit {
		b.topEstimates = slices.Insert(b.topEstimates, 0, 0)
	} else if bits <= b.topEstimates[0] {
		return
	}
	near := b.topEstimates
	for i := 1; i < len(near); i++ {
		near[i-1] = min(near[i], bits)
		bits = max(near[i], bits)
	}
	near[len(near)-1] = bits
	if len(near) == b.limit {
		b.threshold = max(b.threshold, math.Float32frombits(near[0])*b.estimateSlack)
	}
}

// rescoreKept computes the exact scores of the documents whose estimates reached the threshold, and adds the best ones
// to best. It processes all documents for one term before the next term, so that memory is read in order.
func (b *maxScore) rescoreKept(best *topK) {
	n, rest := 0, max(b.scale.lengthBase, minRestScore)
	for _, x := range b.keptDocuments {
		if x.estimate >= b.threshold {
			b.keptDocuments[n] = keptDocument{
				doc: x.doc,
				k:   rest + float64(b.scale.lengthSlope*float64(b.view.docLengths[x.doc])),
			}
			n++
		}
	}
	some := b.keptDocuments[:n]
	for i := range b.cursors {
		b.cursors[i].addExactScores(some)
	}
	for i := range some {
		x := &some[i]
		r := rankedHit{x.score, b.view, x.doc}
		if b.searchQuery.ScoreFactor != nil {
			r.score *= b.searchQuery.ScoreFactor(r.id())
		}
		if r.score >= best.minScore && best.wouldKeep(r) {
			best.addHit(r)
		}
	}
}

// minRestScore replaces 0 in the denominator of a term's contribution, gain·tf/(tf + k). For tf = 0 and k = 0, the
// contribution would otherwise be NaN and not 0. It is too small to change any other score.
const minRestScore = 1e-300

// addExactScores adds what the cursor's term contributes to the exact score of each document. The formula is a copy of
// bm25Scale.score, because this is faster than a call.
func (c *queryCursor) addExactScores(docs []keptDocument) {
	gain := c.gain
	switch w := c.columns; {
	case w == nil:
		for i := range docs {
			x := &docs[i]
			if at := c.findIndex(x.doc); c.list[at].doc == x.doc {
				f := float64(c.list[at].tf)
				x.score += float64(gain*f) / (f + x.k)
			}
		}
	case w.denseTFs != nil:
		for i := range docs {
			x := &docs[i]
			f := float64(w.denseTF(x.doc))
			x.score += float64(gain*f) / (f + x.k)
		}
	default:
		for i := range docs {
			x := &docs[i]
			if at, ok := w.findIndex(x.doc); ok {
				f := float64(w.tfs[at])
				x.score += float64(gain*f) / (f + x.k)
			}
		}
	}
}

// hasFewCandidates reports whether so few documents meet the query's conditions that it is faster to look up the terms
// in each of these documents. Otherwise it is faster to process all postings of the terms.
func (b *maxScore) hasFewCandidates(postings int) bool {
	w := &b.filter
	return !w.acceptsAll && w.documentCount*fewDocumentsDivisor <= len(b.view.docLengths) &&
		w.documentCount*len(b.cursors) <= postings*postingsPerLookup
}

// scoreAllCandidates estimates the score of each document that meets the query's conditions.
func (b *maxScore) scoreAllCandidates() {
	n := 0
	complete := func() {
		for i := range b.candidateBatch[:n] {
			x := &b.candidateBatch[i]
			x.sum, x.k = 0, b.lengthBase+b.lengthSlope*float32(b.view.docLengths[x.doc])
		}
		b.completeCandidates(-1, b.candidateBatch[:n])
		n = 0
	}
	for i, set := range b.filter.documentBits {
		for ; set != 0 && b.remainingRefusals >= 0; set &= set - 1 {
			doc := uint32(64*i + bits.TrailingZeros64(set))
			if !b.filter.isInTime(doc) {
				continue
			}
			b.candidateBatch[n].doc = doc
			n++
			if n == batchSize {
				complete()
			}
		}
	}
	complete()
}
