// The account of a score.

package index

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
	IDF    float64 // ln((N − DF + 0.5)/(DF + 0.5) + 1), the term's prior counted in both
	Score  float64
}

// Explain accounts for the score that [Searcher.Search] gives to the document,
// to the last bit. It reports false when there is no such document, or it has no
// terms.
func (x *Searcher) Explain(id uint64, terms []QueryTerm) (Explanation, bool) {
	at, number, ok := x.locate(id)
	if !ok || at.lens[number] == unscored {
		return Explanation{}, false
	}
	q := newQuery(x, terms)
	defer q.release()
	s, dl := q.s, at.lens[number]
	e := Explanation{N: x.live, Len: float64(dl) / One, AvgLen: s.avgdl, Terms: make([]TermScore, 0, len(q.terms))}
	for k, w := range q.terms {
		ts := TermScore{Term: w.Text, Weight: w.Weight, DF: q.dfs[k], IDF: s.idf(q.dfs[k], w.Prior)}
		for i := range x.views {
			if &x.views[i] != at {
				continue
			}
			if tf := uint32(q.found[i*len(q.terms)+k].tf(number)); tf > 0 {
				ts.TF = float64(tf) / One
				ts.Score = s.score(q.gains[k], tf, dl)
			}
		}
		e.Score += ts.Score
		e.Terms = append(e.Terms, ts)
	}
	return e, true
}
