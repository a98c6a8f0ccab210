// This file computes how much each query term contributes to the scores of many documents at once.

package index

import (
	"cmp"
	"slices"
)

// scoredDocument is a document for which ComputeTermScores computes the contribution of each query term to the score.
type scoredDocument struct {
	viewIndex        int
	documentNumber   uint32
	requestedIDIndex int // index of the document's ID in the argument ids of ComputeTermScores
}

// TermScores contains how much each query term contributes to the scores of some documents. The zero value is ready
// for [Searcher.ComputeTermScores], and a value can be reused.
type TermScores struct {
	Terms          []string  // the query's distinct valid terms, sorted
	TermScoreGains []float64 // largest possible contribution of each term to a document's score

	// for each document, and each term in Terms: contribution of the term to the document's score
	documentTermScores      []float64
	documentData            []any  // [Document.Data] of each document (an element may be nil)
	isIndexed               []bool // for each document, whether the index contains it
	documents               []scoredDocument
	consecutiveDocumentRuns [][]scoredDocument
}

// DocumentTermScores returns how much each term contributes to the score of a document. The argument i is the index of
// the document in the list that the caller passed to [Searcher.ComputeTermScores]. DocumentTermScores returns nil if
// the index does not contain the document.
func (p *TermScores) DocumentTermScores(i int) []float64 {
	if !p.isIndexed[i] {
		return nil
	}
	n := len(p.Terms)
	return p.documentTermScores[i*n : (i+1)*n : (i+1)*n]
}

// DocumentData returns the Data of document i. It is nil if the document lacks Data or is in a snapshot.
func (p *TermScores) DocumentData(i int) any { return p.documentData[i] }

// Release clears the term list and the document data list, so that the garbage collector can free the documents' Data.
func (p *TermScores) Release() {
	clear(p.Terms)
	clear(p.documentData)
}

// ComputeTermScores computes how much each term contributes to the scores of the documents with these IDs, and stores
// the result in p. The numbers are equal to the numbers from [Searcher.Explain], but are computed faster.
func (x *Searcher) ComputeTermScores(p *TermScores, ids []uint64, terms []QueryTerm) {
	q := newSearchState(x, terms)
	defer q.release()
	p.Terms, p.TermScoreGains = p.Terms[:0], append(p.TermScoreGains[:0], q.termScoreGains...)
	for _, w := range q.terms {
		p.Terms = append(p.Terms, w.Text)
	}
	p.documentTermScores = zeroedSlice(p.documentTermScores, len(ids)*len(q.terms))
	p.locateDocuments(x, ids)
	for _, run := range p.consecutiveDocumentRuns {
		v := &x.views[run[0].viewIndex]
		for k := range q.terms {
			f, gain := &q.foundTerms[run[0].viewIndex*len(q.terms)+k], q.termScoreGains[k]
			f.eachTermDocumentInRun(run, func(d scoredDocument, tf uint16) {
				p.documentTermScores[d.requestedIDIndex*len(q.terms)+k] = q.scale.score(
					gain,
					uint32(tf),
					v.docLengths[d.documentNumber],
				)
			})
		}
	}
}

// locateDocuments finds the documents with these IDs in the index x. It stores their positions in p.documents, and
// groups documents with consecutive numbers in p.consecutiveDocumentRuns. It leaves out documents that are missing,
// deleted or without a score. p.isIndexed and p.documentData get an element for each ID.
func (p *TermScores) locateDocuments(x *Searcher, ids []uint64) {
	p.documents = p.documents[:0]
	p.isIndexed, p.documentData = zeroedSlice(p.isIndexed, len(ids)), zeroedSlice(p.documentData, len(ids))
	for i, id := range ids {
		d, ok := scoredDocument{requestedIDIndex: i}, false
		// Documents are often numbered in the order of their IDs. Compute the probable position from the position of
		// the previous ID, because this is faster than a search.
		if last := len(p.documents) - 1; last >= 0 {
			o := p.documents[last]
			v := &x.views[o.viewIndex]
			d.viewIndex, d.documentNumber = o.viewIndex, o.documentNumber+uint32(id-ids[o.requestedIDIndex])
			ok = int(d.documentNumber) < len(v.docLengths) && v.ids.valueAt(d.documentNumber) == id &&
				!v.isDeleted(d.documentNumber)
		}
		for j := len(x.views) - 1; j >= 0 && !ok; j-- {
			v := &x.views[j]
			d.documentNumber, ok = v.documentNumber(id)
			if ok {
				d.viewIndex, ok = j, !v.isDeleted(d.documentNumber)
			}
		}
		if ok && x.views[d.viewIndex].docLengths[d.documentNumber] != unscoredDocumentLength {
			p.isIndexed[i], p.documentData[i] = true, x.views[d.viewIndex].documentData(d.documentNumber)
			p.documents = append(p.documents, d)
		}
	}
	order := func(a, b scoredDocument) int {
		return cmp.Or(cmp.Compare(a.viewIndex, b.viewIndex), cmp.Compare(a.documentNumber, b.documentNumber))
	}
	if !slices.IsSortedFunc(p.documents, order) {
		slices.SortFunc(p.documents, order)
	}
	p.consecutiveDocumentRuns = appendConsecutiveRuns(p.consecutiveDocumentRuns[:0], p.documents)
}

// zeroedSlice returns a slice of n zeros. It uses the memory of s if s is large enough.
func zeroedSlice[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// appendConsecutiveRuns divides docs into groups of documents that belong to the same view and have consecutive
// numbers. It appends each group as a run to the slice runs, and returns the slice. docs must be ordered by view and
// number.
func appendConsecutiveRuns(runs [][]scoredDocument, docs []scoredDocument) [][]scoredDocument {
	for len(docs) > 0 {
		n := 1
		for n < len(docs) && docs[n].viewIndex == docs[n-1].viewIndex &&
			docs[n].documentNumber == docs[n-1].documentNumber+1 {
			n++
		}
		runs, docs = append(runs, docs[:n]), docs[n:]
	}
	return runs
}

// eachTermDocumentInRun calls fn for each document in run that contains the term, with the term's frequency in the
// document. The documents in run must have consecutive numbers.
func (p *postings) eachTermDocumentInRun(run []scoredDocument, fn func(p scoredDocument, tf uint16)) {
	if p.columns != nil {
		for _, d := range run {
			if tf := p.columns.termFrequency(d.documentNumber); tf > 0 {
				fn(d, tf)
			}
		}
		return
	}
	if len(p.list) == 0 {
		return
	}
	first, n := run[0].documentNumber, uint32(len(run))
	for _, q := range p.list[p.findPostingIndex(first):] {
		if q.docNumber >= first+n {
			break
		}
		if q.docNumber >= first {
			fn(run[q.docNumber-first], q.termFrequency)
		}
	}
}
