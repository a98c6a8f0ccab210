// This file explains how the score of a document is computed.

package index

// An Explanation explains a document's score.
type Explanation struct {
	DocumentCount int         // number of documents in the index (N)
	Len           float64     // number of words in the document (dl)
	AvgLen        float64     // average number of words in a document (avgdl)
	Terms         []TermScore // one element for each distinct valid term of the query, sorted by term
	Score         float64     // sum of the terms' scores, added in this order
}

// A TermScore says how much a term adds to a document's score. The score is 0 if the document does not contain the
// term.
type TermScore struct {
	Term              string
	Weight            float64 // weight of the term in the query
	Occurrences       float64 // occurrences in the document, in steps of 1/16, because field weights count
	DocumentFrequency int     // number of documents that contain the term
	// ln((N − DF + 0.5)/(DF + 0.5) + 1), after the term's [FrequencyInLanguage] was added to N and DF
	IDF   float64
	Score float64
}

// Explain returns the contribution of each term to a document's score. The sum is exactly the score that
// [Searcher.Search] computes, without rounding differences. The second result is false if the document does not exist
// or lacks terms.
func (x *Searcher) Explain(id uint64, terms []QueryTerm) (Explanation, bool) {
	at, number, ok := x.locateDocument(id)
	if !ok || at.docLengths[number] == unscoredDocumentLength {
		return Explanation{}, false
	}
	q := newSearchState(x, terms)
	defer q.release()
	s, dl := q.scale, at.docLengths[number]
	e := Explanation{
		DocumentCount: x.scoredDocumentCount,
		Len:           float64(dl) / FrequencyPerOccurrence,
		AvgLen:        s.averageLength,
		Terms:         make([]TermScore, 0, len(q.terms)),
	}
	for k, w := range q.terms {
		ts := TermScore{
			Term:              w.Text,
			Weight:            w.Weight,
			DocumentFrequency: q.documentCounts[k],
			IDF:               s.idf(q.documentCounts[k], w.PriorFrequency),
		}
		for i := range x.views {
			if &x.views[i] != at {
				continue
			}
			if tf := uint32(q.foundTerms[i*len(q.terms)+k].termFrequency(number)); tf > 0 {
				ts.Occurrences = float64(tf) / FrequencyPerOccurrence
				ts.Score = s.score(q.termScoreGains[k], tf, dl)
			}
		}
		e.Score += ts.Score
		e.Terms = append(e.Terms, ts)
	}
	return e, true
}
