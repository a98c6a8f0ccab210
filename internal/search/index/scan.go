// What one search works with, and the plain way to score: all postings of the
// query's terms.

package index

import (
	"cmp"
	"math"
	"slices"
	"sync"
)

// query is the scratch of one search.
type query struct {
	x       *Searcher
	s       scale
	terms   []QueryTerm // distinct, sorted, of a weight above 0
	hashes  []uint64    // of their texts
	gains   []float64   // what each gives
	norm    float64     // the sum of gains: bounds and estimates of scores are parts of it
	numbers []uint32    // of the terms in a segment, plus 1, as far as the first of a hash is right
	dfs     []int
	found   []found   // by view and term
	alone   []posting // of terms that have no more; never moved
	cursors []cursor  // of a view, in the order of terms, without those that it has not
	order   []int     // indexes of cursors, those that can give most first
	rest    []float64 // by place in order: the most that the terms from there on give together, by norm
	heap    []ranked
	filter  filterSet
	batch   [batchSize + impactBlock]candidate
	near    []uint32 // see maxScore
	kept    []kept
	acc     [window]float64 // all zero outside scan
	busy    bool
}

// cursor is one term of a query in a view.
type cursor struct {
	postings
	df       int     // postings
	from, to int     // indexes of the postings of the window of a scan
	gain     float64 // what the term gives
	part     float32 // gain by norm
	unit     float64 // what a posting gives for each step of its impact, at most, by norm
	most     float64 // the most that the term gives to any document, by norm
}

var queries = sync.Pool{New: func() any { return new(query) }}

// newQuery looks up the terms in all views.
func newQuery(x *Searcher, terms []QueryTerm) *query {
	q := queries.Get().(*query)
	q.x, q.s = x, x.scale()
	q.terms = distinct(q.terms[:0], terms)
	q.hashes = q.hashes[:0]
	q.gains = q.gains[:0]
	q.dfs = q.dfs[:0]
	q.norm = 0
	q.found = slices.Grow(q.found[:0], len(q.terms)*len(x.views))[:len(q.terms)*len(x.views)]
	q.alone = slices.Grow(q.alone[:0], len(q.found))
	for _, w := range q.terms {
		q.hashes = append(q.hashes, x.hash(w.Text))
	}
	q.numbers = slices.Grow(q.numbers[:0], len(q.terms))[:len(q.terms)]
	for i := range x.views {
		q.findTerms(&x.views[i], q.found[i*len(q.terms):][:len(q.terms)])
	}
	for k, w := range q.terms {
		df := 0
		for i := k; i < len(q.found); i += len(q.terms) {
			df += q.found[i].df - q.found[i].lost
		}
		gain := q.s.gain(q.s.idf(df, w.Prior), w.Weight)
		q.dfs = append(q.dfs, df)
		q.gains = append(q.gains, gain)
		q.norm = q.norm + gain
	}
	return q
}

// findTerms looks up the terms in a view. Most of the time goes into waiting for
// memory: what does not depend on each other is read in loops of their own, so
// that the reads overlap.
func (q *query) findTerms(v *view, found []found) {
	for k, hash := range q.hashes {
		q.numbers[k] = v.dict.first(hash)
	}
	for k, n := range q.numbers {
		if n > 0 {
			found[k] = v.foundAt(n-1, &q.alone)
		}
	}
	for k, w := range q.terms {
		if n := q.numbers[k]; n == 0 || v.arena.get(v.terms[n-1].text) != w.Text {
			found[k], _ = v.find(w.Text, q.hashes[k], &q.alone)
		}
	}
}

func (q *query) hash(text string) uint64 { return q.x.hash(text) }

// release gives the scratch back, without references to strings or lists. A
// caller's function that panicked has left sums there: that one is dropped.
func (q *query) release() {
	if q.busy {
		return
	}
	clear(q.terms)
	clear(q.cursors)
	clear(q.found)
	clear(q.heap[:cap(q.heap)])
	q.x = nil
	queries.Put(q)
}

// open makes the cursors of a view.
func (q *query) open(i int) *view {
	v := &q.x.views[i]
	q.cursors, q.order = q.cursors[:0], q.order[:0]
	step := q.s.stretch(v.slope) / impactSteps
	for k, f := range q.found[i*len(q.terms):][:len(q.terms)] {
		if f.df == 0 {
			continue
		}
		gain := q.gains[k] / q.norm
		q.order = append(q.order, len(q.cursors))
		q.cursors = append(q.cursors, cursor{postings: f.postings, df: f.df, gain: q.gains[k], part: float32(gain), unit: gain * step, most: gain * step * float64(f.most)})
	}
	slices.SortStableFunc(q.order, func(a, b int) int { return cmp.Compare(q.cursors[b].most, q.cursors[a].most) })
	n := len(q.order)
	q.rest = slices.Grow(q.rest[:0], n+1)[:n+1]
	q.rest[n] = 0
	for place := n - 1; place >= 0; place-- {
		q.rest[place] = q.rest[place+1] + q.cursors[q.order[place]].most
	}
	return v
}

// scan computes the scores of all documents of a view that hold a term of the
// query, and visits those that reach a threshold, each once. Visit returns the
// threshold from there on, which is above 0 and never falls; the first one is
// least. Deleted documents may be visited.
//
// A window of documents is scored term after term, in the order of the terms:
//
//	numbers       0 …… 2047 │ 2048 …… 4095 │ …
//	"apple"       ▪   ▪  ▪▪ │              │      postings, rising
//	"pear"          ▪    ▪  │      ▪       │
//	acc           ·········   one sum per number of the window, then the next
func (v *view) scan(q *query, least float64, visit func(number uint32, score float64) float64) {
	for first := 0; first < len(v.lens); first += window {
		lens := v.lens[first:min(first+window, len(v.lens))]
		met := 0 // postings
		for i := range q.cursors {
			c := &q.cursors[i]
			c.from = c.to
			if c.cols != nil {
				q.addColumns(c, first, lens)
			} else {
				q.addList(c, first, lens)
			}
			met += c.to - c.from
		}
		sums := q.acc[:len(lens)]
		if met > len(lens)/2 {
			for at, sum := range sums {
				if sum >= least {
					least = visit(uint32(first+at), sum)
				}
			}
			clear(sums)
			continue
		}
		for i := range q.cursors {
			c := &q.cursors[i]
			for j := c.from; j < c.to; j++ {
				at := c.inWindow(j)
				if q.acc[at] >= least {
					least = visit(uint32(first+at), q.acc[at])
				}
				q.acc[at] = 0 // so that the next term's posting is not a second visit
			}
		}
	}
}

// inWindow returns which of the documents of its window a posting is of.
func (c *cursor) inWindow(index int) int {
	if c.cols != nil {
		return int(c.cols.docs[index] % window)
	}
	return int(c.list[index].doc % window)
}

// addList adds what the term gives to the documents of the window.
func (q *query) addList(c *cursor, first int, lens []uint32) {
	gain := c.gain
	rest := q.s.rest
	slope := q.s.slope
	for _, p := range c.list[c.to:] {
		at := int(p.doc) - first
		if at >= len(lens) {
			break
		}
		// This is scale.score, by hand: the compiler does not keep its parts
		// in registers.
		f := float64(p.tf)
		q.acc[at%window] += float64(gain*f) / (f + (rest + float64(slope*float64(lens[at]))))
		c.to++
	}
}

// addColumns is addList for a term that has columns.
func (q *query) addColumns(c *cursor, first int, lens []uint32) {
	gain := c.gain
	rest := q.s.rest
	slope := q.s.slope
	w := c.cols
	low := first % (math.MaxUint16 + 1)
	for i, doc := range w.docs[c.to:w.upTo(uint32(first))] {
		at := int(doc) - low
		if at >= len(lens) {
			break
		}
		var f float64
		if w.dense != nil {
			f = float64(w.denseTF(uint32(first + at)))
		} else {
			f = float64(w.tfs[c.from+i])
		}
		q.acc[at%window] += float64(gain*f) / (f + (rest + float64(slope*float64(lens[at]))))
		c.to++
	}
}

// candidate is a document that holds one term and none that can give more, unless
// it was met there before.
type candidate struct {
	doc uint32  // at first, the index of a posting of the term
	sum float32 // what the terms so far give, see query.norm
	k   float32 // k1·(1 − b + b·dl/avgdl), in sixteenths
}

// batchSize is how many candidates are taken through the terms at a time. One
// waits for memory while others are looked up.
const batchSize = 256

// kept is a document that may be among the best.
type kept struct {
	doc   uint32
	sum   float32 // the estimate of its score
	score float64 // what the terms so far give, in their order
	k     float64 // as that of a candidate
}
