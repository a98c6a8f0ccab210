// This file implements Index, which applies changes and publishes searchers.

package index

import (
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
)

// Index is an inverted index. It is safe for concurrent use. Readers use the current
// [Index.Searcher], and each change publishes a new searcher.
type Index struct {
	params Params
	seed   maphash.Seed

	current atomic.Pointer[Searcher]

	mu      sync.Mutex // held while a change is applied
	merging [2][]view  // views that are being merged in the background: small segments and large segments
	merger  sync.WaitGroup
}

// New returns an empty index. It panics if K1 is negative, B is outside of [0, 1], or
// either is NaN.
func New(p Params) *Index {
	x := &Index{params: p.orDefault(), seed: maphash.MakeSeed()}
	x.current.Store(&Searcher{params: x.params, seed: x.seed})
	return x
}

// Searcher returns the state of the index after the last change.
func (x *Index) Searcher() *Searcher { return x.current.Load() }

// Wait waits until no merge is running.
func (x *Index) Wait() { x.merger.Wait() }

// Apply makes several changes at once. Readers see either all changes or none. The index
// keeps the documents' Data and, for some time, their terms' texts.
func (x *Index) Apply(changes ...Change) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if now := x.current.Load(); len(changes) > 0 {
		x.publish(x.next(now, lastOfEach(changes)))
	}
}

// Put adds a document, or replaces the document with the same ID.
func (x *Index) Put(d Document) { x.Apply(Change{ID: d.ID, Document: &d}) }

// Delete deletes the document with this ID, if it exists.
func (x *Index) Delete(id uint64) { x.Apply(Change{ID: id}) }

// lastOfEach returns the last change of each document.
func lastOfEach(changes []Change) []Change {
	if len(changes) < 2 {
		return changes
	}
	last := make(map[uint64]int, len(changes))
	for i, c := range changes {
		last[c.ID] = i
	}
	if len(last) == len(changes) {
		return changes
	}
	var some []Change
	for i, c := range changes {
		if last[c.ID] == i {
			some = append(some, c)
		}
	}
	return some
}

// next returns the searcher after changes of different documents. If there are few changes, they
// are added to the memtable, otherwise they become a new segment.
func (x *Index) next(now *Searcher, changes []Change) *Searcher {
	terms := 0
	for _, c := range changes {
		if c.Document != nil {
			terms += len(c.Document.Terms)
		}
	}
	if len(changes) < memDocs && terms < memPostings {
		to := now.withViews(slices.Clone(now.views))
		to.extend(changes)
		return to
	}
	return now.withSegment(changes)
}

// After returns the searcher after changes of different documents, without a change to an index. The
// documents become a new segment.
func (x *Searcher) After(changes []Change) *Searcher {
	if len(changes) == 0 {
		return x
	}
	return x.withSegment(changes)
}

// withSegment returns the searcher after changes of different documents, which become a new segment.
func (x *Searcher) withSegment(changes []Change) *Searcher {
	to := x.withViews(slices.Clone(x.views))
	b := x.newBuilder()
	to.removeAll(changes, b.countLost)
	for _, c := range changes {
		if c.Document != nil {
			b.add(c.Document)
		}
	}
	to.live += b.s.counted
	to.total += b.s.total
	to.views = append(to.views, view{segment: b.finishSegment(to.scale())})
	return to
}

// extend applies the changes to the memtable of a searcher that is not published yet.
func (x *Searcher) extend(changes []Change) {
	at := slices.IndexFunc(x.views, func(v view) bool { return v.mem != nil && !v.mem.isFull() })
	s, m := &segment{isAscending: true}, memtable{}
	if at >= 0 {
		s, m = x.views[at].segment.growableCopy(), *x.views[at].mem
	}
	s.mem = &m
	x.removeAll(changes, func(text string, hash uint64) { m.add(text, hash, lostPosting, 0) })
	counted, total := s.counted, s.total
	for _, c := range changes {
		d := c.Document
		if d == nil {
			continue
		}
		number := uint32(len(s.lens))
		s.isAscending = s.isAscending && (number == 0 || d.ID > s.ids.at(number-1))
		s.addDoc(d, x.params.CountEmpty)
		for _, t := range d.Terms {
			if t.TF > 0 {
				m.add(t.Text, x.hash(t.Text), number, t.TF)
			}
		}
		m.ends = append(m.ends, uint32(len(m.postings)))
	}
	s.blocks = timeBlocks(s.created.all())
	s.latestUpdates = blockMaxima(s.updated.all())
	x.live += s.counted - counted
	x.total += s.total - total
	switch {
	case at >= 0:
		x.views[at].segment = s
	case len(s.lens) > 0 || len(m.postings) > 0:
		x.views = append(x.views, view{segment: s})
	}
}

// growableCopy returns a copy of a memtable's segment, to which documents can be added.
func (s *segment) growableCopy() *segment {
	return &segment{
		ids:         s.ids,
		updated:     s.updated,
		created:     s.created,
		lens:        s.lens,
		data:        s.data,
		isAscending: s.isAscending,
		counted:     s.counted,
		total:       s.total,
	}
}

// removeAll removes the changed documents from a searcher that is not published yet. It
// calls lose for each term of a removed document.
func (x *Searcher) removeAll(changes []Change, lose func(text string, hash uint64)) {
	owned := map[*segment]bool{}      // segments whose deletion bits were already copied
	wanted := map[*segment][]uint32{} // numbers of the documents whose terms are unknown
	for _, c := range changes {
		v, number, ok := x.locate(c.ID)
		if !ok {
			continue
		}
		switch dl := v.lens[number]; {
		case v.mem != nil:
			v.mem.eachTerm(number, func(n uint32) { lose(v.mem.terms[n].text, v.mem.terms[n].hash) })
		case dl == unscored:
		case c.Old != nil && min(c.Old.Len, unscored-1) == dl:
			for _, text := range c.Old.distinctTerms() {
				lose(text, x.hash(text))
			}
		default:
			wanted[v.segment] = append(wanted[v.segment], number)
		}
		if dl := v.lens[number]; dl != unscored {
			x.live--
			x.total -= uint64(dl)
		}
		*v = v.without(number, owned[v.segment])
		owned[v.segment] = true
	}
	for _, v := range x.views {
		if documents := wanted[v.segment]; documents != nil {
			v.eachTermIn(documents, func(text string) { lose(text, x.hash(text)) })
		}
	}
}

// NeedsOld reports whether a change of this document must read all postings of a large
// segment unless [Change.Old] is set.
func (x *Searcher) NeedsOld(id uint64) bool {
	v, _, ok := x.locate(id)
	return ok && v.mem == nil
}

// publish makes now the current searcher and starts merges in the background. If too many full memtables
// (segments with the newest documents) are waiting, publish merges the memtables first. x.mu must be
// held.
func (x *Index) publish(now *Searcher) {
	if full := smallToMerge(now.views, x.mergingViews()); len(full) > mostFull && full[0].mem != nil {
		if s := now.merge(full); s != nil {
			now = now.withViews(replace(now.views, full, s))
		}
	}
	x.current.Store(now)
	for lane := range x.merging {
		if x.merging[lane] != nil {
			continue
		}
		choose := smallToMerge
		if lane == 1 {
			choose = largeToMerge
		}
		if merged := choose(now.views, x.mergingViews()); merged != nil {
			x.mergeLater(now, lane, merged)
		}
	}
}

// mergingViews returns the views that are being merged. x.mu must be held.
func (x *Index) mergingViews() []view { return slices.Concat(x.merging[:]...) }

// withViews returns a searcher that has the same documents in other views.
func (x *Searcher) withViews(views []view) *Searcher {
	return &Searcher{params: x.params, seed: x.seed, views: views, live: x.live, total: x.total}
}

// mergeLater starts a merge of views in the background, in the lane for small or for large
// segments. x.mu must be held.
func (x *Index) mergeLater(now *Searcher, lane int, merged []view) {
	x.merging[lane] = merged
	x.merger.Go(func() {
		s := now.merge(merged)
		x.mu.Lock()
		defer x.mu.Unlock()
		x.merging[lane] = nil
		// Discard the result if the snapshot could not be read, or if Compact was called in
		// the meantime.
		if now := x.current.Load(); now.Err() == nil && holdsAll(now.views, merged) {
			to := now.withViews(replace(now.views, merged, s))
			if now.Err() == nil { // the merge noticed the documents that were deleted in the meantime
				x.publish(to)
			}
		}
	})
}

// isCompact reports whether x has at most one segment, and the segment is complete and has no
// deleted documents.
func (x *Searcher) isCompact() bool {
	if len(x.views) != 1 {
		return len(x.views) == 0
	}
	return x.views[0].gone == 0 && x.views[0].mem == nil
}

// Compact merges all segments into a new segment without deleted documents, ordered by ID.
// It returns the new searcher.
func (x *Index) Compact() *Searcher {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := x.current.Load()
	if now.isCompact() {
		return now
	}
	if s := now.merge(now.views); now.Err() == nil {
		now = now.withViews([]view{{segment: s}})
		x.current.Store(now)
	}
	return now
}
