// The best hits so far: a heap with the worst of them on top.

package index

// ranked is a hit and its rank. What else ranks it is read only of hits with
// equal scores: each of those is a wait for memory.
type ranked struct {
	score  float64
	view   *view // where it is
	number uint32
}

func (a *ranked) id() uint64 { return a.view.ids.at(a.number) }

// before reports whether a comes before b: a higher score, then a newer document,
// then a smaller id. No two documents are equal: ids differ.
func (a *ranked) before(b *ranked) bool {
	if a.score != b.score {
		return a.score > b.score
	}
	return a.wins(b)
}

// wins is before for equal scores.
func (a *ranked) wins(b *ranked) bool {
	if x, y := a.view.updated.at(a.number), b.view.updated.at(b.number); x != y {
		return x > y
	}
	return a.id() < b.id()
}

// topK keeps the first limit of what it is given.
type topK struct {
	limit int
	heap  []ranked // children of i at 2i+1 and 2i+2; a parent never comes before its child
	least float64  // no lower score can still enter
}

// wants reports whether c would be among the first.
func (t *topK) wants(c ranked) bool { return len(t.heap) < t.limit || c.before(&t.heap[0]) }

// add takes what is wanted, and drops the worst if there are too many.
func (t *topK) add(c ranked) {
	if len(t.heap) < t.limit {
		t.heap = append(t.heap, c)
		i := len(t.heap) - 1
		for i > 0 && t.heap[(i-1)/2].before(&c) {
			t.heap[i] = t.heap[(i-1)/2]
			i = (i - 1) / 2
		}
		t.heap[i] = c
	} else {
		down(t.heap, c)
	}
	if len(t.heap) == t.limit {
		t.least = t.heap[0].score
	}
}

// down puts c in the place of the first of a heap, and restores the order.
func down(heap []ranked, c ranked) {
	i := 0
	for {
		child := 2*i + 1
		if child >= len(heap) {
			break
		}
		if r := child + 1; r < len(heap) && heap[child].before(&heap[r]) {
			child = r
		}
		if !c.before(&heap[child]) {
			break
		}
		heap[i] = heap[child]
		i = child
	}
	heap[i] = c
}

// hits returns what was kept, first to last, and nil when that is nothing. Nothing
// is kept then.
func (t *topK) hits() []Hit {
	if len(t.heap) == 0 {
		return nil
	}
	for n := len(t.heap) - 1; n > 0; n-- { // the worst goes to the end
		worst := t.heap[0]
		down(t.heap[:n], t.heap[n])
		t.heap[n] = worst
	}
	hits := make([]Hit, len(t.heap))
	for i := range t.heap {
		r := &t.heap[i]
		hits[i] = Hit{ID: r.id(), Score: r.score, Data: r.view.dataOf(r.number)}
	}
	t.heap = t.heap[:0]
	return hits
}

// Hit is a document that was found, and its score, which is above 0.
type Hit struct {
	ID    uint64
	Score float64
	Data  any // as [TermScores.Data] returns it
}
