// This file computes each term's contributions to the scores of many documents at
// once.

package index

import (
	"cmp"
	"slices"
)

// place is a document whose scores are computed.
type place struct {
	view   int
	number uint32
	at     int // index in the list of IDs
}

// TermScores has each query term's contributions to the scores of some documents. The zero
// value is ready for [Searcher.TermScores]. A value can be reused.
type TermScores struct {
	Terms []string  // distinct valid terms of the query, sorted
	Gains []float64 // maximum contribution of each term

	given  []float64 // contributions by document and term
	data   []any     // the documents' Data (elements may be nil)
	there  []bool    // whether each document is in the index
	places []place
	runs   [][]place
}

// Of returns each term's contribution to the score of the i-th document that was passed
// to [Searcher.TermScores]. It returns nil if the document is not in the index.
func (p *TermScores) Of(i int) []float64 {
	if !p.there[i] {
		return nil
	}
	n := len(p.Terms)
	return p.given[i*n : (i+1)*n : (i+1)*n]
}

// Data returns the Data of document i. It is nil if the document has no Data or is in a
// snapshot.
func (p *TermScores) Data(i int) any { return p.data[i] }

// Release drops references to data of documents.
func (p *TermScores) Release() {
	clear(p.Terms)
	clear(p.data)
}

// TermScores computes how much each term contributes to the scores of the documents with these IDs,
// and stores the contributions in p. The numbers equal the numbers of [Searcher.Explain], but are
// computed faster.
func (x *Searcher) TermScores(p *TermScores, ids []uint64, terms []QueryTerm) {
	q := newQuery(x, terms)
	defer q.release()
	p.Terms, p.Gains = p.Terms[:0], append(p.Gains[:0], q.gains...)
	for _, w := range q.terms {
		p.Terms = append(p.Terms, w.Text)
	}
	p.given = zeroedSlice(p.given, len(ids)*len(q.terms))
	p.locate(x, ids)
	for _, run := range p.runs {
		v := &x.views[run[0].view]
		for k := range q.terms {
			f, gain := &q.found[run[0].view*len(q.terms)+k], q.gains[k]
			f.eachInRun(run, func(d place, tf uint16) {
				p.given[d.at*len(q.terms)+k] = q.s.score(gain, uint32(tf), v.lens[d.number])
			})
		}
	}
}

// locate finds the documents and groups them into runs.
func (p *TermScores) locate(x *Searcher, ids []uint64) {
	p.places = p.places[:0]
	p.there, p.data = zeroedSlice(p.there, len(ids)), zeroedSlice(p.data, len(ids))
	for i, id := range ids {
		d, ok := place{at: i}, false
		// the distance between two IDs is often the distance between their document numbers
		if last := len(p.places) - 1; last >= 0 {
			o := p.places[last]
			v := &x.views[o.view]
			d.view, d.number = o.view, o.number+uint32(id-ids[o.at])
			ok = int(d.number) < len(v.lens) && v.ids.at(d.number) == id && !v.isDeleted(d.number)
		}
		for j := len(x.views) - 1; j >= 0 && !ok; j-- {
			v := &x.views[j]
			d.number, ok = v.documentNumber(id)
			if ok {
				d.view, ok = j, !v.isDeleted(d.number)
			}
		}
		if ok && x.views[d.view].lens[d.number] != unscored {
			p.there[i], p.data[i] = true, x.views[d.view].documentData(d.number)
			p.places = append(p.places, d)
		}
	}
	order := func(a, b place) int { return cmp.Or(cmp.Compare(a.view, b.view), cmp.Compare(a.number, b.number)) }
	if !slices.IsSortedFunc(p.places, order) {
		slices.SortFunc(p.places, order)
	}
	p.runs = appendRuns(p.runs[:0], p.places)
}

// zeroedSlice returns a slice with n zeros. It uses the memory of s if possible.
func zeroedSlice[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// appendRuns appends groups of documents with consecutive numbers to runs. docs must be ordered
// by view and number.
func appendRuns(runs [][]place, docs []place) [][]place {
	for len(docs) > 0 {
		n := 1
		for n < len(docs) && docs[n].view == docs[n-1].view && docs[n].number == docs[n-1].number+1 {
			n++
		}
		runs, docs = append(runs, docs[:n]), docs[n:]
	}
	return runs
}

// eachInRun calls fn for each document of a run that has the term.
func (p *postings) eachInRun(run []place, fn func(p place, tf uint16)) {
	if p.cols != nil {
		for _, d := range run {
			if tf := p.cols.tf(d.number); tf > 0 {
				fn(d, tf)
			}
		}
		return
	}
	if len(p.list) == 0 {
		return
	}
	first, n := run[0].number, uint32(len(run))
	for _, q := range p.list[p.find(first):] {
		if q.doc >= first+n {
			break
		}
		if q.doc >= first {
			fn(run[q.doc-first], q.tf)
		}
	}
}
