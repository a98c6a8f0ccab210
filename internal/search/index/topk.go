// This file keeps the best hits of a search in a heap, with the worst hit at the top.

package index

// rankedHit is a hit with its score. Updated and ID are read only to compare hits with equal
// scores, to avoid memory accesses.
type rankedHit struct {
	score  float64
	view   *view // view of the document
	number uint32
}

func (a *rankedHit) id() uint64 { return a.view.ids.valueAt(a.number) }

// ranksBefore reports whether a ranks before b: it has a higher score, a newer document, or a
// smaller ID. The order is total, because IDs are unique.
func (a *rankedHit) ranksBefore(b *rankedHit) bool {
	if a.score != b.score {
		return a.score > b.score
	}
	return a.winsTie(b)
}

// winsTie is like before, for equal scores.
func (a *rankedHit) winsTie(b *rankedHit) bool {
	if x, y := a.view.updated.valueAt(a.number), b.view.updated.valueAt(b.number); x != y {
		return x > y
	}
	return a.id() < b.id()
}

// topK keeps the hits with the highest scores, at most limit.
type topK struct {
	limit int
	// Binary heap: the children of i are 2i+1 and 2i+2, and a parent never ranks before its children.
	heap     []rankedHit
	minScore float64 // minimum score of a hit that can still be added
}

// wouldKeep reports whether c would be among the best.
func (t *topK) wouldKeep(c rankedHit) bool { return len(t.heap) < t.limit || c.ranksBefore(&t.heap[0]) }

// addHit adds a hit that wouldKeep accepted. If there are then too many hits, it drops the lowest hit.
func (t *topK) addHit(c rankedHit) {
	if len(t.heap) < t.limit {
		t.heap = append(t.heap, c)
		i := len(t.heap) - 1
		for i > 0 && t.heap[(i-1)/2].ranksBefore(&c) {
			t.heap[i] = t.heap[(i-1)/2]
			i = (i - 1) / 2
		}
		t.heap[i] = c
	} else {
		replaceTop(t.heap, c)
	}
	if len(t.heap) == t.limit {
		t.minScore = t.heap[0].score
	}
}

// replaceTop replaces the first element of a heap by c and restores the order.
func replaceTop(heap []rankedHit, c rankedHit) {
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

// takeHits returns the hits in order and empties the heap. It returns nil if the heap is
// empty.
func (t *topK) takeHits() []Hit {
	if len(t.heap) == 0 {
		return nil
	}
	for n := len(t.heap) - 1; n > 0; n-- { // move the worst to the end
		worst := t.heap[0]
		replaceTop(t.heap[:n], t.heap[n])
		t.heap[n] = worst
	}
	hits := make([]Hit, len(t.heap))
	for i := range t.heap {
		r := &t.heap[i]
		hits[i] = Hit{ID: r.id(), Score: r.score, Data: r.view.documentData(r.number)}
	}
	t.heap = t.heap[:0]
	return hits
}

// A Hit is a document that was found and its score, which is above 0.
type Hit struct {
	ID    uint64
	Score float64
	Data  any // as returned by [ComputeTermScores.Data]
}
