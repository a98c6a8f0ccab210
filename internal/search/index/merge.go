// Merging segments: when, which, and how.

package index

import (
	"cmp"
	"hash/maphash"
	"math"
	"math/bits"
	"slices"
)

// Segments of a class have like sizes, each class eight times those of the one
// before. As many as fanIn are merged into one, fewer of the large ones. A
// memtable is of class 0, and becomes a segment when it is full. A segment of
// which too many documents are deleted is merged with all that are smaller, which
// hold what was lost by that.
const (
	classBits    = 3
	fanIn        = 4
	fanInLarge   = 3  // of segments of largeClass and above: they hold most terms twice
	largeClass   = 4  // from this class on they are merged in a lane of their own, which smaller ones do not wait for
	mostFull     = 8  // memtables that wait; a change merges more itself
	leastDeleted = 64 // documents of a segment that is written again; and 3 in 10
)

func (v *view) class() int {
	if v.mem != nil {
		return 0
	}
	return max(1, bits.Len(uint(v.live()+len(v.terms)/256))/classBits)
}

// toMerge returns the views to merge in the lane of small or of large segments,
// nil for none. A memtable that is not full and what is being merged are left
// alone.
func toMerge(views, merging []view, large bool) (some []view) {
	var byClass [24][]view
	for _, v := range views {
		if holds(merging, v) || (v.mem != nil && !v.mem.full()) {
			continue
		}
		c := v.class()
		if (c >= largeClass) != large {
			continue
		}
		if v.gone >= leastDeleted && v.gone*10 > len(v.lens)*3 {
			return slices.DeleteFunc(slices.Clone(views), func(w view) bool {
				return w.live() > v.live() || holds(merging, w) || (w.mem != nil && !w.mem.full())
			})
		}
		byClass[c] = append(byClass[c], v)
	}
	for c, some := range byClass {
		most := fanIn
		switch {
		case c == 0:
			most = 1
		case c >= largeClass:
			most = fanInLarge
		}
		if len(some) >= most {
			return some
		}
	}
	return nil
}

// holds reports whether the segment of v is among those of the views.
func holds(views []view, v view) bool {
	return slices.ContainsFunc(views, func(w view) bool { return w.segment == v.segment })
}

// holdsAll reports whether all segments of some are among those of the views.
func holdsAll(views, some []view) bool {
	return !slices.ContainsFunc(some, func(v view) bool { return !holds(views, v) })
}

// merge returns a segment of what is not deleted of some views. To count a term
// right, what the views lost is kept as far as it was lost from other segments.
// When the snapshot cannot be read, the error is that of x, and it returns nil.
func (x *Searcher) merge(views []view) *segment {
	b, sc := x.newBuilder(), x.scale()
	s := b.s
	views = slices.Clone(views)
	slices.SortStableFunc(views, func(v, w view) int { return cmp.Compare(v.firstID(), w.firstID()) }) // so that the ids rise, if they can
	numbers := make([][]uint32, len(views))                                                            // by view: old document numbers to new
	for i := range views {
		numbers[i] = b.adoptDocs(&views[i])
	}
	largest := 0
	for i := range views {
		largest = max(largest, views[i].numTerms())
	}
	s.terms = make([]term, 0, largest+largest/2)
	s.dict.grow(cap(s.terms))
	terms := make([][]uint32, len(views)) // by view: old term numbers to new
	var room []posting
	for i := range views {
		terms[i] = b.adoptTerms(&views[i], &room)
	}
	l := layOut(s)
	for i := range views {
		for n, to := range terms[i] {
			if to == dropped {
				continue
			}
			for _, p := range views[i].postingsOf(n, &room) {
				if number := numbers[i][p.doc]; number != dropped {
					l.push(to, posting{number, p.tf, sc.impact(p.tf, s.lens[number])})
				}
			}
		}
	}
	if x.Err() != nil { // lists are missing that were counted
		return nil
	}
	l.finish(sc.slope)
	return s
}

// firstID returns the id of the first document, 0 for none.
func (s *segment) firstID() uint64 {
	if len(s.lens) == 0 {
		return 0
	}
	return s.ids.at(0)
}

// dropped is the new number of what is not there any more.
const dropped = math.MaxUint32

// adoptDocs adds the documents of a view that are not deleted, and returns their
// new numbers.
func (b *builder) adoptDocs(v *view) []uint32 {
	s := b.s
	numbers := make([]uint32, len(v.lens))
	ids := v.ids.all()
	updated := v.updated.all()
	created := v.created.all()
	for i, id := range ids {
		if v.isDeleted(uint32(i)) {
			numbers[i] = dropped
			continue
		}
		numbers[i] = uint32(len(s.lens))
		s.ids.add(id)
		s.updated.add(updated[i])
		s.created.add(created[i])
		s.lens = append(s.lens, v.lens[i])
		s.data = append(s.data, v.dataOf(uint32(i)))
		if v.lens[i] != unscored {
			s.counted++
			s.total += uint64(v.lens[i])
		}
	}
	return numbers
}

// adoptTerms adds the terms of a view, counts their postings and what was lost,
// and returns their new numbers.
func (b *builder) adoptTerms(v *view, room *[]posting) []uint32 {
	numbers := make([]uint32, v.numTerms())
	for n := range numbers {
		t := v.term(n)
		df := t.df
		if v.gone > 0 {
			df = 0
			for _, p := range v.postingsOf(n, room) {
				if !v.isDeleted(p.doc) {
					df++
				}
			}
		}
		lost := t.lost - (t.df - df)
		if df == 0 && lost == 0 {
			numbers[n] = dropped
			continue
		}
		hash := maphash.String(b.seed, t.text)
		to, ok := b.s.termNumber(t.text, hash)
		if !ok {
			to = b.newTerm(t.text, hash)
		}
		b.s.terms[to].df += uint32(df)
		b.s.terms[to].lost += int32(lost)
		numbers[n] = to
	}
	return numbers
}

// replace returns views with those of some segments replaced by the one that
// they were merged into. What was deleted from those since is deleted from it.
func replace(views, merged []view, into *segment) []view {
	next := view{segment: into}
	rest := make([]view, 0, len(views))
	owned := false
	for _, v := range views {
		i := slices.IndexFunc(merged, func(m view) bool { return m.segment == v.segment })
		if i < 0 {
			rest = append(rest, v)
			continue
		}
		for w := range v.deleted {
			since := v.deleted[w]
			if old := merged[i].deleted; old != nil {
				since &^= old[w]
			}
			for ; since != 0; since &= since - 1 {
				id := v.ids.at(uint32(64*w + bits.TrailingZeros64(since)))
				if number, ok := into.number(id); ok {
					next, owned = next.without(number, owned), true
				}
			}
		}
	}
	// Large segments first: what they hold most often raises the threshold for
	// the others.
	at, _ := slices.BinarySearchFunc(rest, next, func(a, b view) int { return b.live() - a.live() })
	return slices.Insert(rest, at, next)
}
