// This file decides which parts of the index (segments) are merged into larger parts, and merges them.

package index

import (
	"cmp"
	"hash/maphash"
	"math"
	"math/bits"
	"slices"
)

// Segments are classified by size. The segments in a class are up to eight times as large as the segments in the class
// before. If a class has segmentsPerMerge segments, or largeSegmentsPerMerge segments in a large class, these are
// merged into one.
//
// A memtable has class 0 and is converted to a segment when it is full. A segment with too many deleted documents is
// merged with all smaller segments. These are newer and count, for each term, the documents that were deleted from
// older segments. The merge makes these counts unnecessary.
const (
	sizeClassBits    = 3
	segmentsPerMerge = 4
	// segmentsPerMerge for large segments. It is smaller, because large segments have most of their terms in common.
	largeSegmentsPerMerge = 3
	// smallest class whose segments are large. Large segments are merged separately, so that small segments do not
	// wait for them.
	minLargeSizeClass = 4
	// maximum number of full memtables that wait for a merge in the background. If there are more, the next change
	// merges them before it returns.
	maxFullMemtables = 8
	// minimum number of deleted documents for rewriting a segment; also, at least 3 in 10 documents must be deleted
	minDeletedDocs = 64
)

func (v *segmentView) segmentSizeClass() int {
	if v.memtable != nil {
		return 0
	}
	return max(1, bits.Len(uint(v.liveDocumentCount()+len(v.terms)/256))/sizeClassBits)
}

// smallViewsToMerge returns the small parts of the index that should be merged next, or nil. It ignores memtables that
// are not full and parts that are already being merged.
func smallViewsToMerge(views, viewsBeingMerged []segmentView) []segmentView {
	return viewsToMerge(views, viewsBeingMerged, func(class int) bool { return class < minLargeSizeClass })
}

// largeViewsToMerge returns the large parts of the index that should be merged next, or nil. A part is large if its
// size class is minLargeSizeClass or above. Parts that are already being merged are ignored.
func largeViewsToMerge(views, viewsBeingMerged []segmentView) []segmentView {
	return viewsToMerge(views, viewsBeingMerged, func(class int) bool { return class >= minLargeSizeClass })
}

// viewsToMerge returns the segments that should be merged next, or nil if no merge is useful. Only segments whose size
// class isWantedSizeClass accepts cause a merge. Usually the result is a group of segments of the same class. But if
// one of these segments has many deleted documents, the result is this segment with all segments, of any class, that
// have no more documents. Segments that are already being merged and memtables that are not full are ignored.
func viewsToMerge(views, viewsBeingMerged []segmentView, isWantedSizeClass func(class int) bool) []segmentView {
	var byClass [24][]segmentView
	for _, v := range views {
		if hasSegment(viewsBeingMerged, v) || v.isGrowingMemtable() {
			continue
		}
		c := v.segmentSizeClass()
		if !isWantedSizeClass(c) {
			continue
		}
		if v.deletedCount >= minDeletedDocs && v.deletedCount*10 > len(v.docLengths)*3 {
			return slices.DeleteFunc(slices.Clone(views), func(w segmentView) bool {
				return w.liveDocumentCount() > v.liveDocumentCount() || hasSegment(viewsBeingMerged, w) ||
					w.isGrowingMemtable()
			})
		}
		byClass[c] = append(byClass[c], v)
	}
	for c, some := range byClass {
		most := segmentsPerMerge
		switch {
		case c == 0:
			most = 1
		case c >= minLargeSizeClass:
			most = largeSegmentsPerMerge
		}
		if len(some) >= most {
			return some
		}
	}
	return nil
}

// hasSegment reports whether an element of views refers to the same segment, a part of the index, as v. The two views
// of the segment may differ in the documents that are marked as deleted.
func hasSegment(views []segmentView, v segmentView) bool {
	return slices.ContainsFunc(views, func(w segmentView) bool { return w.segment == v.segment })
}

// isGrowingMemtable reports whether the view belongs to a memtable that is not full yet.
func (v *segmentView) isGrowingMemtable() bool {
	return v.memtable != nil && !v.memtable.isFull()
}

// containsAllSegments reports whether views contains a view of each segment in the list wanted. A segment is a part of
// the index. The two views of a segment may differ in the documents that are marked as deleted.
func containsAllSegments(views, wanted []segmentView) bool {
	return !slices.ContainsFunc(wanted, func(v segmentView) bool { return !hasSegment(views, v) })
}

// mergeViews merges several parts of the index into a new part without the deleted documents. A part of the index also
// stores, for each term, how many documents with this term were deleted from other parts. mergeViews adds up these
// numbers of the merged parts. With the numbers, the index can determine how many documents in the whole index contain
// a term. If a file cannot be read, mergeViews returns nil, and x.Err returns the error.
func (x *Searcher) mergeViews(views []segmentView) *segment {
	b, sc := x.newBuilder(), x.currentBM25Scale()
	s := b.segment
	views = slices.Clone(views)
	// If possible, order the segments so that the IDs of their documents ascend.
	slices.SortStableFunc(views, func(v, w segmentView) int { return cmp.Compare(v.firstID(), w.firstID()) })
	// for each merged part of the index, each document's number in the new part
	numbers := make([][]uint32, len(views))
	for i := range views {
		numbers[i] = b.copyDocuments(&views[i])
	}
	largest := 0
	for i := range views {
		largest = max(largest, views[i].termCount())
	}
	s.terms = make([]term, 0, largest+largest/2)
	s.termTable.reserve(cap(s.terms))
	// for each term in each segment, the number of the term in the merged segment
	terms := make([][]uint32, len(views))
	var room []posting
	for i := range views {
		terms[i] = b.copyTerms(&views[i], &room)
	}
	l := newPostingListFiller(s)
	for i := range views {
		for n, to := range terms[i] {
			if to == deletedNumberMark {
				continue
			}
			for _, p := range views[i].termPostings(n, &room) {
				if number := numbers[i][p.docNumber]; number != deletedNumberMark {
					l.pushPosting(
						to,
						posting{number, p.termFrequency, sc.scoreImpact(p.termFrequency, s.docLengths[number])},
					)
				}
			}
		}
	}
	if x.Err() != nil { // A posting list could not be read.
		return nil
	}
	l.finishSearchTables(sc.adjustedK1Slope)
	return s
}

// firstID returns the ID of the first document, or 0 if the segment is empty.
func (s *segment) firstID() uint64 {
	if len(s.docLengths) == 0 {
		return 0
	}
	return s.ids.valueAt(0)
}

// deletedNumberMark replaces the number of a document or term that the merged segment does not contain.
const deletedNumberMark = math.MaxUint32

// copyDocuments adds the documents of a view to the builder, except deleted documents. It returns the new number of
// each document.
func (b *builder) copyDocuments(v *segmentView) []uint32 {
	s := b.segment
	numbers := make([]uint32, len(v.docLengths))
	ids := v.ids.allValues()
	updated := v.updated.allValues()
	created := v.created.allValues()
	for i, id := range ids {
		if v.isDeleted(uint32(i)) {
			numbers[i] = deletedNumberMark
			continue
		}
		numbers[i] = uint32(len(s.docLengths))
		s.ids.appendValue(id)
		s.updated.appendValue(updated[i])
		s.created.appendValue(created[i])
		s.signatures.appendCopy(&v.signatures, uint32(i))
		s.docLengths = append(s.docLengths, v.docLengths[i])
		s.dataByDocument = append(s.dataByDocument, v.documentData(uint32(i)))
		if v.docLengths[i] != unscoredDocumentLength {
			s.scoredDocumentCount++
			s.totalDocumentLength += uint64(v.docLengths[i])
		}
	}
	return numbers
}

// copyTerms adds the terms in v, a part of the index, to the builder, together with their document counts. It returns,
// for each term in v, the term's number in the builder. A term is not added if no remaining document in v contains the
// term, and if v records no deletions of documents with the term from other index parts. The number of such a term is
// deletedNumberMark. The argument scratch is memory that is reused.
func (b *builder) copyTerms(v *segmentView, scratch *[]posting) []uint32 {
	numbers := make([]uint32, v.termCount())
	for n := range numbers {
		t := v.termCountsAt(n)
		df := t.docFrequency
		if v.deletedCount > 0 {
			df = 0
			for _, p := range v.termPostings(n, scratch) {
				if !v.isDeleted(p.docNumber) {
					df++
				}
			}
		}
		lost := t.deletedElsewhereCount - (t.docFrequency - df)
		if df == 0 && lost == 0 {
			numbers[n] = deletedNumberMark
			continue
		}
		hash := maphash.String(b.seed, t.text)
		to, ok := b.segment.termNumber(t.text, hash)
		if !ok {
			to = b.newTerm(t.text, hash)
		}
		b.segment.terms[to].docFrequency += uint32(df)
		b.segment.terms[to].deletedElsewhereCount += int32(lost)
		numbers[n] = to
	}
	return numbers
}

// replaceMergedViews returns the index's parts after a merge. The parts in merged are replaced by result, which
// contains their documents. A document that was deleted during the merge is also deleted in the new part.
func replaceMergedViews(views, merged []segmentView, result *segment) []segmentView {
	next := segmentView{segment: result}
	rest := make([]segmentView, 0, len(views))
	owned := false
	for _, v := range views {
		i := slices.IndexFunc(merged, func(m segmentView) bool { return m.segment == v.segment })
		if i < 0 {
			rest = append(rest, v)
			continue
		}
		for w := range v.deletedBitSet {
			since := v.deletedBitSet[w]
			if old := merged[i].deletedBitSet; old != nil {
				since &^= old[w]
			}
			for ; since != 0; since &= since - 1 {
				id := v.ids.valueAt(uint32(64*w + bits.TrailingZeros64(since)))
				if number, ok := result.documentNumber(id); ok {
					next, owned = next.withoutDocument(number, owned), true
				}
			}
		}
	}
	// Put large segments first. A search finds many hits there, and can then skip documents in later segments that
	// have low scores.
	at, _ := slices.BinarySearchFunc(
		rest,
		next,
		func(a, b segmentView) int { return b.liveDocumentCount() - a.liveDocumentCount() },
	)
	return slices.Insert(rest, at, next)
}
