// This file holds the accounts of many scores at once.

package bm25

import (
	"cmp"
	"math/bits"
	"slices"
)

// partOf is a document whose score is accounted for.
type partOf struct {
	number uint32
	at     int // in ids
}

// Parts says what each term of a query gives to the scores of some documents.
// The zero value is ready to be filled by [Index.Parts], and may be filled again.
type Parts struct {
	Terms []string // the query's, sorted, without repeats and those left out

	given  []float64 // of each document, term by term
	there  []bool    // which documents are in the index
	places []partOf
	runs   [][]partOf
}

// Of returns what each term gives to the score of a document, by its place among
// those that were asked about, and nil when it is not in the index.
func (p *Parts) Of(i int) []float64 {
	if !p.there[i] {
		return nil
	}
	n := len(p.Terms)
	return p.given[i*n : (i+1)*n : (i+1)*n]
}

// Parts sets p to what each term gives to the score of each of the documents:
// what [Index.Explain] says, for less work.
func (x *Index) Parts(p *Parts, ids []uint64, terms []QueryTerm) {
	q := newQuery(terms)
	defer q.release()
	x.needFor(q.terms)
	x.mu.RLock()
	defer x.mu.RUnlock()

	p.Terms, p.places, p.runs = p.Terms[:0], p.places[:0], p.runs[:0]
	p.given = zeros(p.given, len(ids)*len(q.terms))
	p.there = zeros(p.there, len(ids))
	for i, id := range ids {
		n, ok := uint32(0), false
		if last := len(p.places) - 1; last >= 0 { // ids are often as far apart as numbers
			o := p.places[last]
			n = o.number + uint32(id-ids[o.at])
			ok = int(n) < len(x.docs) && x.docs[n].id == id && x.lens[n] != dead
		}
		if !ok {
			n, ok = x.number(id)
		}
		if p.there[i] = ok; ok {
			p.places = append(p.places, partOf{n, i})
		}
	}
	byNumber := func(a, b partOf) int { return cmp.Compare(a.number, b.number) }
	if !slices.IsSortedFunc(p.places, byNumber) {
		slices.SortFunc(p.places, byNumber)
	}
	p.runs = runsOf(p.runs, p.places)
	s := x.scale()
	for k, w := range q.terms {
		p.Terms = append(p.Terms, w.Text)
		n, ok := x.lookUp(w.Text)
		if !ok {
			continue
		}
		t := &x.terms[n]
		gain := s.gain(s.idf(t.df), w.Weight)
		x.eachOf(t, p.runs, func(d partOf, tf uint16) {
			p.given[d.at*len(q.terms)+k] = s.score(gain, uint32(tf), x.lens[d.number])
		})
	}
}

// zeros returns so many zeros, in the room of s when there is enough.
func zeros[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// runsOf appends to runs the documents, rising by number, cut into those whose
// numbers follow each other.
func runsOf(runs [][]partOf, docs []partOf) [][]partOf {
	for len(docs) > 0 {
		n := 1
		for n < len(docs) && docs[n].number == docs[n-1].number+1 {
			n++
		}
		runs, docs = append(runs, docs[:n]), docs[n:]
	}
	return runs
}

// eachOf calls fn with those of the documents that hold the term.
func (x *Index) eachOf(t *term, runs [][]partOf, fn func(p partOf, tf uint16)) {
	if !t.many {
		for _, run := range runs {
			if i := t.at - run[0].number; t.tf > 0 && i < uint32(len(run)) {
				fn(run[i], t.tf)
			}
		}
		return
	}
	at := &x.places[t.at]
	for _, run := range runs {
		if at.wide != nil {
			at.wide.eachOf(run, fn)
			continue
		}
		first, n := run[0].number, uint32(len(run))
		for _, p := range at.list[at.find(first):] {
			if p.doc >= first+n {
				break
			}
			if p.doc >= first {
				fn(run[p.doc-first], p.tf)
			}
		}
	}
}

// eachOf calls fn with those documents of a run that hold the term.
func (w *wide) eachOf(run []partOf, fn func(p partOf, tf uint16)) {
	first, last := run[0].number, run[len(run)-1].number
	for i := first / 64; i <= last/64 && int(i) < len(w.stretches); i++ {
		set := w.stretches[i].bits()
		in := set
		if i == first/64 {
			in &= ^uint64(0) << (first % 64)
		}
		if i == last/64 {
			in &= ^uint64(0) >> (63 - last%64)
		}
		for ; in != 0; in &= in - 1 {
			bit := uint32(bits.TrailingZeros64(in))
			index := int(w.stretches[i].before) + bits.OnesCount64(set&(1<<bit-1))
			fn(run[64*i+bit-first], w.tfs[index])
		}
	}
}
