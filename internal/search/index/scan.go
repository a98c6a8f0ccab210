// This file has the working memory of a search, and a simple scoring method that adds up
// all postings for the query's terms.

package index

import (
	"cmp"
	"math"
	"slices"
	"sync"
)

// query is the working memory of a search.
type query struct {
	x       *Searcher
	s       scale
	terms   []QueryTerm // distinct, sorted, with weights above 0
	hashes  []uint64    // hashes of the terms' texts
	gains   []float64   // gain of each term (see scale.gain)
	norm    float64     // sum of the gains, by which score estimates and their bounds are divided
	numbers []uint32    // for each term, the candidates for the term's number in a segment, plus 1
	dfs     []int
	found   []foundTerm // postings by view and term
	// memory for postings of terms with a single posting; never reallocated, because found refers
	// to it
	alone   []posting
	cursors []cursor  // the terms that a view has, in order of terms
	order   []int     // indexes of cursors in descending order of their maximum contribution
	rest    []float64 // by position in order: maximum contribution of the terms from there on, divided by norm
	heap    []rankedHit
	filter  filterSet
	batch   [batchSize + impactBlock]candidate
	near    []uint32 // see maxScore
	kept    []keptDocument
	acc     [window]float64 // all zero outside of scan
	isBusy  bool
}

// cursor is a query term in a view.
type cursor struct {
	postings
	df       int     // number of postings
	from, to int     // range of the postings in the scan's current window
	gain     float64 // gain of the term
	part     float32 // gain divided by norm
	unit     float64 // maximum contribution of a posting for each step of its impact, divided by norm
	most     float64 // maximum contribution of the term, divided by norm
}

var queries = sync.Pool{New: func() any { return new(query) }}

// newQuery looks up the terms in all views. Most of the time is spent waiting for memory, so
// independent reads are in separate loops that overlap.
func newQuery(x *Searcher, terms []QueryTerm) *query {
	q := queries.Get().(*query)
	q.x, q.s = x, x.scale()
	q.terms = distinctTerms(q.terms[:0], terms)
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
		v, found := &x.views[i], q.found[i*len(q.terms):][:len(q.terms)]
		if v.image != nil {
			for k, w := range q.terms {
				found[k], _ = v.image.load(w.Text)
			}
			continue
		}
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

func (q *query) hash(text string) uint64 { return q.x.hash(text) }

// release puts the query back into the pool, without references to strings or lists. If a
// callback panicked, acc is not zero, so the query is dropped instead.
func (q *query) release() {
	if q.isBusy {
		return
	}
	clear(q.terms)
	clear(q.cursors)
	clear(q.found)
	clear(q.heap[:cap(q.heap)])
	q.x = nil
	queries.Put(q)
}

// openView sets the cursors for view i.
func (q *query) openView(i int) *view {
	v := &q.x.views[i]
	q.cursors, q.order = q.cursors[:0], q.order[:0]
	step := q.s.stretch(v.slope) / impactSteps
	for k, f := range q.found[i*len(q.terms):][:len(q.terms)] {
		if f.df == 0 {
			continue
		}
		gain := q.gains[k] / q.norm
		q.order = append(q.order, len(q.cursors))
		q.cursors = append(
			q.cursors,
			cursor{postings: f.postings, df: f.df, gain: q.gains[k], part: float32(gain), unit: gain * step,
				most: gain * step * float64(f.most)},
		)
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

// countPostings returns the number of postings that the query's terms have in the view that was
// opened last.
func (q *query) countPostings() (n int) {
	for i := range q.cursors {
		n += q.cursors[i].df
	}
	return n
}

// scan computes the score of each document in a view that has a query term. It calls visit
// once for each document whose score reaches a threshold, which is minScore at first. visit
// returns the new threshold, which must be above 0 and must not decrease. Deleted documents
// may be visited.
//
// Documents are scored in windows. Within a window, the terms are processed in order:
//
//	numbers       0 …… 2047 │ 2048 …… 4095 │ …
//	"apple"       ▪   ▪  ▪▪ │              │      postings, ascending
//	"pear"          ▪    ▪  │      ▪       │
//	acc           ·········   one sum per document of the window
func (v *view) scan(q *query, minScore float64, visit func(number uint32, score float64) float64) {
	for first := 0; first < len(v.lens); first += window {
		lens := v.lens[first:min(first+window, len(v.lens))]
		met := 0 // number of postings in the window
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
				if sum >= minScore {
					minScore = visit(uint32(first+at), sum)
				}
			}
			clear(sums)
			continue
		}
		for i := range q.cursors {
			c := &q.cursors[i]
			for j := c.from; j < c.to; j++ {
				at := c.inWindow(j)
				if q.acc[at] >= minScore {
					minScore = visit(uint32(first+at), q.acc[at])
				}
				q.acc[at] = 0 // reset the sum, so that the document is not visited again for the next term
			}
		}
	}
}

// inWindow returns the index in its window of a posting's document.
func (c *cursor) inWindow(index int) int {
	if c.cols != nil {
		return int(c.cols.docs[index] % window)
	}
	return int(c.list[index].doc % window)
}

// addList adds the term's contributions to the sums of the window.
func (q *query) addList(c *cursor, first int, lens []uint32) {
	gain := c.gain
	rest := q.s.rest
	slope := q.s.slope
	for _, p := range c.list[c.to:] {
		at := int(p.doc) - first
		if at >= len(lens) {
			break
		}
		// This is scale.score, inlined by hand, because the compiler does not keep its
		// parts in registers.
		f := float64(p.tf)
		q.acc[at%window] += float64(gain*f) / (f + (rest + float64(slope*float64(lens[at]))))
		c.to++
	}
}

// addColumns is like addList, for a term with columns.
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

// candidate is a document that has a certain term. Terms with a greater maximum
// contribution have already been processed for it.
type candidate struct {
	doc uint32  // at first, the index of the document's posting for the term
	sum float32 // sum of the contributions so far, divided by query.norm
	k   float32 // k1·(1 − b + b·dl/avgdl), in sixteenths
}

// batchSize is the number of candidates that are processed together, so that their memory
// accesses overlap.
const batchSize = 256

// keptDocument is a document that may be among the best.
type keptDocument struct {
	doc   uint32
	sum   float32 // estimate of its score
	score float64 // sum of the contributions so far, added in the order of terms
	k     float64 // like candidate.k
}
