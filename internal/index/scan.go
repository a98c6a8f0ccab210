// What one search works with, and the plain way to score: all postings of the
// query's terms.

package index

import (
	"cmp"
	"math/bits"
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
	dfs     []int
	found   []found   // by view and term
	alone   []posting // of terms that have no more; never moved
	cursors []cursor  // of a view, in the order of terms, without those that it has not
	order   []int     // indexes of cursors, those that can give most first
	rest    []float64 // by place in order: the most that the terms from there on give together
	heap    []ranked
	before  []ranked // heap before a view
	filter  filterSet
	batch   batch
	acc     [window]float64 // all zero outside scan
	busy    bool
}

// cursor is one term of a query in a view.
type cursor struct {
	postings
	place int       // in order
	ahead []posting // what a scan has not seen of the list
	seen  []posting // what the window holds of it
	gain  float64
	unit  float64 // what a posting gives for each step of its impact, at most
	most  float64 // the most that the term gives to any document
}

var queries = sync.Pool{New: func() any { return new(query) }}

// newQuery looks up the terms in all views.
func newQuery(x *Searcher, terms []QueryTerm) *query {
	q := queries.Get().(*query)
	q.x, q.s = x, x.scale()
	q.terms = distinct(q.terms[:0], terms)
	q.hashes, q.gains, q.dfs = q.hashes[:0], q.gains[:0], q.dfs[:0]
	q.found = slices.Grow(q.found[:0], len(q.terms)*len(x.views))[:len(q.terms)*len(x.views)]
	q.alone = slices.Grow(q.alone[:0], len(q.found))
	for k, w := range q.terms {
		hash, df := x.hash(w.Text), 0
		for i := range x.views {
			f, _ := x.views[i].find(w.Text, hash, &q.alone)
			q.found[i*len(q.terms)+k] = f
			df += f.df - f.lost
		}
		q.hashes, q.dfs = append(q.hashes, hash), append(q.dfs, df)
		q.gains = append(q.gains, q.s.gain(q.s.idf(df, w.Prior), w.Weight))
	}
	return q
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
	clear(q.before[:cap(q.before)])
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
		unit := q.gains[k] * step
		q.order = append(q.order, len(q.cursors))
		q.cursors = append(q.cursors, cursor{postings: f.postings, ahead: f.list, gain: q.gains[k], unit: unit, most: unit * float64(f.most)})
	}
	slices.SortFunc(q.order, func(a, b int) int {
		return cmp.Or(cmp.Compare(q.cursors[b].most, q.cursors[a].most), cmp.Compare(a, b))
	})
	n := len(q.order)
	q.rest = slices.Grow(q.rest[:0], n+1)[:n+1]
	q.rest[n] = 0
	for place := n - 1; place >= 0; place-- {
		c := &q.cursors[q.order[place]]
		c.place = place
		q.rest[place] = q.rest[place+1] + c.most
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
		listed, other := 0, 0 // postings of lists and of bitmaps
		for i := range q.cursors {
			c := &q.cursors[i]
			if c.bitmap != nil {
				other += q.addBitmap(c, first, lens)
			} else {
				listed += q.addList(c, first, lens)
			}
		}
		sums := q.acc[:len(lens)]
		if other > 0 || listed > len(lens)/2 {
			for at, sum := range sums {
				if sum >= least {
					least = visit(uint32(first+at), sum)
				}
			}
			clear(sums)
			continue
		}
		for i := range q.cursors {
			for _, p := range q.cursors[i].seen {
				sum := &q.acc[(int(p.doc)-first)%window]
				if *sum >= least {
					least = visit(p.doc, *sum)
				}
				*sum = 0 // so that the next term's posting is not a second visit
			}
		}
	}
}

// addList adds what the term gives to the documents of the window, and returns
// how many those are.
func (q *query) addList(c *cursor, first int, lens []uint32) int {
	n, gain := len(c.ahead), c.gain
	rest, slope := q.s.rest, q.s.slope
	for j, p := range c.ahead {
		at := int(p.doc) - first
		if at >= len(lens) {
			n = j
			break
		}
		// This is scale.score, by hand: the compiler does not keep its parts
		// in registers.
		f := float64(p.tf)
		q.acc[at%window] += float64(gain*f) / (f + (rest + float64(slope*float64(lens[at]))))
	}
	c.seen, c.ahead = c.ahead[:n], c.ahead[n:]
	return n
}

// addBitmap is addList for a term that has a bitmap.
func (q *query) addBitmap(c *cursor, first int, lens []uint32) int {
	gain, rest, slope := c.gain, q.s.rest, q.s.slope
	from := min(first/64, len(c.bitmap.words))
	in := c.bitmap.words[from:min(from+window/64, len(c.bitmap.words))]
	if len(in) == 0 {
		return 0
	}
	tfs, n := c.bitmap.tfs[in[0].before:], 0
	for i := range in {
		for set := in[i].bits(); set != 0; set &= set - 1 {
			at := 64*i + bits.TrailingZeros64(set)
			f := float64(tfs[n])
			q.acc[at%window] += float64(gain*f) / (f + (rest + float64(slope*float64(lens[at]))))
			n++
		}
	}
	return n
}

// batch is candidates, rising by number, that hold one term and none that can
// give more, unless they were met there before.
type batch struct {
	n    int
	docs [batchSize]uint32
	k    [batchSize]float64  // k1·(1 − b + b·dl/avgdl), in sixteenths
	sums [batchSize]float64  // what the terms so far give
	at   [batchSize]uint32   // scratch of probeBitmap
	live [batchSize]uint8    // those that can still be among the best, rising
	tfs  [][batchSize]uint16 // by place of the term
}

// batchSize is how many candidates are taken through the terms at a time. One
// waits for memory while others are looked up.
const batchSize = 256
