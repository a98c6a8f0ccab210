// This file has the working memory of a search, and a simple scoring method that adds up
// all postings for the query's terms.

package index

import (
	"cmp"
	"math"
	"slices"
	"sync"
)

// searchState is the working memory of a search.
type searchState struct {
	searcher       *Searcher
	scale          bm25Scale
	terms          []QueryTerm // distinct, sorted, with weights above 0
	hashes         []uint64    // hashes of the terms' texts
	gains          []float64   // gain of each term (see scale.gain)
	gainSum        float64     // sum of the gains, by which score estimates and their bounds are divided
	termCandidates []uint32    // for each term, the candidates for the term's number in a segment, plus 1
	dfs            []int
	foundTerms     []foundTerm // postings by view and term
	// memory for postings of terms with a single posting; never reallocated, because found refers
	// to it
	singlePostings []posting
	cursors        []queryCursor // the terms that a view has, in order of terms
	cursorOrder    []int         // indexes of cursors in descending order of their maximum contribution
	// By position in order: maximum contribution of the terms from there on, divided by norm.
	maxRest        []float64
	hitHeap        []rankedHit
	filter         filterSet
	candidateBatch [batchSize + impactBlock]candidate
	topEstimates   []uint32 // see maxScore
	keptDocuments  []keptDocument
	windowSums     [windowDocs]float64 // all zero outside of scan
	isBusy         bool
}

// queryCursor is a query term in a view.
type queryCursor struct {
	postings
	df                     int     // number of postings
	windowStart, windowEnd int     // range of the postings in the scan's current window
	gain                   float64 // gain of the term
	gainShare              float32 // gain divided by norm
	impactUnit             float64 // maximum contribution of a posting for each step of its impact, divided by norm
	maxContribution        float64 // maximum contribution of the term, divided by norm
}

var searchStates = sync.Pool{New: func() any { return new(searchState) }}

// newSearchState looks up the terms in all views. Most of the time is spent waiting for memory, so
// independent reads are in separate loops that overlap.
func newSearchState(x *Searcher, terms []QueryTerm) *searchState {
	q := searchStates.Get().(*searchState)
	q.searcher, q.scale = x, x.currentScale()
	q.terms = distinctTerms(q.terms[:0], terms)
	q.hashes = q.hashes[:0]
	q.gains = q.gains[:0]
	q.dfs = q.dfs[:0]
	q.gainSum = 0
	q.foundTerms = slices.Grow(q.foundTerms[:0], len(q.terms)*len(x.views))[:len(q.terms)*len(x.views)]
	q.singlePostings = slices.Grow(q.singlePostings[:0], len(q.foundTerms))
	for _, w := range q.terms {
		q.hashes = append(q.hashes, x.hashTerm(w.Text))
	}
	q.termCandidates = slices.Grow(q.termCandidates[:0], len(q.terms))[:len(q.terms)]
	for i := range x.views {
		v, found := &x.views[i], q.foundTerms[i*len(q.terms):][:len(q.terms)]
		if v.snapshot != nil {
			for k, w := range q.terms {
				found[k], _ = v.snapshot.loadTerm(w.Text)
			}
			continue
		}
		for k, hash := range q.hashes {
			q.termCandidates[k] = v.termTable.firstNumber(hash)
		}
		for k, n := range q.termCandidates {
			if n > 0 {
				found[k] = v.findTermAt(n-1, &q.singlePostings)
			}
		}
		for k, w := range q.terms {
			if n := q.termCandidates[k]; n == 0 || v.arena.get(v.terms[n-1].text) != w.Text {
				found[k], _ = v.findTerm(w.Text, q.hashes[k], &q.singlePostings)
			}
		}
	}
	for k, w := range q.terms {
		df := 0
		for i := k; i < len(q.foundTerms); i += len(q.terms) {
			df += q.foundTerms[i].df - q.foundTerms[i].lostCount
		}
		gain := q.scale.termGain(q.scale.idf(df, w.Prior), w.Weight)
		q.dfs = append(q.dfs, df)
		q.gains = append(q.gains, gain)
		q.gainSum = q.gainSum + gain
	}
	return q
}

func (q *searchState) hashTerm(text string) uint64 { return q.searcher.hashTerm(text) }

// release puts the query back into the pool, without references to strings or lists. If a
// callback panicked, acc is not zero, so the query is dropped instead.
func (q *searchState) release() {
	if q.isBusy {
		return
	}
	clear(q.terms)
	clear(q.cursors)
	clear(q.foundTerms)
	clear(q.hitHeap[:cap(q.hitHeap)])
	q.searcher = nil
	searchStates.Put(q)
}

// openView prepares the search in view i. It sets a cursor for each query term that the view has, sorts the cursors by
// their greatest possible contribution, and sets q.maxRest[n] to the greatest sum of the contributions of all cursors
// from n on.
func (q *searchState) openView(i int) *view {
	v := &q.searcher.views[i]
	q.cursors, q.cursorOrder = q.cursors[:0], q.cursorOrder[:0]
	step := q.scale.boundFactor(v.impactSlope) / maxImpact
	for k, f := range q.foundTerms[i*len(q.terms):][:len(q.terms)] {
		if f.df == 0 {
			continue
		}
		gain := q.gains[k] / q.gainSum
		q.cursorOrder = append(q.cursorOrder, len(q.cursors))
		q.cursors = append(
			q.cursors,
			queryCursor{
				postings:        f.postings,
				df:              f.df,
				gain:            q.gains[k],
				gainShare:       float32(gain),
				impactUnit:      gain * step,
				maxContribution: gain * step * float64(f.maxImpact),
			},
		)
	}
	slices.SortStableFunc(
		q.cursorOrder,
		func(a, b int) int { return cmp.Compare(q.cursors[b].maxContribution, q.cursors[a].maxContribution) },
	)
	n := len(q.cursorOrder)
	q.maxRest = slices.Grow(q.maxRest[:0], n+1)[:n+1]
	q.maxRest[n] = 0
	for place := n - 1; place >= 0; place-- {
		q.maxRest[place] = q.maxRest[place+1] + q.cursors[q.cursorOrder[place]].maxContribution
	}
	return v
}

// countPostings returns the number of postings that the query's terms have in the view that was
// opened last.
func (q *searchState) countPostings() (n int) {
	for i := range q.cursors {
		n += q.cursors[i].df
	}
	return n
}

// scoreDocuments computes the score of each document in a view that has a query term. It calls visit
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
func (v *view) scoreDocuments(q *searchState, minScore float64, visit func(number uint32, score float64) float64) {
	for first := 0; first < len(v.docLengths); first += windowDocs {
		lens := v.docLengths[first:min(first+windowDocs, len(v.docLengths))]
		met := 0 // number of postings in the window
		for i := range q.cursors {
			c := &q.cursors[i]
			c.windowStart = c.windowEnd
			if c.columns != nil {
				q.addColumnScores(c, first, lens)
			} else {
				q.addListScores(c, first, lens)
			}
			met += c.windowEnd - c.windowStart
		}
		sums := q.windowSums[:len(lens)]
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
			for j := c.windowStart; j < c.windowEnd; j++ {
				at := c.windowIndex(j)
				if q.windowSums[at] >= minScore {
					minScore = visit(uint32(first+at), q.windowSums[at])
				}
				q.windowSums[at] = 0 // reset the sum, so that the document is not visited again for the next term
			}
		}
	}
}

// windowIndex returns the index in its window of a posting's document.
func (c *queryCursor) windowIndex(index int) int {
	if c.columns != nil {
		return int(c.columns.docs[index] % windowDocs)
	}
	return int(c.list[index].doc % windowDocs)
}

// addListScores adds the term's contributions to the sums of the window.
func (q *searchState) addListScores(c *queryCursor, first int, lens []uint32) {
	gain := c.gain
	rest := q.scale.lengthBase
	slope := q.scale.lengthSlope
	for _, p := range c.list[c.windowEnd:] {
		at := int(p.doc) - first
		if at >= len(lens) {
			break
		}
		// This is scale.score, inlined by hand, because the compiler does not keep its
		// parts in registers.
		f := float64(p.tf)
		q.windowSums[at%windowDocs] += float64(gain*f) / (f + (rest + float64(slope*float64(lens[at]))))
		c.windowEnd++
	}
}

// addColumnScores is like addListScores, for a term with columns.
func (q *searchState) addColumnScores(c *queryCursor, first int, lens []uint32) {
	gain := c.gain
	rest := q.scale.lengthBase
	slope := q.scale.lengthSlope
	w := c.columns
	low := first % (math.MaxUint16 + 1)
	for i, doc := range w.docs[c.windowEnd:w.endOfUpperHalf(uint32(first))] {
		at := int(doc) - low
		if at >= len(lens) {
			break
		}
		var f float64
		if w.denseTFs != nil {
			f = float64(w.denseTF(uint32(first + at)))
		} else {
			f = float64(w.tfs[c.windowStart+i])
		}
		q.windowSums[at%windowDocs] += float64(gain*f) / (f + (rest + float64(slope*float64(lens[at]))))
		c.windowEnd++
	}
}

// candidate is a document that has a certain term. Terms with a greater maximum
// contribution have already been processed for it.
type candidate struct {
	doc uint32  // at first, the index of the document's posting for the term
	sum float32 // sum of the contributions so far, divided by searchState.gainSum
	k   float32 // k1·(1 − b + b·dl/avgdl), in sixteenths
}

// batchSize is the number of candidates that are processed together, so that their memory
// accesses overlap.
const batchSize = 256

// keptDocument is a document that may be among the best.
type keptDocument struct {
	doc      uint32
	estimate float32 // estimate of its score
	score    float64 // sum of the contributions so far, added in the order of terms
	k        float64 // like candidate.k
}
