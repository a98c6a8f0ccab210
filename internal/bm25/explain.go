// This file holds the account of a score.

package bm25

// Explanation accounts for a document's score.
type Explanation struct {
	N      int         // documents in the index
	Len    float64     // terms in the document, dl
	AvgLen float64     // terms in a document on average, avgdl
	Terms  []TermScore // the query's terms, sorted, without repeats and those left out
	Score  float64     // the sum of the terms' scores in that order
}

// TermScore is what one term gave to a score. A term that the document does
// not hold gave 0.
type TermScore struct {
	Term   string
	Weight float64 // of the term in the query
	TF     float64 // times the term stands in the document, in steps of 1/16
	DF     int     // documents that hold the term
	IDF    float64 // ln((N − DF + 0.5)/(DF + 0.5) + 1)
	Score  float64
}

// Explain accounts for the score that [Index.Search] gives to the document, to
// the last bit if the index did not change in between. It reports false when
// there is no such document.
func (x *Index) Explain(id uint64, terms []QueryTerm) (Explanation, bool) {
	q := newQuery(terms)
	defer q.release()
	x.needFor(q.terms)
	x.mu.RLock()
	defer x.mu.RUnlock()

	number, ok := x.number(id)
	if !ok {
		return Explanation{}, false
	}
	s, dl := x.scale(), x.lens[number]
	e := Explanation{N: x.living, Len: float64(dl) / One, AvgLen: s.avgdl, Terms: make([]TermScore, 0, len(q.terms))}
	for _, w := range q.terms {
		ts := TermScore{Term: w.Text, Weight: w.Weight, IDF: s.idf(0)}
		if n, ok := x.lookUp(w.Text); ok {
			t := &x.terms[n]
			ts.DF, ts.IDF = int(t.df), s.idf(t.df)
			if tf := uint32(x.tf(t, number)); tf > 0 {
				ts.TF = float64(tf) / One
				ts.Score = s.score(s.gain(ts.IDF, w.Weight), tf, dl)
			}
		}
		e.Score += ts.Score
		e.Terms = append(e.Terms, ts)
	}
	return e, true
}
