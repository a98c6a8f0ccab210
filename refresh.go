// Refresh: the index is built, and brought up to the store before each query.

package oxbow

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/search/ranking"
)

// changed receives what a store did. It is called on the way of every change,
// and must not wait for what waits for the store.
func (m *Memory) changed(e Event) {
	if e.Reset {
		m.mu.Lock()
		m.resets++
		m.setSearcher(nil)
		m.mu.Unlock()
	}
	ds := unanalyzed(e.Changes)
	for _, a := range m.analyzed {
		if i := slices.IndexFunc(ds, func(d analyzedDelta) bool { return d.Entry == a.Entry }); i >= 0 {
			ds[i] = a
		}
	}
	m.analyzed = nil
	if !m.applyNow(ds) {
		m.pending.add(ds)
	}
}

// analyzeAhead returns what analyzes entries while the store makes them durable, so that
// no recall need do it. It returns nil for many, and where there was no recall for some
// time, or others are pending: they may be replaced before they are needed.
func (m *Memory) analyzeAhead(entries iter.Seq[*Entry]) func() {
	s := m.searcher.Load()
	if s == nil || m.pending.unasked.Add(1) > mostApplied || m.pending.any() {
		return nil
	}
	ds, bytes := []analyzedDelta(nil), 0
	for e := range entries {
		bytes += len(e.Content)
		if len(ds) == mostApplied || bytes > textApplied {
			return nil
		}
		ds = append(ds, analyzedDelta{Delta: Delta{ID: e.ID, Entry: e}})
	}
	if len(ds) == 0 {
		return nil
	}
	return func() {
		if analyzeAll(m.closing, ds, slices.Collect(maps.Values(*s.scorers.Load()))) == nil {
			m.analyzed = ds
		}
	}
}

// applyNow applies changes to an index that is recalled from, if that takes little: if
// they are few, were analyzed, and nothing is pending or being applied. It reports
// whether it did; a recall finds them then before their writer knows that they are
// durable, and does not wait for it.
func (m *Memory) applyNow(ds []analyzedDelta) bool {
	s := m.searcher.Load()
	if s == nil || max(int(m.pending.unasked.Load()), len(ds)) > mostApplied || !s.applies(ds) || !m.applying.TryLock() {
		return false
	}
	defer m.applying.Unlock()
	if m.pending.any() || m.searcher.Load() != s || s.apply(m.closing, ds) != nil {
		return false
	}
	m.pending.received.Add(1)
	m.keepSoon(false)
	return true
}

// setSearcher puts another searcher, nil for none, in the place of the one there
// is. m.mu is held. Queries that have the old one ask again when it fails them.
func (m *Memory) setSearcher(s *searcher) {
	m.searcher.Swap(s).close()
	m.pending.want(s != nil || m.building)
}

// applyPending brings the index up to all changes that came before. When ctx is
// done before they are analyzed, they stay pending.
func (m *Memory) applyPending(ctx context.Context) error {
	if err := m.applying.LockContext(ctx); err != nil {
		return err
	}
	defer m.applying.Unlock()
	s, ds := m.takePending()
	if err := m.applyTaken(ctx, s, ds); err != nil || len(ds) == 0 {
		return err
	}
	m.keepSoon(false)
	return nil
}

// takePending returns the searcher, and the changes that it is to be brought up to.
func (m *Memory) takePending() (s *searcher, ds []analyzedDelta) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s = m.searcher.Load()
	if s != nil {
		ds = m.pending.take()
	}
	return s, ds
}

// applyTaken applies changes that were pending, or makes them pending again. m.applying
// is held.
func (m *Memory) applyTaken(ctx context.Context, s *searcher, ds []analyzedDelta) error {
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

// refreshStore brings a store that reports its changes up to the changes of other
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
	if m.pending.unasked.Load() != 0 { // else the cache line is left alone
		m.pending.unasked.Store(0)
	}
	if n := m.opts.livesOn; m.recalls.Load() < n && m.recalls.Add(1) == n {
		m.keepSoon(true)
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
	if err := m.buildMu.LockContext(ctx); err != nil {
		return nil, err
	}
	defer m.buildMu.Unlock()
	rewritten := false // the log, since the index file was opened: the entries are read
	for {
		m.mu.Lock()
		if s := m.searcher.Load(); watched && s != nil {
			m.mu.Unlock()
			return s, m.applyPending(ctx)
		}
		m.building = true
		ahead := m.pending.begin()
		resets := m.resets
		m.mu.Unlock()

		s, err := ahead.end(), error(nil)
		if s == nil {
			s, err = m.newSearcher(ctx, !rewritten)
		}
		rewritten = s.saved != nil && errors.Is(err, ErrPosition)
		if err == nil {
			err = m.mergeRuns(ctx, s, resets)
			if err == nil {
				err = s.putUnder(ctx)
			}
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
		if err != nil && !rewritten {
			return nil, err
		}
		if done {
			return s, m.applyPending(ctx) // what came while it was built
		}
	}
}

// emptySearcher returns a searcher of nothing yet.
func (m *Memory) emptySearcher() *searcher {
	s := newSearcher(m.opts.Ranking, m.store)
	if m.opts.keepsFiles() {
		s.runs.bytes = cmp.Or(m.opts.runBytes, runBytes)
	}
	return s
}

// newSearcher returns the index of the store: that of the index file, or of all
// entries. It returns one to be closed with an error, too.
func (m *Memory) newSearcher(ctx context.Context, saved bool) (*searcher, error) {
	s := m.emptySearcher()
	if saved {
		s.saved = m.savedFor(m.opts.Ranking)
	}
	if s.saved != nil {
		return s, s.resume(ctx)
	}
	return s, s.fill(ctx, allEntries(ctx, m.store), 0)
}

// addScorer returns the index of another ranking, which it makes when there is
// none.
func (m *Memory) addScorer(ctx context.Context, s *searcher, name string) (*ranking.Scorer, error) {
	if err := m.applying.LockContext(ctx); err != nil {
		return nil, err
	}
	defer m.applying.Unlock()
	if r := s.scorer(name); r != nil {
		return r, nil
	}
	var v *rankedView
	for _, r := range *s.scorers.Load() {
		v = s.view(ctx, r)
	}
	r := ranking.New(name, nil)
	err := r.Fill(ctx, func(yield func(ranking.Item, error) bool) {
		for _, id := range v.ids() {
			if x, ok := v.Item(id).(*indexed); ok && !yield(x, nil) {
				return
			}
		}
	}, 0, nil)
	if err != nil {
		return nil, err
	}
	if err := v.failed(); err != nil { // entries are missing: the query fails, too
		s.err.CompareAndSwap(nil, &err)
		return r, nil
	}
	scorers := maps.Clone(*s.scorers.Load())
	scorers[name] = r
	s.scorers.Store(&scorers)
	return r, nil
}

// savedFor opens the index file next to the store, nil for none.
func (m *Memory) savedFor(ranking string) *savedIndex {
	m.mu.Lock()
	distrust := m.distrust
	m.mu.Unlock()
	d := logOf(m.store)
	if d == nil || distrust {
		return nil
	}
	s, err := openIndex(d, ranking)
	if err != nil {
		return nil // it is built again
	}
	return s
}

// allEntries yields the entries of a store, in order of ID.
func allEntries(ctx context.Context, s Store) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		for e, err := range s.Entries(ctx, Filter{}) {
			if !yield(&e, err) {
				return
			}
		}
	}
}
