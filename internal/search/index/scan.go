// This file contains a search's working memory, and the simple scoring method, which adds up all postings of the
// query's terms.

package index

import (
	"cmp"
	"math"
	"slices"
	"sync"
)

// searchState is the working memory of one search. It is reused.
type searchState struct {
	searcher *Searcher
	scale    bm25Scale
	terms    []QueryTerm // the query's distinct terms with a weight above 0, sorted
	hashes   []uint64    // hash of each term's text
	// largest possible contribution of each term to a document's score (see bm25Scale.termScoreGain)
	termScoreGains []float64
	// Sum of termScoreGains. The search in maxscore.go divides all estimated scores by this sum, so that single
	// precision suffices.
	termScoreGainSum float64
	// For each query term, the number, plus 1, of the term in the current segment that has the same hash as the query
	// term. It is usually the same term.
	likelyTermNumbers []uint32
	documentCounts    []int
	foundTerms        []foundTerm // for each segment, and each query term: the term's postings in the segment
	// memory for the postings of terms that occur in only one document of a segment. It must not be reallocated,
	// because foundTerms refers to it.
	singlePostingBuffer []posting
	// positions in the postings of the current segment, one for each query term that the segment contains
	cursors             []queryCursor
	cursorIndexesByGain []int // indexes in the slice cursors, the term with the largest possible gain first
	// maxRemainingTermScores[n] is the largest score that all terms in cursorIndexesByGain[n:] can contribute together,
	// divided by termScoreGainSum
	maxRemainingTermScores []float64
	hitHeap                []rankedHit
	filter                 filterSet
	hitCandidateBatch      [estimateBatchSize + scoreImpactBlockSize]hitCandidate
	topScoreEstimates      []uint32 // memory that searchBest reuses
	likelyHits             []likelyHit
	// scores of the docsPerScoreWindow documents that are being processed. They are all zero between searches.
	windowDocumentScores [docsPerScoreWindow]float64
	// upper bounds for the scores of the documents that scoreByBounds is processing. They are all zero between
	// searches.
	windowScoreBounds [docsPerScoreWindow]uint32
	// memory for the indexes of the documents in the window whose score bounds reach the threshold
	windowDocsAboveBound [docsPerScoreWindow]uint16
	isBusy               bool
}

// queryCursor is the position of a search in a query term's postings.
type queryCursor struct {
	postings
	docFrequency int // number of documents with the term in the current part of the index
	// range of the term's postings for the docsPerScoreWindow documents that are being processed
	windowStart, windowEnd int
	termScoreGain          float64 // largest possible contribution of the term to a score
	termScoreGainShare     float32 // gain divided by the sum of all terms' gains
	// a posting's contribution is at most its impact times scorePerImpact (relative to the sum of all terms' gains)
	scorePerImpact float64
	// scorePerImpact in units of 1/scoreBoundUnits, rounded up (only set by scoreByBounds)
	scoreBoundPerImpact uint32
	// largest contribution of the term in this segment, divided by the sum of all terms' gains
	maxTermScoreInSegment float64
}

var searchStates = sync.Pool{New: func() any { return new(searchState) }}

// newSearchState looks up the query's terms in all parts of the index. Most of the time is spent waiting for memory.
// Therefore independent reads are in separate loops, so that the waiting times overlap.
func newSearchState(x *Searcher, terms []QueryTerm) *searchState {
	q := searchStates.Get().(*searchState)
	q.searcher, q.scale = x, x.currentBM25Scale()
	q.terms = distinctTerms(q.terms[:0], terms)
	q.hashes = q.hashes[:0]
	q.termScoreGains = q.termScoreGains[:0]
	q.documentCounts = q.documentCounts[:0]
	q.termScoreGainSum = 0
	q.foundTerms = slices.Grow(q.foundTerms[:0], len(q.terms)*len(x.views))[:len(q.terms)*len(x.views)]
	q.singlePostingBuffer = slices.Grow(q.singlePostingBuffer[:0], len(q.foundTerms))
	for _, w := range q.terms {
		q.hashes = append(q.hashes, x.hashTerm(w.Text))
	}
	q.likelyTermNumbers = slices.Grow(q.likelyTermNumbers[:0], len(q.terms))[:len(q.terms)]
	for i := range x.views {
		v, found := &x.views[i], q.foundTerms[i*len(q.terms):][:len(q.terms)]
		if v.snapshot != nil {
			for k, w := range q.terms {
				found[k], _ = v.snapshot.loadTermByText(w.Text)
			}
			continue
		}
		for k, hash := range q.hashes {
			q.likelyTermNumbers[k] = v.termTable.findFirstByHash(hash)
		}
		for k, n := range q.likelyTermNumbers {
			if n > 0 {
				found[k] = v.findTermAt(n-1, &q.singlePostingBuffer)
			}
		}
		for k, w := range q.terms {
			if n := q.likelyTermNumbers[k]; n == 0 || v.arena.get(v.terms[n-1].textReference) != w.Text {
				found[k], _ = v.findTerm(w.Text, q.hashes[k], &q.singlePostingBuffer)
			}
		}
	}
	for k, w := range q.terms {
		df := 0
		for i := k; i < len(q.foundTerms); i += len(q.terms) {
			if x.countsDocFrequencies {
				df += x.views[i/len(q.terms)].countLivePostings(q.foundTerms[i].postings)
			} else {
				df += q.foundTerms[i].docFrequency - q.foundTerms[i].deletedElsewhereCount
			}
		}
		gain := q.scale.termScoreGain(q.scale.idf(df, w.PriorFrequency), w.Weight)
		q.documentCounts = append(q.documentCounts, df)
		q.termScoreGains = append(q.termScoreGains, gain)
		q.termScoreGainSum = q.termScoreGainSum + gain
	}
	return q
}

func (q *searchState) hashTerm(text string) uint64 { return q.searcher.hashTerm(text) }

// release returns the state to the pool, without references to strings or lists. If the field isBusy is still set, a
// function of the caller panicked during the search, and the state contains incomplete scores. In this case, release
// does not return the state to the pool.
func (q *searchState) release() {
	if q.isBusy {
		return
	}
	clear(q.terms)
	clear(q.cursors)
	clear(q.foundTerms)
	clear(q.hitHeap[:cap(q.hitHeap)])
	q.filter.checkedDocuments = nil
	q.searcher = nil
	searchStates.Put(q)
}

// openView prepares the search in the view with the index i. It adds a cursor to q.cursors for each query term that the
// view contains. It sorts the indexes of the cursors in q.cursorIndexesByGain, so that the cursor with the highest
// maximum score (maxTermScoreInSegment) comes first. It sets q.maxRemainingTermScores[n] to the sum of the maximum
// scores of all cursors in q.cursorIndexesByGain[n:].
func (q *searchState) openView(i int) *segmentView {
	v := &q.searcher.views[i]
	q.cursors, q.cursorIndexesByGain = q.cursors[:0], q.cursorIndexesByGain[:0]
	step := q.scale.scoreImpactBoundFactor(v.scoreImpactK1Slope) / maxScoreImpact
	for k, f := range q.foundTerms[i*len(q.terms):][:len(q.terms)] {
		if f.docFrequency == 0 {
			continue
		}
		gain := q.termScoreGains[k] / q.termScoreGainSum
		q.cursorIndexesByGain = append(q.cursorIndexesByGain, len(q.cursors))
		q.cursors = append(
			q.cursors,
			queryCursor{
				postings:              f.postings,
				docFrequency:          f.docFrequency,
				termScoreGain:         q.termScoreGains[k],
				termScoreGainShare:    float32(gain),
				scorePerImpact:        gain * step,
				maxTermScoreInSegment: gain * step * float64(f.maxScoreImpact),
			},
		)
	}
	slices.SortStableFunc(
		q.cursorIndexesByGain,
		func(a, b int) int {
			return cmp.Compare(q.cursors[b].maxTermScoreInSegment, q.cursors[a].maxTermScoreInSegment)
		},
	)
	n := len(q.cursorIndexesByGain)
	q.maxRemainingTermScores = slices.Grow(q.maxRemainingTermScores[:0], n+1)[:n+1]
	q.maxRemainingTermScores[n] = 0
	for place := n - 1; place >= 0; place-- {
		own := q.cursors[q.cursorIndexesByGain[place]].maxTermScoreInSegment
		q.maxRemainingTermScores[place] = q.maxRemainingTermScores[place+1] + own
	}
	return v
}

// countPostings returns the sum of the query terms' document counts in the current part of the index. A document that
// contains several query terms is counted several times.
func (q *searchState) countPostings() (n int) {
	for i := range q.cursors {
		n += q.cursors[i].docFrequency
	}
	return n
}

// scoreDocuments computes the score of each document in the view v that contains at least one query term. It calls
// visit once for each document whose score is at least minScore. The function visit returns the minScore for the
// documents that follow. This value must be above 0, and must not be less than the value before. Deleted documents may
// also be visited.
//
// The documents are scored in groups of docsPerScoreWindow, called windows. Within a window, the terms are processed in
// order:
//
//	numbers       0 …… 2047 │ 2048 …… 4095 │ …
//	"apple"       ▪   ▪  ▪▪ │              │      postings, ascending
//	"pear"          ▪    ▪  │      ▪       │
//	windowDocumentScores    ·········   one sum per document of the window
func (v *segmentView) scoreDocuments(
	q *searchState,
	minScore float64,
	visit func(number uint32, score float64) float64,
) {
	for first := 0; first < len(v.docLengths); first += docsPerScoreWindow {
		lens := v.docLengths[first:min(first+docsPerScoreWindow, len(v.docLengths))]
		met := 0 // number of the postings of all terms in this window
		for i := range q.cursors {
			c := &q.cursors[i]
			c.windowStart = c.windowEnd
			if c.columns != nil {
				q.addColumnScores(c, first, lens)
			} else {
				q.addPostingListScores(c, first, lens)
			}
			met += c.windowEnd - c.windowStart
		}
		sums := q.windowDocumentScores[:len(lens)]
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
				at := c.indexInScoreWindow(j)
				if q.windowDocumentScores[at] >= minScore {
					minScore = visit(uint32(first+at), q.windowDocumentScores[at])
				}
				// Set the document's score to 0, so that the next term with the same document does not visit it again.
				q.windowDocumentScores[at] = 0
			}
		}
	}
}

// indexInScoreWindow returns the index of a posting's document in windowDocumentScores. This array contains the scores
// of the docsPerScoreWindow consecutive documents that are being scored together. The argument postingIndex is the
// index of the posting in the term's posting list.
func (c *queryCursor) indexInScoreWindow(postingIndex int) int {
	if c.columns != nil {
		return int(c.columns.docNumberLowBits[postingIndex] % docsPerScoreWindow)
	}
	return int(c.list[postingIndex].docNumber % docsPerScoreWindow)
}

// addPostingListScores adds a term's contributions to the scores of the documents in the current window. The first
// document in this window has the number firstDocNumber. The term's postings must be in a list.
func (q *searchState) addPostingListScores(c *queryCursor, firstDocNumber int, docLengths []uint32) {
	gain := c.termScoreGain
	rest := q.scale.adjustedK1Base
	slope := q.scale.adjustedK1Slope
	for _, p := range c.list[c.windowEnd:] {
		at := int(p.docNumber) - firstDocNumber
		if at >= len(docLengths) {
			break
		}
		// This is a copy of the formula in bm25Scale.score. A call is slower, because the compiler then reads the
		// fields of the scale from memory each time.
		f := float64(p.termFrequency)
		q.windowDocumentScores[at%docsPerScoreWindow] += float64(
			gain*f,
		) / (f + (rest + float64(slope*float64(docLengths[at]))))
		c.windowEnd++
	}
}

// addColumnScores adds the contributions of a term to the scores of the documents in the current window. The parameter
// firstDocNumber is the number of the first document in the window. The slice docLengths contains the lengths of the
// documents. The term's postings must be in columns.
func (q *searchState) addColumnScores(c *queryCursor, firstDocNumber int, docLengths []uint32) {
	gain := c.termScoreGain
	rest := q.scale.adjustedK1Base
	slope := q.scale.adjustedK1Slope
	w := c.columns
	low := firstDocNumber % (math.MaxUint16 + 1)
	for i, doc := range w.docNumberLowBits[c.windowEnd:w.findUpperBitsRangeEnd(uint32(firstDocNumber))] {
		at := int(doc) - low
		if at >= len(docLengths) {
			break
		}
		var f float64
		if w.frequencyBytes != nil {
			f = float64(w.decodeFrequencyByte(uint32(firstDocNumber + at)))
		} else {
			f = float64(w.termFrequencies[c.windowStart+i])
		}
		q.windowDocumentScores[at%docsPerScoreWindow] += float64(
			gain*f,
		) / (f + (rest + float64(slope*float64(docLengths[at]))))
		c.windowEnd++
	}
}

// hitCandidate is a document that contains a certain term. The terms with a greater maximum contribution have already
// been processed.
type hitCandidate struct {
	docNumberOrPostingIndex uint32 // document number; while a batch is collected, the index of the document's posting
	// estimated score from the terms that were processed so far, divided by the sum of all terms' gains
	scoreEstimate float32
	// the part k1·(1 − b + b·dl/avgdl) of the BM25 formula, where dl is the document's length and avgdl is the average
	// length. It is multiplied by 16 because term frequencies are in sixteenths of an occurrence.
	lengthAdjustedK1 float32
}

// estimateBatchSize is the maximum number of documents whose scores are estimated together, so that their memory
// accesses overlap.
const estimateBatchSize = 256

// likelyHit is a document that may be among the best hits of a search, because its estimated score is high enough.
type likelyHit struct {
	doc            uint32
	estimatedScore float32 // estimated score of the document
	// exact contributions of the terms that were processed so far, added in the order of the terms
	score            float64
	lengthAdjustedK1 float64 // part of the BM25 formula, as in hitCandidate.lengthAdjustedK1
}
