// This file implements Index, which applies changes and publishes the resulting searchers.

package index

import (
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
)

// Index is an inverted index that can be changed. It is safe for concurrent use. Readers use the current
// [Index.Searcher], and each change publishes a new searcher.
type Index struct {
	params Params
	seed   maphash.Seed

	current atomic.Pointer[Searcher]

	mu sync.Mutex // held while a change is applied
	// parts of the index that are being merged in the background: first small parts, then large parts
	viewsBeingMerged [2][]segmentView
	mergeGroup       sync.WaitGroup
}

// New returns an empty index. It panics if K1 is negative, if B is not from 0 to 1, or if K1 or B is NaN.
func New(p Params) *Index {
	x := &Index{params: p.withDefaults(), seed: maphash.MakeSeed()}
	x.current.Store(&Searcher{params: x.params, seed: x.seed})
	return x
}

// Searcher returns the searcher for the state of the index after the last change.
func (x *Index) Searcher() *Searcher { return x.current.Load() }

// WaitForMerges waits until no merge is running in the background.
func (x *Index) WaitForMerges() { x.mergeGroup.Wait() }

// Apply makes several changes at once. Readers see either all changes or none. The index keeps references to the
// documents' Data and, for some time, to the texts of their terms.
func (x *Index) Apply(changes ...Change) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if now := x.current.Load(); len(changes) > 0 {
		x.publishSearcher(x.nextSearcher(now, lastChangePerDocument(changes)))
	}
}

// Put adds a document, or replaces the document with the same ID.
func (x *Index) Put(d Document) { x.Apply(Change{ID: d.ID, Document: &d}) }

// Delete deletes the document with this ID, if it exists.
func (x *Index) Delete(id uint64) { x.Apply(Change{ID: id}) }

// lastChangePerDocument returns the changes without those that a later change of the same document replaces.
func lastChangePerDocument(changes []Change) []Change {
	if len(changes) < 2 {
		return changes
	}
	last := make(map[uint64]int, len(changes))
	for i, c := range changes {
		last[c.ID] = i
	}
	if len(last) == len(changes) {
		return changes
	}
	var some []Change
	for i, c := range changes {
		if last[c.ID] == i {
			some = append(some, c)
		}
	}
	return some
}

// nextSearcher returns a searcher of the index that also contains the changes. Each change must be about a different
// document. A change without a Document removes a document. If there are few changes, they are applied to the memtable
// (the small segment for the newest documents). Otherwise the new documents become a new segment.
func (x *Index) nextSearcher(current *Searcher, changes []Change) *Searcher {
	terms := 0
	for _, c := range changes {
		if c.Document != nil {
			terms += len(c.Document.Terms)
		}
	}
	if len(changes) < maxMemtableDocs && terms < maxMemtablePostings {
		to := current.withViews(slices.Clone(current.views))
		to.addToMemtable(changes)
		return to
	}
	return current.withSegment(changes)
}

// withSegment returns a new searcher for the index after the changes were made. Each change must be about a different
// document. The new documents become a new segment.
func (x *Searcher) withSegment(changes []Change) *Searcher {
	to := x.withViews(slices.Clone(x.views))
	b := x.newBuilder()
	to.removeDocuments(changes, b.addTermOfDeletedDocument)
	for _, c := range changes {
		if c.Document != nil {
			b.addDocument(c.Document)
		}
	}
	to.scoredDocumentCount += b.segment.scoredDocumentCount
	to.totalLength += b.segment.totalDocumentLength
	to.views = append(to.views, segmentView{segment: b.finishSegment(to.currentBM25Scale())})
	return to
}

// addToMemtable applies the changes to the searcher x. The new documents are added to the memtable, a small segment for
// the newest documents. The searcher must not have been published yet, because readers would otherwise see the searcher
// change.
func (x *Searcher) addToMemtable(changes []Change) {
	at := slices.IndexFunc(x.views, func(v segmentView) bool { return v.memtable != nil && !v.memtable.isFull() })
	s, m := &segment{isAscending: true}, memtable{}
	if at >= 0 {
		s, m = x.views[at].segment.copyForGrowth(), *x.views[at].memtable
	}
	s.memtable = &m
	x.removeDocuments(changes, func(text string, hash uint64) { m.addPosting(text, hash, deletedElsewhereMark, 0) })
	counted, total := s.scoredDocumentCount, s.totalDocumentLength
	for _, c := range changes {
		d := c.Document
		if d == nil {
			continue
		}
		number := uint32(len(s.docLengths))
		s.isAscending = s.isAscending && (number == 0 || d.ID > s.ids.valueAt(number-1))
		s.addDocumentWithoutTerms(d, x.params.CountEmptyDocuments)
		for _, t := range d.Terms {
			if t.Frequency > 0 {
				m.addPosting(t.Text, x.hashTerm(t.Text), number, t.Frequency)
			}
		}
		m.postingEnds = append(m.postingEnds, uint32(len(m.postings)))
	}
	s.creationTimeRanges = timeBlocks(s.created.allValues())
	s.latestUpdateTimes = blockMaxima(s.updated.allValues())
	x.scoredDocumentCount += s.scoredDocumentCount - counted
	x.totalLength += s.totalDocumentLength - total
	switch {
	case at >= 0:
		x.views[at].segment = s
	case len(s.docLengths) > 0 || len(m.postings) > 0:
		x.views = append(x.views, segmentView{segment: s})
	}
}

// copyForGrowth returns a copy of a memtable's segment. Documents can be added to the copy, while readers use s.
func (s *segment) copyForGrowth() *segment {
	return &segment{
		ids:                 s.ids,
		updated:             s.updated,
		created:             s.created,
		signatures:          s.signatures,
		docLengths:          s.docLengths,
		dataByDocument:      s.dataByDocument,
		isAscending:         s.isAscending,
		scoredDocumentCount: s.scoredDocumentCount,
		totalDocumentLength: s.totalDocumentLength,
	}
}

// removeDocuments marks the documents in the changes as removed from the searcher x, and reduces the totals in x. The
// searcher must not have been published yet. The function countLostTerm is called for each term of each removed
// document. It is not called for a document in an ordinary segment that does not count for the scores.
func (x *Searcher) removeDocuments(changes []Change, countLostTerm func(text string, hash uint64)) {
	// segments whose bit set of deleted documents was already copied by this call, so that the copy may be changed
	owned := map[*segment]bool{}
	// numbers of the deleted documents whose terms must be found by reading all postings of the segment
	wanted := map[*segment][]uint32{}
	for _, c := range changes {
		v, number, ok := x.locateDocument(c.ID)
		if !ok {
			continue
		}
		switch dl := v.docLengths[number]; {
		case v.memtable != nil:
			v.memtable.eachDocumentTerm(
				number,
				func(n uint32) { countLostTerm(v.memtable.terms[n].text, v.memtable.terms[n].hash) },
			)
		case dl == unscoredDocumentLength:
		case c.Old != nil && min(c.Old.WeightedLength, unscoredDocumentLength-1) == dl:
			for _, text := range c.Old.distinctTerms() {
				countLostTerm(text, x.hashTerm(text))
			}
		default:
			wanted[v.segment] = append(wanted[v.segment], number)
		}
		if dl := v.docLengths[number]; dl != unscoredDocumentLength {
			x.scoredDocumentCount--
			x.totalLength -= uint64(dl)
		}
		*v = v.withoutDocument(number, owned[v.segment])
		owned[v.segment] = true
	}
	for _, v := range x.views {
		if documents := wanted[v.segment]; documents != nil {
			v.eachTermOfDocuments(documents, func(text string) { countLostTerm(text, x.hashTerm(text)) })
		}
	}
}

// NeedsOldDocument reports whether changing this document is slow unless [Change.Old] is set, because it must read all
// postings of a large segment.
func (x *Searcher) NeedsOldDocument(id uint64) bool {
	v, _, ok := x.locateDocument(id)
	return ok && v.memtable == nil
}

// publishSearcher makes searcher available to new readers, and starts merges of the index's segments in the background.
// The caller must hold x.mu.
//
// New documents are in memtables, which are small segments. If more than maxFullMemtables full memtables wait for a
// merge, the merges are too slow. publishSearcher then first merges these memtables itself, and publishes a searcher
// with the merged segment.
func (x *Index) publishSearcher(searcher *Searcher) {
	if full := smallViewsToMerge(searcher.views, x.allViewsBeingMerged()); len(full) > maxFullMemtables &&
		full[0].memtable != nil {
		if s := searcher.mergeViews(full); s != nil {
			searcher = searcher.withViews(replaceMergedViews(searcher.views, full, s))
		}
	}
	x.current.Store(searcher)
	for lane := range x.viewsBeingMerged {
		if x.viewsBeingMerged[lane] != nil {
			continue
		}
		choose := smallViewsToMerge
		if lane == 1 {
			choose = largeViewsToMerge
		}
		if merged := choose(searcher.views, x.allViewsBeingMerged()); merged != nil {
			x.startSegmentMerge(searcher, lane, merged)
		}
	}
}

// allViewsBeingMerged returns the parts of the index that are being merged. The caller must hold x.mu.
func (x *Index) allViewsBeingMerged() []segmentView { return slices.Concat(x.viewsBeingMerged[:]...) }

// withViews returns a searcher with the same documents as x, but arranged in other segments.
func (x *Searcher) withViews(views []segmentView) *Searcher {
	return &Searcher{
		params:              x.params,
		seed:                x.seed,
		views:               views,
		scoredDocumentCount: x.scoredDocumentCount,
		totalLength:         x.totalLength,
	}
}

// startSegmentMerge starts to merge segments in the background. segmentSizeGroup is 0 for small segments, and 1 for
// large segments. A merge of small segments and a merge of large segments can run at the same time. The caller must
// hold x.mu.
func (x *Index) startSegmentMerge(current *Searcher, segmentSizeGroup int, viewsBeingMerged []segmentView) {
	x.viewsBeingMerged[segmentSizeGroup] = viewsBeingMerged
	x.mergeGroup.Go(func() {
		s := current.mergeViews(viewsBeingMerged)
		x.mu.Lock()
		defer x.mu.Unlock()
		x.viewsBeingMerged[segmentSizeGroup] = nil
		// Discard the merged segment if a snapshot could not be read, or if Compact has removed the original segments
		// during the merge.
		if now := x.current.Load(); now.Err() == nil && containsAllSegments(now.views, viewsBeingMerged) {
			to := now.withViews(replaceMergedViews(now.views, viewsBeingMerged, s))
			// check again, because replaceMergedViews may have read the IDs of deleted documents from a snapshot
			if now.Err() == nil {
				x.publishSearcher(to)
			}
		}
	})
}

// isFullyCompacted reports whether Compact would change nothing. The result is true if the index has no segments. It is
// also true if the index has a single segment that is complete and has no deleted documents. A segment that is still
// growing (a memtable) is not complete.
func (x *Searcher) isFullyCompacted() bool {
	if len(x.views) != 1 {
		return len(x.views) == 0
	}
	return x.views[0].deletedCount == 0 && x.views[0].memtable == nil
}

// Compact merges all segments into a new segment, in which documents are ordered by ID and none is deleted. It returns
// the new searcher.
func (x *Index) Compact() *Searcher {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := x.current.Load()
	if now.isFullyCompacted() {
		return now
	}
	if s := now.mergeViews(now.views); now.Err() == nil {
		now = now.withViews([]segmentView{{segment: s}})
		x.current.Store(now)
	}
	return now
}
