// This file holds how the index is kept up with the store: how changes are
// noted, who brings the index up to them, and how it is filled.

package oxbow

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/oxbow-memory/oxbow/internal/bm25"
)

// news is the changes that are not in the shelf yet.
type news struct {
	mu     sync.Mutex // guards the following; who holds it waits for nobody
	wanted bool       // there is a shelf, or one is being filled
	deltas []cutDelta // oldest first
	taking bool       // some were taken, and are on their way into the shelf
	told   int        // times that changes were told

	asked atomic.Bool // somebody recalled since the last change of this memory
}

// cutDelta is a change and its entry's terms, by ranking; those of a ranking may
// be missing.
type cutDelta struct {
	Delta
	docs map[*ranking]bm25.Doc
}

// add notes changes.
func (n *news) add(deltas []cutDelta) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.told++
	if n.wanted {
		n.deltas = append(n.deltas, deltas...)
	}
}

// begin drops what there is and keeps what comes.
func (n *news) begin() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.wanted, n.deltas = true, nil
}

// want says whether changes are to be kept.
func (n *news) want(wanted bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.wanted = wanted; !wanted {
		n.deltas = nil
	}
}

// take returns the changes and keeps them no longer. Somebody who asks is told
// that there is something until taken is called.
func (n *news) take() []cutDelta {
	n.mu.Lock()
	defer n.mu.Unlock()
	ds := n.deltas
	n.deltas, n.taking = nil, len(ds) > 0
	return ds
}

func (n *news) taken() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.taking = false
}

// len returns how many changes there are, those being taken in not among them.
func (n *news) len() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.deltas)
}

// any reports whether there are changes that are not in the shelf.
func (n *news) any() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.taking || len(n.deltas) > 0
}

func (n *news) count() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.told
}

// changed takes in what a store did. It is called on the way of every change,
// so it only notes it. It must not wait for anybody who waits for the store.
func (m *Memory) changed(e Event) {
	if e.Reset {
		m.mu.Lock()
		m.resets++
		m.putShelf(nil)
		m.mu.Unlock()
	}
	m.news.add(m.cutOwn(e.Changes))
}

// mostTakenIn is how many changes a writer cuts into terms, and takes into the
// index, that somebody recalls from: more are left to who recalls next, and may
// need it never.
const mostTakenIn = 8

// cutOwn cuts the entries of few changes into terms when somebody recalls
// beside: who recalls need not wait for that then, nobody having been told yet
// that they are made. When changes pile up, nobody recalls any more.
func (m *Memory) cutOwn(deltas []Delta) []cutDelta {
	ds := make([]cutDelta, len(deltas))
	for i, d := range deltas {
		ds[i].Delta = d
	}
	if m.news.asked.Load() && m.news.len()+len(ds) <= mostTakenIn && m.mu.TryRLock() {
		_, rs := m.rankings()
		m.mu.RUnlock()
		cutEach(ds, rs)
	}
	return ds
}

// rankings returns the shelf, nil for none, and its rankings. m.mu is held.
func (m *Memory) rankings() (*shelf, []*ranking) {
	if m.shelf == nil {
		return nil, nil
	}
	return m.shelf, slices.Collect(maps.Values(m.shelf.rankings))
}

// cutEach cuts the entries of changes into the terms of rankings.
func cutEach(ds []cutDelta, rs []*ranking) {
	var words []string
	for i := range ds {
		d := &ds[i]
		if d.Entry == nil {
			continue
		}
		for _, r := range rs {
			if _, done := d.docs[r]; done {
				continue
			}
			if d.docs == nil {
				d.docs = make(map[*ranking]bm25.Doc, len(rs))
			}
			var doc bm25.Doc
			r.cut(d.Entry, &doc, &words)
			d.docs[r] = doc
		}
	}
}

// putShelf puts another shelf, nil for none, in the place of the one there is.
// m.mu is held exclusively.
func (m *Memory) putShelf(s *shelf) {
	m.shelf.close()
	m.shelf = s
	m.news.want(s != nil || m.filling)
}

// takeInOwn takes few changes into the index, behind one of this memory, when
// somebody recalls beside: who recalls would have to do it.
func (m *Memory) takeInOwn() {
	if m.news.asked.Load() {
		m.news.asked.Store(false)
		if n := m.news.len(); n > 0 && n <= mostTakenIn {
			m.takeIn()
		}
	}
}

// takeIn brings a filled index up to all that was noted before.
func (m *Memory) takeIn() {
	m.intake.Lock()
	defer m.intake.Unlock()
	m.mu.RLock()
	s, rs := m.rankings()
	var ds []cutDelta
	if s != nil {
		ds = m.news.take()
	}
	m.mu.RUnlock()
	if len(ds) == 0 {
		return
	}
	defer m.news.taken()
	cutEach(ds, rs) // most of the work, while others recall
	lockSoon(&m.mu)
	defer m.mu.Unlock()
	if m.shelf != s {
		return // another is filled from what the store holds now
	}
	for _, d := range ds {
		s.set(d)
	}
}

// drain brings a shelf up to what was noted while it was filled. m.mu is held
// exclusively.
func (m *Memory) drain() {
	for _, d := range m.news.take() {
		m.shelf.set(d)
	}
	m.news.taken()
}

// fresh brings the index up to the store, filling it when there is none.
func (m *Memory) fresh(ctx context.Context) error {
	_, err := m.freshFor(ctx, nil)
	return err
}

// freshFor is fresh for a query, nil for none; then a glance may do instead.
func (m *Memory) freshFor(ctx context.Context, q *Query) (*glance, error) {
	w, watched := m.store.(Watcher)
	if watched {
		if err := w.Refresh(ctx); err != nil {
			return nil, err
		}
		if !m.news.asked.Load() { // else the cache line is left alone
			m.news.asked.Store(true)
		}
		rlockSoon(&m.mu)
		filled, g := m.shelf != nil, m.lastGlance()
		m.mu.RUnlock()
		if g.does(m, q) {
			return g, nil
		}
		if filled {
			if m.news.any() {
				m.takeIn()
			}
			return nil, nil
		}
	}
	return m.fillFor(ctx, q, watched)
}

// fillFor fills the index, or takes a glance for the query, if nobody did so
// meanwhile.
func (m *Memory) fillFor(ctx context.Context, q *Query, watched bool) (*glance, error) {
	m.fill.Lock()
	defer m.fill.Unlock()
	for {
		m.mu.Lock()
		if g := m.lastGlance(); watched && (m.shelf != nil || g.does(m, q)) {
			m.mu.Unlock()
			return g, nil
		}
		m.filling = true
		m.news.begin()
		resets := m.resets
		m.mu.Unlock()

		s := newShelf(m.opts.Ranking)
		if saved := m.savedFor(m.opts.Ranking); saved != nil {
			s.begin(saved)
		} else if q != nil {
			if g, err := m.glance(ctx, *q); g != nil || err != nil {
				m.mu.Lock()
				m.filling = false
				m.news.want(false)
				m.mu.Unlock()
				return g, err
			}
		}
		var err error
		if s.late {
			h := &s.saved.head
			at := position{log: h.store, seq: h.seq, offset: h.at, chain: h.chain}
			for d, derr := range m.store.(*db).Since(ctx, at.encode()) {
				if err = derr; err == nil {
					s.set(cutDelta{Delta: d})
				}
			}
		} else {
			err = s.fill(m.store.Entries(ctx, Filter{}))
		}
		m.mu.Lock()
		m.filling = false
		done := err == nil && resets == m.resets
		if done {
			m.glanced = nil
			m.putShelf(s) // there was one of a store that does not tell its changes
			m.drain()
		} else {
			s.close()
			m.news.want(m.shelf != nil)
		}
		m.mu.Unlock()
		if done || err != nil {
			return nil, err
		}
	}
}
