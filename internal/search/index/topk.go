// This file keeps the best hits of a search in a heap, with the worst hit at the top.

package index

// rankedHit is a document with its score. The time and the ID are read only to compare hits with equal scores, because
// reading them takes time.
type rankedHit struct {
	score     float64
	view      *segmentView // part of the index that contains the hit's document
	docNumber uint32

	hasUpdateTime    bool  // cachedUpdateTime was read
	cachedUpdateTime int64 // time of the document's last update
}

func (a *rankedHit) id() uint64 { return a.view.ids.valueAt(a.docNumber) }

// updateTime returns the time of the document's last update. It keeps the time, because in a query for many hits, a hit
// is compared with several hits that have the same score.
func (a *rankedHit) updateTime() int64 {
	if !a.hasUpdateTime {
		a.cachedUpdateTime, a.hasUpdateTime = a.view.updated.valueAt(a.docNumber), true
	}
	return a.cachedUpdateTime
}

// ranksBefore reports whether a is a better hit than b: it has a higher score or, with equal scores, was updated later
// or has a smaller ID. Two hits are never equal, because IDs are unique.
func (a *rankedHit) ranksBefore(b *rankedHit) bool {
	if a.score != b.score {
		return a.score > b.score
	}
	return a.winsTie(b)
}

// winsTie reports whether hit a comes before hit b if their scores are equal. The document that was updated last comes
// first, and then the smaller ID.
func (a *rankedHit) winsTie(b *rankedHit) bool {
	if x, y := a.updateTime(), b.updateTime(); x != y {
		return x > y
	}
	return a.id() < b.id()
}

// bestHits keeps the best hits, at most limit.
type bestHits struct {
	limit int
	// a binary heap: the children of element i are 2i+1 and 2i+2, and a hit ranks after its children, so that the
	// worst hit is first
	heap        []rankedHit
	minHitScore float64 // minimum score of a hit that can still be among the best
}

// wouldKeep reports whether hit c would be among the best.
func (t *bestHits) wouldKeep(c rankedHit) bool {
	return len(t.heap) < t.limit || c.ranksBefore(&t.heap[0])
}

// addHit adds a hit for which wouldKeep returned true. If there are too many hits then, it drops the worst.
func (t *bestHits) addHit(c rankedHit) {
	if len(t.heap) < t.limit {
		t.heap = append(t.heap, c)
		i := len(t.heap) - 1
		for i > 0 && t.heap[(i-1)/2].ranksBefore(&c) {
			t.heap[i] = t.heap[(i-1)/2]
			i = (i - 1) / 2
		}
		t.heap[i] = c
	} else {
		replaceHeapRoot(t.heap, c)
	}
	if len(t.heap) == t.limit {
		t.minHitScore = t.heap[0].score
	}
}

// replaceHeapRoot replaces the first element of a heap by c, and restores the heap's order.
func replaceHeapRoot(heap []rankedHit, c rankedHit) {
	i := 0
	for {
		child := 2*i + 1
		if child >= len(heap) {
			break
		}
		if r := child + 1; r < len(heap) && heap[child].ranksBefore(&heap[r]) {
			child = r
		}
		if !c.ranksBefore(&heap[child]) {
			break
		}
		heap[i] = heap[child]
		i = child
	}
	heap[i] = c
}

// takeHits returns the hits, the best first, and empties the heap. It returns nil if the heap is empty.
func (t *bestHits) takeHits() []Hit {
	if len(t.heap) == 0 {
		return nil
	}
	// move the worst of the first n+1 hits to index n, so that the heap becomes a list with the best hit first
	for n := len(t.heap) - 1; n > 0; n-- {
		worst := t.heap[0]
		replaceHeapRoot(t.heap[:n], t.heap[n])
		t.heap[n] = worst
	}
	hits := make([]Hit, len(t.heap))
	for i := range t.heap {
		r := &t.heap[i]
		hits[i] = Hit{ID: r.id(), Score: r.score, Data: r.view.documentData(r.docNumber)}
	}
	t.heap = t.heap[:0]
	return hits
}

// A Hit is a document that a search found.
type Hit struct {
	ID    uint64
	Score float64
	Data  any // see [TermScores.DocumentData]
}
