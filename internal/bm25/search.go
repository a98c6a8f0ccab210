// This file holds the questions that rank.

package bm25

import (
	"cmp"
	"math"
	"slices"
)

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
	x.needWhere(&ask)
	x.mu.RLock()
	defer x.mu.RUnlock()

	q.busy = true
	s := x.scale()
	q.open(x, s)
	q.where.fill(x, &ask)
	if q.where.n == 0 {
		q.busy = false
		return nil
	}
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
	case limit <= many && x.best(q, s, &top, offer):
	default:
		// Whatever was found before, it is found again.
		least := top.least
		top.heap = top.heap[:0]
		x.scan(q, s, least, func(number uint32, score float64) float64 {
			if score >= top.least && q.where.meets(number) {
				offer(number, score)
			}
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
	x.needWhere(&ask)
	x.mu.RLock()
	defer x.mu.RUnlock()

	n := 0
	s := x.scale()
	q.open(x, s)
	q.where.fill(x, &ask)
	if q.where.n == 0 {
		return 0
	}
	q.busy = true
	x.scan(q, s, math.SmallestNonzeroFloat64, func(number uint32, _ float64) float64 {
		if x.lens[number] != dead && q.where.meets(number) && (allow == nil || allow(x.docs[number].id)) {
			n++
		}
		return math.SmallestNonzeroFloat64
	})
	q.busy = false
	return n
}

// Newest returns the ids of the documents that the query allows, whatever its
// terms: at most q.Limit, those with the largest newer first, of equals the
// largest id.
func (x *Index) Newest(ask Query) []uint64 {
	x.needWhere(&ask)
	x.mu.RLock()
	defer x.mu.RUnlock()

	limit := min(max(ask.Limit, 0), len(x.docs))
	if limit == 0 {
		return nil
	}
	var w where
	w.fill(x, &ask)
	order := func(a, b *doc) int { return cmp.Or(cmp.Compare(b.newer, a.newer), cmp.Compare(b.id, a.id)) }
	best := make([]*doc, 0, limit+1)
	for n := len(x.docs) - 1; n >= 0; n-- { // what was put last is likely to be the newest
		d := &x.docs[n]
		if x.lens[n] == dead || !w.meets(uint32(n)) || len(best) == limit && order(best[limit-1], d) < 0 ||
			ask.Allow != nil && !ask.Allow(d.id) {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, d, order)
		best = slices.Insert(best, at, d)
		best = best[:min(len(best), limit)]
	}
	ids := make([]uint64, len(best))
	for i, d := range best {
		ids[i] = d.id
	}
	return ids
}
