// This file holds the ranking: the scan over the lists of a query's terms.

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

	top := top{limit: min(limit, len(x.docs)), heap: q.heap[:0], least: math.SmallestNonzeroFloat64}
	x.scan(q, func(number uint32, score float64) float64 {
		if x.lens[number] == dead {
			return top.least
		}
		d := &x.docs[number]
		c := ranked{score, d.newer, d.id}
		if !top.wants(c) || allow != nil && !allow(d.id) {
			return top.least
		}
		if factor != nil { // which lifts nobody, so who was not wanted is not wanted now
			if c.score *= factor(d.id); !top.wants(c) {
				return top.least
			}
		}
		top.add(c)
		return top.least
	})
	q.heap = top.heap
	return top.hits()
}

// Count returns the number of documents with a score above 0 that the query
// allows, whatever its limit.
func (x *Index) Count(ask Query) int {
	q, allow := newQuery(ask.Terms), ask.Allow
	defer q.release()
	x.needFor(q.terms)
	x.mu.RLock()
	defer x.mu.RUnlock()

	n := 0
	x.scan(q, func(number uint32, _ float64) float64 {
		if x.lens[number] != dead && (allow == nil || allow(x.docs[number].id)) {
			n++
		}
		return math.SmallestNonzeroFloat64
	})
	return n
}
