// This file holds the questions that rank.

package bm25

import "math"

// Hit is a document that was found, and its score, which is above 0.
type Hit struct {
	ID    uint64
	Score float64
}

// Search returns the documents with the highest scores, at most q.Limit: higher
// scores first, then newer ones, then smaller ids.
func (x *Index) Search(ask Query) []Hit {
	limit, allow, factor := ask.Limit, ask.Allow, ask.Factor
	if limit <= 0 {
		return nil
	}
	q := newQuery(ask.Terms)
	defer q.release()
	x.needFor(q.terms)
	x.mu.RLock()
	defer x.mu.RUnlock()

	q.busy = true
	s := x.scale()
	q.open(x, s)
	top := top{limit: min(limit, len(x.docs)), heap: q.heap[:0], least: math.SmallestNonzeroFloat64}
	offer := func(number uint32, score float64) (allowed bool) {
		d := &x.docs[number]
		c := ranked{score, d.newer, d.id}
		if !top.wants(c) || x.lens[number] == dead {
			return true
		}
		if allow != nil && !allow(d.id) {
			return false
		}
		if factor != nil { // which lifts nobody, so who was not wanted is not wanted now
			if c.score *= factor(d.id); !top.wants(c) {
				return true
			}
		}
		top.add(c)
		return true
	}
	switch {
	case ask.Among != nil && allow != nil && x.among(q, s, ask.Among, offer):
	case limit <= many && x.best(q, s, &top, offer):
	default:
		// Whatever was found before, it is found again.
		least := top.least
		top.heap = top.heap[:0]
		x.scan(q, s, least, func(number uint32, score float64) float64 {
			offer(number, score)
			return max(least, top.least)
		})
	}
	q.heap, q.busy = top.heap, false
	return top.hits()
}

// For more than many hits the threshold comes too late to be of use.
const many = 200

// Count returns the number of documents with a score above 0 that the query
// allows, whatever its limit.
func (x *Index) Count(ask Query) int {
	q, allow := newQuery(ask.Terms), ask.Allow
	defer q.release()
	x.needFor(q.terms)
	x.mu.RLock()
	defer x.mu.RUnlock()

	n := 0
	s := x.scale()
	q.open(x, s)
	q.busy = true
	x.scan(q, s, math.SmallestNonzeroFloat64, func(number uint32, _ float64) float64 {
		if x.lens[number] != dead && (allow == nil || allow(x.docs[number].id)) {
			n++
		}
		return math.SmallestNonzeroFloat64
	})
	q.busy = false
	return n
}
