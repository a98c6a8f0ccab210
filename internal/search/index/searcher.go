// Package index finds and ranks the documents that contain words of a query. A document is a set of terms. The caller
// decides which texts documents represent, and converts the texts to terms.
//
// The score of a document is a sum over the query's distinct terms in sorted order. Each term adds
//
//	weight · idf · tf·(k1+1) / (tf + k1·(1 − b + b·dl/avgdl))
//	idf = ln((N − df + 0.5)/(df + 0.5) + 1)
//
// where weight is the term's weight in the query, tf how often the term occurs in the document, df how many documents
// contain the term, dl how many terms the document has, avgdl the average dl, and N the number of documents. This is
// Okapi BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009) with Lucene's
// idf, which is never negative. A term's [FrequencyInLanguage] is added to N and df. N, df and avgdl are computed at
// the time of the query. A score is therefore identical to the last bit for any history of changes that led to the same
// documents.
//
// # Structure
//
// An Index has a Searcher, which contains N, avgdl and a list of views. A view consists of a segment and a list of the
// deleted documents in this segment. A segment contains these tables:
//
//	dictionary   hash of a text ──► number of a term
//	terms        number of a term ──► text, df, lost, and {document number, tf, impact}, or
//	             a list of such postings if several documents have the term
//	documents    document number ──► ID, times, dl
//
// Segments are immutable parts of the index. A change of many documents creates a new segment. A change also deletes
// the old versions of its documents from other segments. For each term, the new segment counts the documents with the
// term that were deleted in this way (lost). The df of a term in the whole index is the sum of df − lost over all
// segments. A change to few documents creates a new version of the memtable, a hash table of the newest documents
// (memtable.go). A full memtable becomes a segment. Segments of similar size are merged in the background. Readers use
// a searcher, which is also immutable. The next searcher is published by an atomic pointer. So readers never wait for a
// lock or a merge.
//
// A posting is a document that contains a term, with the term's frequency. The impact of a posting is a byte with an
// upper bound for what the term adds to the document's score. For a frequent term, a search mostly reads the impacts.
// It looks up the remaining terms only for documents that can still be among the best (maxscore.go). If a query has
// many terms, this takes too many lookups. The search then adds up the impacts of all terms, and looks up the terms
// only for documents with a high sum (scorebounds.go). In a small segment, a search adds up all postings (scan.go). All
// methods return identical scores.
//
// An index can be written to a snapshot and opened from it (snapshot.go). The terms of such a segment are read when a
// query needs them.
package index

import (
	"hash/maphash"
	"iter"
	"slices"
)

// Searcher is one state of the index, which never changes. It is safe for concurrent use.
type Searcher struct {
	params              Params
	seed                maphash.Seed
	views               []segmentView
	scoredDocumentCount int    // number of documents with terms, without deleted ones (N in [TermScore].IDF)
	totalLength         uint64 // sum of the lengths of the documents that scoredDocumentCount counts

	// countsDocFrequencies is set if document frequencies must be counted from the postings, because the counts in the
	// views do not consider which documents are deleted (see [Searcher.EarlierSearcher]).
	countsDocFrequencies bool
}

// Len returns the number of documents with terms. It is the number N in the scoring formula BM25.
func (x *Searcher) Len() int { return x.scoredDocumentCount }

// Err returns the error that occurred when the searcher read its snapshot, or nil. After an error, all results of the
// searcher must be discarded.
func (x *Searcher) Err() error {
	for i := range x.views {
		if img := x.views[i].snapshot; img != nil {
			if err := img.docs.Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// DocumentCount returns the number of documents, including documents without terms.
func (x *Searcher) DocumentCount() int {
	n := 0
	for i := range x.views {
		n += x.views[i].liveDocumentCount()
	}
	return n
}

func (x *Searcher) currentBM25Scale() bm25Scale {
	return x.params.newScale(x.scoredDocumentCount, x.totalLength)
}

// IDF returns the inverse document frequency of a term. The argument df is the number of documents that contain the
// term. The argument frequency describes how often the term occurs in its language.
func (x *Searcher) IDF(df int, frequency FrequencyInLanguage) float64 {
	return x.currentBM25Scale().idf(df, frequency)
}

func (x *Searcher) hashTerm(text string) uint64 { return maphash.String(x.seed, text) }

// locateDocument returns the part of the index that contains the document with this ID, and the document's number in
// that part.
func (x *Searcher) locateDocument(id uint64) (v *segmentView, number uint32, ok bool) {
	for i := len(x.views) - 1; i >= 0; i-- {
		v := &x.views[i]
		if n, ok := v.documentNumber(id); ok && !v.isDeleted(n) {
			return v, n, true
		}
	}
	return nil, 0, false
}

// DocumentData returns the data that the caller stored with the document with this ID. It is nil for documents in a
// snapshot. ok is false if no document has the ID.
func (x *Searcher) DocumentData(id uint64) (data any, ok bool) {
	v, n, ok := x.locateDocument(id)
	if !ok {
		return nil, false
	}
	return v.documentData(n), true
}

func (s *segment) documentData(docNumber uint32) any {
	if s.dataByDocument == nil {
		return nil
	}
	return s.dataByDocument[docNumber]
}

// EachDocument yields, for each document that is not deleted, the ID and the value of the field Data with which the
// caller added the document. Documents without terms are included. The order is not defined. The value is nil for a
// document in a snapshot, because a snapshot does not store it.
func (x *Searcher) EachDocument() iter.Seq2[uint64, any] {
	return func(yield func(uint64, any) bool) {
		for i := range x.views {
			v := &x.views[i]
			for n, id := range v.ids.allValues() {
				if !v.isDeleted(uint32(n)) && !yield(id, v.documentData(uint32(n))) {
					return
				}
			}
		}
	}
}

// DocumentFrequency returns the number of documents that contain the term.
func (x *Searcher) DocumentFrequency(term string) int {
	hash, df := x.hashTerm(term), 0
	viewDF := (*segmentView).termDF
	if x.countsDocFrequencies {
		viewDF = (*segmentView).countDF
	}
	for i := range x.views {
		df += viewDF(&x.views[i], term, hash)
	}
	return df
}

// DocumentIDs returns the IDs of the documents that contain the term, in ascending order.
func (x *Searcher) DocumentIDs(term string) []uint64 {
	var ids []uint64
	var room []posting
	hash := x.hashTerm(term)
	for i := range x.views {
		v := &x.views[i]
		alone := make([]posting, 0, 1)
		f, _ := v.findTerm(term, hash, &alone)
		for _, p := range f.allPostings(&room) {
			if !v.isDeleted(p.docNumber) {
				ids = append(ids, v.ids.valueAt(p.docNumber))
			}
		}
	}
	slices.Sort(ids)
	return ids
}

// TermsWithPrefix yields each term with this prefix, and the number of documents that contain it, in no particular
// order.
func (x *Searcher) TermsWithPrefix(prefix string) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for i := range x.views {
			more := true
			each, viewDF := x.views[i].eachTermWithPrefix, (*segmentView).termDF
			if x.countsDocFrequencies {
				each, viewDF = x.views[i].eachLiveTerm, (*segmentView).countDF
			}
			each(prefix, func(text string, df int) bool {
				if len(x.views) > 1 {
					hash := x.hashTerm(text)
					for j := range x.views {
						if j < i && x.views[j].hasTerm(text, hash) {
							return true // continue, because an earlier view has already yielded this term
						}
						if j != i {
							df += viewDF(&x.views[j], text, hash)
						}
					}
				}
				more = df <= 0 || yield(text, df)
				return more
			})
			if !more {
				return
			}
		}
	}
}

// hasTerm reports whether the segment contains a term with this text.
func (s *segment) hasTerm(text string, hash uint64) bool {
	if s.snapshot != nil {
		_, ok := s.snapshot.findTerm(text)
		return ok
	}
	_, ok := s.termNumber(text, hash)
	return ok
}
