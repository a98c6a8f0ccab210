// How the index is kept up with the store: changes are collected, and applied
// before the next query.

package oxbow

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/oxbow-memory/oxbow/internal/index"
	"github.com/oxbow-memory/oxbow/internal/ranking"
)

// pending is the changes that are not in the index yet.
type pending struct {
	mu     sync.Mutex      // guards the following; its holder waits for nothing
	wanted bool            // there is a searcher, or one is being built
	deltas []analyzedDelta // oldest first

	queued   atomic.Int64 // len(deltas)
	applying atomic.Bool  // some were taken, and are not in the index yet
	received atomic.Int64 // times that changes came
	recalled atomic.Bool  // there was a recall since the last change of this memory
}

// analyzedDelta is a change and its entry's documents, by ranking; those of a
// ranking may be missing.
type analyzedDelta struct {
	Delta
	docs map[*ranking.Scorer]index.Document
}

// add appends changes.
func (n *pending) add(deltas []analyzedDelta) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.received.Add(1)
	if n.wanted {
		n.set(append(n.deltas, deltas...))
	}
}

// set replaces the changes. n.mu is held.
func (n *pending) set(deltas []analyzedDelta) {
	n.deltas = deltas
	n.queued.Store(int64(len(deltas)))
}

// begin drops what there is and keeps what comes.
func (n *pending) begin() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.wanted = true
	n.set(nil)
}

// want says whether changes are to be kept.
func (n *pending) want(wanted bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.wanted = wanted; !wanted {
		n.set(nil)
	}
}

// take returns the changes, which are being applied until applied is called.
func (n *pending) take() []analyzedDelta {
	n.mu.Lock()
	defer n.mu.Unlock()
	ds := n.deltas
	if len(ds) > 0 {
		n.applying.Store(true)
		n.set(nil)
	}
	return ds
}

// putBack makes changes that were taken the oldest again.
func (n *pending) putBack(ds []analyzedDelta) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.wanted {
		n.set(append(ds, n.deltas...))
	}
}

// isAnalyzed reports whether the entries of all changes are analyzed.
func (n *pending) isAnalyzed() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return !slices.ContainsFunc(n.deltas, func(d analyzedDelta) bool { return d.Entry != nil && d.docs == nil })
}

func (n *pending) applied() { n.applying.Store(false) }

// len returns how many changes there are, those being applied not among them.
func (n *pending) len() int { return int(n.queued.Load()) }

// any reports whether there are changes that are not in the index.
func (n *pending) any() bool { return n.queued.Load() > 0 || n.applying.Load() }

// changed receives what a store did. It is called on the way of every change,
// and must not wait for what waits for the store.
func (m *Memory) changed(e Event) {
	if e.Reset {
		m.mu.Lock()
		m.resets++
		m.setSearcher(nil)
		m.mu.Unlock()
	}
	m.pending.add(m.analyzeOwn(e.Changes))
}

// mostApplied is how many changes a writer analyzes, and applies to an index
// that is recalled from: more are left to the next recall, which may never come.
const mostApplied = 8

// analyzeOwn analyzes the entries of few changes when there are recalls at the
// same time: those need not wait for it then, since the changes are not
// acknowledged yet. When changes pile up, nothing recalls any more; a text that
// takes long is left to the next recall, which can be canceled.
func (m *Memory) analyzeOwn(deltas []Delta) []analyzedDelta {
	ds := unanalyzed(deltas)
	if s := m.searcher.Load(); s != nil && m.pending.recalled.Load() && m.pending.len()+len(ds) <= mostApplied && isShort(deltas) {
		_ = analyzeAll(context.Background(), ds, slices.Collect(maps.Values(*s.scorers.Load())))
	}
	return ds
}

// mostText is the bytes of content that a writer analyzes.
const mostText = 64 << 10

// isShort reports whether little text is to be analyzed.
func isShort(deltas []Delta) bool {
	n := 0
	for _, d := range deltas {
		if d.Entry != nil {
			n += len(d.Entry.Content)
		}
	}
	return n <= mostText
}

// analyzeAll analyzes the entries of changes for some rankings, until ctx is
// done.
func analyzeAll(ctx context.Context, ds []analyzedDelta, rs []*ranking.Scorer) error {
	var buf ranking.Buffer
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
				d.docs = make(map[*ranking.Scorer]index.Document, len(rs))
			}
			var doc index.Document
			r.Analyze(ctx, newIndexed(d.Entry), &doc, &buf)
			if err := ctx.Err(); err != nil {
				return err
			}
			d.docs[r] = doc
		}
	}
	return nil
}

// setSearcher puts another searcher, nil for none, in the place of the one there
// is. m.mu is held. Queries that have the old one ask again when it fails them.
func (m *Memory) setSearcher(s *searcher) {
	m.searcher.Swap(s).close()
	m.pending.want(s != nil || m.building)
}

// applyOwn applies few changes to the index, after one of this memory, when
// there are recalls at the same time: the next would have to do it.
func (m *Memory) applyOwn(ctx context.Context) {
	if m.pending.recalled.Load() {
		m.pending.recalled.Store(false)
		if n := m.pending.len(); n > 0 && n <= mostApplied && m.pending.isAnalyzed() {
			_ = m.applyPending(ctx) // what is left, the next recall applies
		}
	}
}

// applyPending brings the index up to all changes that came before. When ctx is
// done before they are analyzed, they stay pending.
func (m *Memory) applyPending(ctx context.Context) error {
	if err := m.applying.lock(ctx); err != nil {
		return err
	}
	defer m.applying.unlock()
	m.mu.Lock()
	s := m.searcher.Load()
	var ds []analyzedDelta
	if s != nil {
		ds = m.pending.take()
	}
	m.mu.Unlock()
	if len(ds) == 0 {
		return nil
	}
	err := s.apply(ctx, ds)
	if err != nil {
		m.mu.Lock()
		if m.searcher.Load() == s { // else the next one is built of what the store holds
			m.pending.putBack(ds)
		}
		m.mu.Unlock()
	}
	m.pending.applied()
	return err
}

// refreshStore brings a store that reports its changes up to those of other
// processes, and says whether it does.
func (m *Memory) refreshStore(ctx context.Context) (watched bool, err error) {
	w, watched := m.store.(Watcher)
	if watched {
		err = w.Refresh(ctx)
	}
	return watched, err
}

// refresh brings the index up to the store, and returns it; it is built when
// there is none.
func (m *Memory) refresh(ctx context.Context) (*searcher, error) {
	watched, err := m.refreshStore(ctx)
	if err != nil {
		return nil, err
	}
	if !watched {
		return m.build(ctx, watched)
	}
	if !m.pending.recalled.Load() { // else the cache line is left alone
		m.pending.recalled.Store(true)
	}
	for {
		s, err := m.searcher.Load(), error(nil)
		switch {
		case s == nil:
			s, err = m.build(ctx, watched)
		case m.pending.any():
			err = m.applyPending(ctx)
		}
		// What came for a searcher that was dropped meanwhile was dropped, too.
		if err != nil || m.searcher.Load() == s {
			return s, err
		}
	}
}

// build builds the index, unless another goroutine did so meanwhile.
func (m *Memory) build(ctx context.Context, watched bool) (*searcher, error) {
	if err := m.buildMu.lock(ctx); err != nil {
		return nil, err
	}
	defer m.buildMu.unlock()
	for {
		m.mu.Lock()
		if s := m.searcher.Load(); watched && s != nil {
			m.mu.Unlock()
			return s, m.applyPending(ctx)
		}
		m.building = true
		m.pending.begin()
		resets := m.resets
		m.mu.Unlock()

		s := newSearcher(m.opts.Ranking)
		var err error
		if saved := m.savedFor(m.opts.Ranking); saved != nil {
			s.begin(saved)
			h := &saved.head
			at := position{log: h.store, seq: h.seq, offset: h.at, chain: h.chain}
			var since []analyzedDelta
			for d, derr := range m.store.(*db).Since(ctx, at.encode()) {
				if err = derr; err == nil {
					since = append(since, analyzedDelta{Delta: d})
				}
			}
			if err == nil {
				err = s.apply(ctx, since)
			}
		} else {
			err = s.fill(ctx, m.store.Entries(ctx, Filter{}))
		}
		m.mu.Lock()
		m.building = false
		done := err == nil && resets == m.resets
		if done {
			m.scanned.Store(nil)
			m.setSearcher(s) // there was one of a store that does not report its changes
		} else {
			s.close()
			m.pending.want(m.searcher.Load() != nil)
		}
		m.mu.Unlock()
		if err != nil {
			return nil, err
		}
		if done {
			return s, m.applyPending(ctx) // what came while it was built
		}
	}
}

func unanalyzed(deltas []Delta) []analyzedDelta {
	ds := make([]analyzedDelta, len(deltas))
	for i, d := range deltas {
		ds[i].Delta = d
	}
	return ds
}

// ctxMutex is a mutex whose waiting ends with a context.
type ctxMutex chan struct{}

func newCtxMutex() ctxMutex { return make(ctxMutex, 1) }

func (m ctxMutex) lock(ctx context.Context) error {
	select {
	case m <- struct{}{}:
		return nil
	default:
	}
	select {
	case m <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (m ctxMutex) unlock() { <-m }
