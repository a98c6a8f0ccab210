// This file makes searchers that search the memory as it was at an earlier time. Such a searcher is made from the
// present searcher.

package index

import (
	"iter"

	"github.com/oxbow-memory/oxbow/internal/base/idset"
)

// EarlierState describes an earlier state of the index. The documents of the earlier state are the present documents
// without the documents in the set ChangedIDs, together with the documents that the field Documents yields.
type EarlierState struct {
	ChangedIDs *idset.Set

	// Documents yields the documents of the earlier state that differ from the present state or are missing there. Each
	// document is used only until the next document is requested. A document may lack some of its terms, but its field
	// WeightedLength must count all terms. If documents lack terms, the searcher must be asked only for the terms that
	// the documents contain.
	Documents iter.Seq[*Document]

	// HasPartialDocuments is set if Documents may lack terms. A document without terms then counts like others.
	HasPartialDocuments bool
}

// EarlierSearcher returns a searcher for the earlier state e of the index. Its results are the same as those of an
// index that contains only the documents of the earlier state. The documents in e.ChangedIDs differ between the two
// states. EarlierSearcher does not read the terms of these documents. Instead, the searcher counts the documents with a
// term when a query needs this number.
func (x *Searcher) EarlierSearcher(e EarlierState) *Searcher {
	to := &Searcher{
		params:               x.params,
		seed:                 x.seed,
		views:                make([]segmentView, len(x.views), len(x.views)+1),
		scoredDocumentCount:  x.scoredDocumentCount,
		totalLength:          x.totalLength,
		countsDocFrequencies: true,
	}
	for i := range x.views {
		v := x.views[i]
		deleted := make([]uint64, (len(v.docLengths)+63)/64)
		copy(deleted, v.deletedBitSet)
		v.deletedBitSet = deleted
		to.views[i] = v
		to.deleteDocuments(&to.views[i], e.ChangedIDs)
	}
	b := x.newBuilder()
	b.countsEmptyDocuments = b.countsEmptyDocuments || e.HasPartialDocuments
	for d := range e.Documents {
		b.addDocument(d)
	}
	if len(b.segment.docLengths) > 0 {
		to.scoredDocumentCount += b.segment.scoredDocumentCount
		to.totalLength += b.segment.totalDocumentLength
		to.views = append(to.views, segmentView{segment: b.finishSegment(to.currentBM25Scale())})
	}
	return to
}

// idsPerLookup is the number of document IDs that can be compared in the time in which one ID is looked up.
const idsPerLookup = 16

// deleteDocuments marks the documents with these IDs as deleted in one part of the index. v is a view of this part,
// and must not share its deletion marks with another searcher.
func (x *Searcher) deleteDocuments(v *segmentView, ids *idset.Set) {
	if ids.Len() < len(v.docLengths)/idsPerLookup {
		for id := range ids.All() {
			if number, ok := v.documentNumber(id); ok {
				x.deleteDocument(v, number)
			}
		}
		return
	}
	for number, id := range v.ids.allValues() {
		if ids.Has(id) {
			x.deleteDocument(v, uint32(number))
		}
	}
}

func (x *Searcher) deleteDocument(v *segmentView, number uint32) {
	if v.isDeleted(number) {
		return
	}
	v.deletedBitSet[number/64] |= 1 << (number % 64)
	v.deletedCount++
	if dl := v.docLengths[number]; dl != unscoredDocumentLength {
		x.scoredDocumentCount--
		x.totalLength -= uint64(dl)
	}
}
