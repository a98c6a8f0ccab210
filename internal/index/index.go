// The index: how changes become the next searcher.

package index

import (
	"hash/maphash"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
)

// Index is an inverted index. It is safe for concurrent use: readers take its
// [Index.Searcher], and changes publish the next one.
type Index struct {
	params Params
	seed   maphash.Seed

	current atomic.Pointer[Searcher]

	mu      sync.Mutex // held by a change
	merging []view     // in the background; nothing else merges them
	merger  sync.WaitGroup
}

// New returns an empty index. It panics when K1 is negative, B is outside
// [0, 1], or either is not a number.
func New(p Params) *Index {
	x := &Index{params: p.orDefault(), seed: maphash.MakeSeed()}
	x.current.Store(&Searcher{params: x.params, seed: x.seed})
	return x
}

// Searcher returns the index as it stands after the last change.
func (x *Index) Searcher() *Searcher { return x.current.Load() }

// Wait waits until no merging is under way.
func (x *Index) Wait() { x.merger.Wait() }

// Apply makes some changes at once: readers see all of them, or none. It keeps
// nothing of the documents but their data.
func (x *Index) Apply(changes ...Change) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if now := x.current.Load(); len(changes) > 0 {
		x.settle(x.next(now, lastOfEach(changes)))
	}
}

// Put puts a document, in the place of the one of its ID if there is one.
func (x *Index) Put(d Document) { x.Apply(Change{d.ID, &d}) }

// Delete deletes the document of that id, if there is one.
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

// next returns the searcher after changes of documents that differ.
func (x *Index) next(now *Searcher, changes []Change) *Searcher {
	to := &Searcher{params: x.params, seed: x.seed, views: slices.Clone(now.views), live: now.live, total: now.total}
	b := now.newBuilder()
	owned := map[*segment]bool{} // whose bits are copied
	for _, c := range changes {
		to.remove(c.ID, b, owned)
		if c.Document != nil {
			b.add(c.Document)
		}
	}
	if len(b.s.ids) == 0 && len(b.s.terms) == 0 {
		return to
	}
	to.live += b.s.counted
	to.total += b.s.total
	to.views = append(to.views, view{segment: b.done(to.scale())})
	return to
}

// remove takes a document out of a searcher in the making.
func (x *Searcher) remove(id uint64, b *builder, owned map[*segment]bool) {
	v, number, ok := x.locate(id)
	if !ok {
		return
	}
	v.termsOf(number, func(n uint32) { b.lose(v.term(int(n)).text) })
	if dl := v.lens[number]; dl != unscored {
		x.live--
		x.total -= uint64(dl)
	}
	*v = v.without(number, owned[v.segment])
	owned[v.segment] = true
}

// settle merges what is worth it, and publishes the searcher. x.mu is held.
func (x *Index) settle(now *Searcher) {
	for {
		merged, class := toMerge(now.views, x.merging)
		if merged == nil || class > inlineClass {
			x.current.Store(now)
			if merged != nil && x.merging == nil {
				x.mergeLater(now, merged)
			}
			return
		}
		now = now.with(replace(now.views, merged, now.merge(merged)))
	}
}

// with returns the searcher with other views of the same documents.
func (x *Searcher) with(views []view) *Searcher {
	return &Searcher{params: x.params, seed: x.seed, views: views, live: x.live, total: x.total}
}

// mergeLater merges some views in the background. x.mu is held.
func (x *Index) mergeLater(now *Searcher, merged []view) {
	x.merging = merged
	x.merger.Go(func() {
		s := now.merge(merged)
		x.mu.Lock()
		defer x.mu.Unlock()
		x.merging = nil
		// It is of no use when the snapshot could not be read, or Compact was
		// called meanwhile.
		if now := x.current.Load(); now.Err() == nil && holdsAll(now.views, merged) {
			x.settle(now.with(replace(now.views, merged, s)))
		}
	})
}

// Compact merges all segments into one without deletions, of documents whose ids
// rise, and returns the searcher of it.
func (x *Index) Compact() *Searcher {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := x.current.Load()
	if len(now.views) == 0 || len(now.views) == 1 && now.views[0].gone == 0 {
		return now
	}
	if s := now.merge(now.views); now.Err() == nil {
		now = now.with([]view{{segment: s}})
		x.current.Store(now)
	}
	return now
}

// Fill puts documents into an empty index, as Apply does, for a fraction of the
// cost. Each document is used before the next is asked for. After one that is nil
// the index stays empty. It panics when the index is not empty, or an id comes
// twice.
func (x *Index) Fill(documents iter.Seq[*Document]) {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := x.current.Load()
	if len(now.views) > 0 {
		panic("index: Fill of an index that is not empty")
	}
	b := now.newBuilder()
	b.fills = true
	for d := range documents {
		if d == nil {
			return
		}
		b.add(d)
	}
	if len(b.s.ids) == 0 {
		return
	}
	to := &Searcher{params: x.params, seed: x.seed, live: b.s.counted, total: b.s.total}
	s := b.done(to.scale())
	to.views = []view{{segment: s}}
	if !s.rising && s.byID.used > 0 {
		for n, id := range s.ids {
			if first, _ := s.number(id); first != uint32(n) {
				panic("index: Fill with an id that came before")
			}
		}
	}
	x.current.Store(to)
}
