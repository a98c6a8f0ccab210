// This file evaluates the conditions of a search: required and excluded terms, and a time range. For each part of the
// index, the search first computes which documents meet the conditions. Then it ranks these documents.

package index

import (
	"math"
	"math/bits"
	"slices"
)

// filterSet is the set of documents in a view that meet a search's conditions.
type filterSet struct {
	// the query has no conditions, so every document is accepted and the fields below are not used
	acceptsAll            bool
	documentBits          []uint64 // for each document of the view: whether it meets the conditions
	matchingDocumentCount int      // number of documents that meet the conditions, including deleted documents
	// matchingDocumentCount divided by the number of documents in the view (1 if the view is empty)
	matchingDocumentShare float64
	scratchBits           []uint64 // reused memory for the bits of one condition

	// If unappliedRange is not nil, documentBits does not take this range of times into account completely. The search
	// must then also call isCreatedInRange for each document that it reaches.
	unappliedRange *TimeRange
	creationTimes  *column[int64]

	// for each of the query's Checks, and each of its terms: the documents of the view that contain the term
	checkedDocuments [][]docSet
}

// accepts reports whether a document meets all conditions of the query.
func (w *filterSet) accepts(docNumber uint32) bool {
	return w.acceptsAll || (w.hasBit(docNumber) && w.isCreatedInRange(docNumber))
}

// hasBit reports whether the bit of the document with this number is set in documentBits. If unappliedRange is nil, a
// set bit means that the document meets all conditions of the search. Otherwise the caller must also call
// isCreatedInRange, because documentBits does not take the range of times into account completely. Do not call hasBit
// if acceptsAll is set, because documentBits is then invalid.
func (w *filterSet) hasBit(number uint32) bool { return w.documentBits[number/64]>>(number%64)&1 != 0 }

// blockDocumentBits returns 64 bits for the documents from 64*block to 64*block+63. A bit is set if its document meets
// the conditions of the search. One condition may not be checked yet: if w.unappliedRange is not nil, the caller must
// also call isCreatedInRange for each document.
func (w *filterSet) blockDocumentBits(block int) uint64 {
	if !w.acceptsAll {
		return w.documentBits[block]
	}
	return 1<<min(64, w.matchingDocumentCount-64*block) - 1
}

// isCreatedInRange reports whether a document's creation time is in unappliedRange. It returns true if the range is
// nil, because the range was then already applied to documentBits.
func (w *filterSet) isCreatedInRange(docNumber uint32) bool {
	return w.unappliedRange == nil || w.unappliedRange.containsTime(w.creationTimes.valueAt(docNumber))
}

// computeMatchingDocuments computes the set of documents in a view that meet a query's conditions.
// expectedDocumentVisits is an estimate of how often the search will ask whether a document is in the set.
func (w *filterSet) computeMatchingDocuments(
	v *segmentView,
	query *Query,
	hash func(string) uint64,
	expectedDocumentVisits int,
) {
	w.findCheckedDocuments(v, query.Checks, hash)
	w.acceptsAll = len(query.Conditions) == 0 && query.CreatedRange == nil
	w.unappliedRange = nil
	w.matchingDocumentCount = len(v.docLengths)
	w.matchingDocumentShare = 1
	if w.acceptsAll || w.matchingDocumentCount == 0 {
		return
	}
	words := (len(v.docLengths) + 63) / 64
	w.documentBits = slices.Grow(w.documentBits[:0], words)[:words]
	for i := range w.documentBits {
		w.documentBits[i] = ^uint64(0)
	}
	if rest := len(v.docLengths) % 64; rest > 0 {
		w.documentBits[words-1] = 1<<rest - 1
	}
	if !w.applyTermConditions(v, query.Conditions, hash) {
		w.matchingDocumentCount, w.matchingDocumentShare = 0, 0
		return
	}
	if query.CreatedRange != nil {
		w.applyTimeRange(v, query.CreatedRange, expectedDocumentVisits)
	}
	w.countMatchingDocuments()
	if w.matchingDocumentCount*pairLookupDivisor <= len(v.docLengths) {
		w.applyPairs(v, query.Checks)
	}
	w.matchingDocumentShare = float64(w.matchingDocumentCount) / float64(len(v.docLengths))
}

// findCheckedDocuments sets w.checkedDocuments. For each element of checks, this field contains a list with the
// documents in v that contain the check's first term, its second term, and so on.
func (w *filterSet) findCheckedDocuments(v *segmentView, checks []DocumentCheck, hash func(string) uint64) {
	w.checkedDocuments = nil
	for _, c := range checks {
		documents := make([]docSet, len(c.Terms))
		for i, text := range c.Terms {
			documents[i] = v.termDocuments(text, hash(text))
		}
		w.checkedDocuments = append(w.checkedDocuments, documents)
	}
}

// passesChecks reports whether a document meets the conditions that the caller of the search has set as functions.
// These functions are ask.AcceptDocument and the function Matches of each element in ask.Checks. The functions are
// slow, so call passesChecks only for a document that would otherwise be a hit.
func (w *filterSet) passesChecks(v *segmentView, ask *Query, number uint32) bool {
	// Before reading an entry, exclude the document if it lacks the words or pairs of a check.
	for i, c := range ask.Checks {
		if !c.IsNegated && !w.mayMatchCheck(v, i, &c, number) {
			return false
		}
	}
	if ask.AcceptDocument != nil && !ask.AcceptDocument(v.ids.valueAt(number)) {
		return false
	}
	for i, c := range ask.Checks {
		matches := w.mayMatchCheck(v, i, &c, number) && c.Matches(v.ids.valueAt(number))
		if matches == c.IsNegated {
			return false
		}
	}
	return true
}

// mayMatchCheck reports whether a document may match the check c of a query. The document must contain all terms of the
// check, and its signature must show that it may contain the check's pairs of words. The argument i is the index of the
// check, and number is the number of the document.
func (w *filterSet) mayMatchCheck(v *segmentView, i int, c *DocumentCheck, number uint32) bool {
	lacksDocument := func(d docSet) bool { return !d.hasDocument(number) }
	return !slices.ContainsFunc(w.checkedDocuments[i], lacksDocument) && v.signatures.mayContain(number, c.PairHashes)
}

func (w *filterSet) countMatchingDocuments() {
	w.matchingDocumentCount = 0
	for _, set := range w.documentBits {
		w.matchingDocumentCount += bits.OnesCount64(set)
	}
}

// If at most 1 in pairLookupDivisor documents meet the conditions, the pairs of words in the query's checks are looked
// up in all these documents before the search. Otherwise they are looked up in the documents that the search reaches,
// because the search often ends after few documents.
const pairLookupDivisor = 32

// applyPairs removes from w the documents that cannot be hits, because they lack consecutive word pairs that a check
// requires. A check is a condition about the words of a document. Negated checks and checks without pairs are skipped.
// The index stores pairs so that it may falsely find a pair, but never misses a pair of a document.
func (w *filterSet) applyPairs(v *segmentView, checks []DocumentCheck) {
	for i := range checks {
		c := &checks[i]
		if c.IsNegated || len(c.PairHashes) == 0 {
			continue
		}
		for block, set := range w.documentBits {
			for ; set != 0; set &= set - 1 {
				bit := bits.TrailingZeros64(set)
				if !w.mayMatchCheck(v, i, c, uint32(64*block+bit)) {
					w.documentBits[block] &^= 1 << bit
				}
			}
		}
		w.countMatchingDocuments()
	}
}

// applyTermConditions removes the documents that do not meet the conditions, and reports whether some documents are
// left. It applies the required terms before the excluded terms: a required term often leaves no document, and then
// the long lists of excluded terms need not be read.
func (w *filterSet) applyTermConditions(
	v *segmentView,
	conditions []TermCondition,
	hash func(string) uint64,
) (hasDocumentsLeft bool) {
	hasDocumentsLeft = true
	for _, c := range conditions {
		if hasDocumentsLeft && !c.IsNegated {
			hasDocumentsLeft = w.applyTermCondition(v, c, hash)
		}
	}
	for _, c := range conditions {
		if hasDocumentsLeft && c.IsNegated {
			hasDocumentsLeft = w.applyTermCondition(v, c, hash)
		}
	}
	return hasDocumentsLeft
}

// applyTermCondition removes the documents that do not meet the condition, and reports whether some documents are left.
func (w *filterSet) applyTermCondition(
	v *segmentView,
	c TermCondition,
	hash func(string) uint64,
) (hasDocumentsLeft bool) {
	w.scratchBits = slices.Grow(w.scratchBits[:0], len(w.documentBits))[:len(w.documentBits)]
	clear(w.scratchBits)
	for _, text := range c.Terms {
		v.addTermDocs(w.scratchBits, text, hash(text))
	}
	flip := uint64(0)
	if c.IsNegated {
		flip = ^flip
	}
	left := uint64(0)
	for i, set := range w.scratchBits {
		w.documentBits[i] &= set ^ flip
		left |= w.documentBits[i]
	}
	return left != 0
}

// applyTimeRange removes the documents that were not created in the time range t from the set. If the times of 64
// successive documents (a block) are all outside the range, it removes the whole block. If only some are outside, it
// must read the times of all documents of the segment. If the search will probably examine only few documents
// (expectedDocumentVisits), it is faster to check the time when a document is examined. In this case, applyTimeRange
// leaves these blocks in the set, and sets w.unappliedRange, so that the times are checked later.
func (w *filterSet) applyTimeRange(v *segmentView, t *TimeRange, expectedDocumentVisits int) {
	w.creationTimes = &v.created
	blocks := v.blockTimeRanges()
	var created []int64
	if expectedDocumentVisits < lateTimeCheckLimit(blocks, t) {
		w.unappliedRange = t
	} else {
		created = v.created.allValues()
	}
	for i, block := range blocks {
		switch {
		case w.documentBits[i] == 0 || (t.containsTime(block.firstTime) && t.containsTime(block.lastTime)):
		case block.lastTime < t.FirstTime || block.firstTime > t.LastTime:
			w.documentBits[i] = 0
		case w.unappliedRange == nil:
			for j := range min(64, len(v.docLengths)-64*i) {
				if !t.containsTime(created[64*i+j]) {
					w.documentBits[i] &^= 1 << j
				}
			}
		}
	}
}

// lateTimeCheckCost is the factor for an estimate. If a search compares a document's time only when it reaches the
// document, and if one in k documents is in the time range, the search compares about lateTimeCheckCost·k times.
const lateTimeCheckCost = 4096

// lateTimeCheckLimit helps to choose between two ways to check the time range t in a search. The first way checks the
// time of each document that the search visits. The second way checks the times of all documents in partly matching
// blocks before the search. A block has 64 documents. lateTimeCheckLimit returns the number of visited documents from
// which the second way is faster, or math.MaxInt if the second way is never faster. The estimate assumes that the times
// in a block are evenly spread.
func lateTimeCheckLimit(blocks []blockTimeRange, t *TimeRange) int {
	partial, in := 0, 0.0
	for _, b := range blocks {
		switch {
		case b.lastTime < t.FirstTime || b.firstTime > t.LastTime:
		case t.containsTime(b.firstTime) && t.containsTime(b.lastTime):
			in++
		default:
			partial++
			in += (float64(min(b.lastTime, t.LastTime)) - float64(max(b.firstTime,
				t.FirstTime))) / (float64(b.lastTime) - float64(b.firstTime))
		}
	}
	if compared := lateTimeCheckCost * float64(len(blocks)) / max(in, 1); compared < float64(64*partial) {
		return math.MaxInt
	}
	return 64 * partial
}

// If fewer than 1 in fewMatchesDivisor documents meet the conditions, the search does not process all postings.
// Instead, it looks up the query's terms in each document that meets the conditions. Looking up one term in one
// document takes as long as skipping postingsPerTermLookup postings.
const (
	fewMatchesDivisor     = 200
	postingsPerTermLookup = 4
)
