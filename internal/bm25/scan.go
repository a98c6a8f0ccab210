// This file holds what one search works with, and the plain way to score: all
// postings of the query's terms.

package bm25

import (
	"cmp"
	"math/bits"
	"slices"
	"sync"
)

// query is the scratch of one search.
type query struct {
	terms   []QueryTerm // distinct, sorted, of a weight above 0
	cursors []cursor    // in the order of terms, without those that nobody holds
	order   []int       // indexes of cursors, those that can give most first
	rest    []float64   // by place in order: the most that the terms from there on give together
	alone   []posting   // of terms that have no more
	heap    []ranked
	where   where
	batch   batch
	acc     [window]float64 // all zero outside scan
	busy    bool
}

// cursor is one term of a query.
type cursor struct {
	places
	place int       // in order
	ahead []posting // what a scan has not seen of the list
	seen  []posting // what the window holds of it
	gain  float64
	unit  float64 // what a posting gives for each step of its impact, at most
	most  float64 // the most that the term gives to any document
}

var queries = sync.Pool{New: func() any { return new(query) }}

func newQuery(terms []QueryTerm) *query {
	q := queries.Get().(*query)
	q.terms = distinct(q.terms[:0], terms)
	return q
}

// release gives the scratch back, holding on to nobody's strings or lists. A
// caller's function that panicked has left sums behind: that one is dropped.
func (q *query) release() {
	if q.busy {
		return
	}
	clear(q.terms)
	clear(q.cursors)
	queries.Put(q)
}

// open finds the query's terms. The caller holds the lock.
func (q *query) open(x *Index, s scale) {
	q.cursors, q.order, q.alone = q.cursors[:0], q.order[:0], q.alone[:0]
	step := x.stretch(s) / impactSteps
	for _, w := range q.terms {
		if n, ok := x.lookUp(w.Text); ok {
			t := &x.terms[n]
			var at places
			if t.many {
				at = x.places[t.at]
			} else {
				q.alone = append(q.alone, t.alone())
				at.list = q.alone[len(q.alone)-1:]
			}
			gain := s.gain(s.idf(t.df), w.Weight)
			unit := gain * step
			q.order = append(q.order, len(q.cursors))
			q.cursors = append(q.cursors, cursor{places: at, ahead: at.list, gain: gain, unit: unit, most: unit * float64(t.most)})
		}
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
}

// window is how many document numbers are scored at a time: so few that their
// sums stay in the processor's nearest cache, and so many that going from term
// to term costs little. It is a multiple of 64.
const window = 1 << 11

// scan computes the scores of all documents that hold a term of the query, and
// visits those that reach a threshold, each once. Visit returns the threshold
// from there on, which is above 0 and never falls; the first one is least. The
// dead may be visited. The caller holds the lock.
//
// A window of documents is scored term after term, in the order of the terms:
//
//	numbers       0 …… 2047 │ 2048 …… 4095 │ …
//	"apple"       ▪   ▪  ▪▪ │              │      postings, rising
//	"pear"          ▪    ▪  │      ▪       │
//	acc           ·········   one sum per number of the window, then the next
func (x *Index) scan(q *query, s scale, least float64, visit func(number uint32, score float64) float64) {
	for first := 0; first < len(x.lens); first += window {
		lens := x.lens[first:min(first+window, len(x.lens))]
		listed, other := 0, 0 // postings of lists and of wide terms
		for i := range q.cursors {
			c := &q.cursors[i]
			if c.wide != nil {
				other += q.addWide(c, s, first, lens)
			} else {
				listed += q.addList(c, s, first, lens)
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
func (q *query) addList(c *cursor, s scale, first int, lens []uint32) int {
	n, gain := len(c.ahead), c.gain
	rest, slope := s.rest, s.slope
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

// addWide is addList for a term that is wide.
func (q *query) addWide(c *cursor, s scale, first int, lens []uint32) int {
	gain, rest, slope := c.gain, s.rest, s.slope
	from := min(first/64, len(c.wide.stretches))
	in := c.wide.stretches[from:min(from+window/64, len(c.wide.stretches))]
	if len(in) == 0 {
		return 0
	}
	tfs, n := c.wide.tfs[in[0].before:], 0
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
