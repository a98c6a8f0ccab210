// This file holds the scan over the lists of a query's terms.

package bm25

import (
	"cmp"
	"math"
	"slices"
	"sync"
)

// window is how many document numbers are scored at a time: so few that their
// sums stay in the processor's nearest cache, and so many that going from term
// to term costs little. It is a power of two.
const window = 1 << 11

// query is the scratch of one search.
type query struct {
	terms   []QueryTerm // distinct, sorted, of a weight above 0
	cursors []cursor    // in the order of terms, without those that nobody holds
	byMost  []int       // indexes of cursors, those that give least first
	near    []candidate
	heap    []ranked
	acc     [window]float64 // all zero outside scan
	inScan  bool
}

// cursor goes through one term's list.
type cursor struct {
	list []posting // what is ahead
	seen []posting // what the window holds; of a weak term, up to the last candidate
	weak bool      // not scanned: alone and with weaker ones, it lifts nobody to the threshold
	gain float64
	most float64 // the most that the term gives to any document
}

// candidate is a document that may reach the threshold.
type candidate struct {
	at  uint32  // its place in the window
	sum float64 // its score without the weak terms not yet added
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
	if q.inScan {
		return
	}
	clear(q.terms[:cap(q.terms)])
	clear(q.cursors[:cap(q.cursors)])
	queries.Put(q)
}

// slack covers the rounding of sums of a few thousand terms, so that a bound
// never rejects what the exact sum would let in.
const slack = 1 - 1e-9

// scan computes the scores of the documents that hold a term of the query, and
// visits those that reach a threshold, each once. Visit returns the threshold
// from there on, which is above 0 and never falls; the first one is the least
// number above 0. The dead may be visited. The caller holds the lock.
//
// A window of documents is scored term after term, in the order of the terms:
//
//	numbers       0 …… 2047 │ 2048 …… 4095 │ …
//	"apple"       ▪   ▪  ▪▪ │              │      lists, rising
//	"pear"          ▪    ▪  │      ▪       │
//	acc           ·········   one sum per number of the window, then the next
//
// As the threshold rises, the weakest terms together can no longer lift a
// document to it, whatever they give at most (Turtle and Flood's MaxScore,
// 1995). They are not scanned any more, but looked up in the documents that
// the other terms bring near enough. What is visited is always added up over
// all terms in their order, so a score is the same to the last bit whichever
// way it was found.
func (x *Index) scan(q *query, visit func(number uint32, score float64) float64) {
	s := x.scale()
	q.open(x, s)
	q.inScan = true
	least := math.SmallestNonzeroFloat64
	weak, rest := 0, 0.0 // how many terms are weak, and the most that they give together
	for {
		for weak < len(q.byMost) {
			c := &q.cursors[q.byMost[weak]]
			if rest+c.most >= least*slack {
				break
			}
			c.weak = true
			rest += c.most
			weak++
		}
		first := q.first()
		if first == math.MaxUint32 {
			break
		}
		lens := x.lens[first:min(int(first)+window, len(x.lens))]
		work := q.accumulate(s, first, lens)

		// Without weak terms the sums are the scores, and are visited at once.
		// With them, they are gathered first.
		bar := least
		if weak > 0 {
			bar = least*slack - rest
		}
		near := q.near[:0]
		if work > len(lens)/2 {
			sums := q.acc[:len(lens)]
			for at, sum := range sums {
				if sum < bar {
					continue
				}
				if weak > 0 {
					near = append(near, candidate{uint32(at), sum})
				} else {
					least = visit(first+uint32(at), sum)
					bar = least
				}
			}
			clear(sums)
		} else {
			for i := range q.cursors {
				c := &q.cursors[i]
				if c.weak {
					continue
				}
				for _, p := range c.seen {
					at := p.doc - first
					sum := q.acc[at%window]
					q.acc[at%window] = 0 // so that the next term's posting is not a second visit
					if sum < bar {
						continue
					}
					if weak > 0 {
						near = append(near, candidate{at, sum})
					} else {
						least = visit(p.doc, sum)
						bar = least
					}
				}
			}
			if weak > 0 {
				slices.SortFunc(near, func(a, b candidate) int { return cmp.Compare(a.at, b.at) })
			}
		}
		q.near = near
		for _, n := range q.sift(s, weak, first, lens, rest, least*slack) {
			if sum := q.exact(s, first+n.at, lens[n.at]); sum >= least {
				least = visit(first+n.at, sum)
			}
		}
	}
	q.inScan = false
}

// open sets a cursor at the start of each term's list.
func (q *query) open(x *Index, s scale) {
	q.cursors, q.byMost = q.cursors[:0], q.byMost[:0]
	for _, w := range q.terms {
		if n, ok := x.dict[w.Text]; ok {
			t := &x.terms[n]
			gain := s.gain(s.idf(t.df), w.Weight)
			q.byMost = append(q.byMost, len(q.cursors))
			q.cursors = append(q.cursors, cursor{list: t.list, gain: gain, most: s.score(gain, t.maxTF, t.minLen)})
		}
	}
	slices.SortFunc(q.byMost, func(a, b int) int {
		return cmp.Or(cmp.Compare(q.cursors[a].most, q.cursors[b].most), cmp.Compare(a, b))
	})
}

// first returns the least document number ahead of the cursors that are not
// weak, and the largest number when there is none.
func (q *query) first() uint32 {
	first := uint32(math.MaxUint32)
	for i := range q.cursors {
		if c := &q.cursors[i]; !c.weak && len(c.list) > 0 {
			first = min(first, c.list[0].doc)
		}
	}
	return first
}

// accumulate adds up the window that begins at first, without the weak terms,
// and returns the number of postings in it.
func (q *query) accumulate(s scale, first uint32, lens []uint32) (work int) {
	acc := &q.acc
	rest, slope := s.rest, s.slope
	for i := range q.cursors {
		c := &q.cursors[i]
		if c.weak {
			continue
		}
		n, gain := len(c.list), c.gain
		for j, p := range c.list {
			at := p.doc - first
			if int(at) >= len(lens) {
				n = j
				break
			}
			// This is scale.score, by hand: the compiler does not keep its
			// parts in registers.
			f := float64(p.tf)
			acc[at%window] += float64(gain*f) / (f + (rest + float64(slope*float64(lens[at]))))
		}
		c.seen, c.list = c.list[:n], c.list[n:]
		work += n
	}
	return work
}

// sift adds the weak terms to the candidates of the window that begins at
// first, the strongest first, and drops those that cannot reach least. rest is
// the most that the weak terms give together.
func (q *query) sift(s scale, weak int, first uint32, lens []uint32, rest, least float64) []candidate {
	near := q.near
	for i := weak - 1; i >= 0 && len(near) > 0; i-- {
		c := &q.cursors[q.byMost[i]]
		rest = max(rest-c.most, 0)
		list := c.list[seek(c.list, first+near[0].at):]
		ahead := list
		kept := near[:0]
		for _, n := range near {
			number := first + n.at
			ahead = ahead[seek(ahead, number):]
			if len(ahead) > 0 && ahead[0].doc == number {
				n.sum += s.score(c.gain, ahead[0].tf, lens[n.at])
			}
			if n.sum+rest >= least {
				kept = append(kept, n)
			}
		}
		c.list = ahead
		c.seen = list[:len(list)-len(ahead)+min(len(ahead), 1)]
		near = kept
	}
	return near
}

// exact returns the score of a document of the window: the terms' scores added
// up in the order of the terms.
func (q *query) exact(s scale, number, dl uint32) float64 {
	sum := 0.0
	for i := range q.cursors {
		c := &q.cursors[i]
		if i := search(c.seen, number); i < len(c.seen) && c.seen[i].doc == number {
			sum += s.score(c.gain, c.seen[i].tf, dl)
		}
	}
	return sum
}

// seek returns the index of the first posting not before the document, looking
// near the front first.
func seek(list []posting, number uint32) int {
	step := 1
	for step < len(list) && list[step].doc < number {
		step *= 2
	}
	from := step / 2
	return from + search(list[from:min(step+1, len(list))], number)
}

// search returns the index of the first posting not before the document.
func search(list []posting, number uint32) int {
	lo, hi := 0, len(list)
	for lo < hi {
		if mid := int(uint(lo+hi) / 2); list[mid].doc < number {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}
