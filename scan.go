// This file answers the first query of a memory that has no index yet. Indexing 100,000
// entries takes seconds. A single query needs only a few terms, so [ranking.Scan] indexes
// only those terms, and returns the same hits.

package oxbow

import (
	"context"

	"github.com/oxbow-memory/oxbow/internal/search/analysis"
	"github.com/oxbow-memory/oxbow/internal/search/ranking"
)

// scan returns a view with the query's terms, made by one scan of the entries. It returns
// nil if an index exists or should be built. An index should be built if the entries are
// few, if the query needs all terms, if an earlier scan was for other terms, or if another
// process has scanned the same store, which makes further queries likely.
func (m *Memory) scan(ctx context.Context, q Query, rank string) (*rankedView, error) {
	if m.searcher.Load() != nil {
		return nil, nil
	}
	watched, err := m.refreshStore(ctx)
	if err == nil {
		err = m.buildMu.LockContext(ctx)
	}
	if err != nil {
		return nil, err
	}
	defer m.buildMu.Unlock()
	if m.searcher.Load() != nil {
		return nil, nil
	}
	v, choice := emptyViewFor(ctx, q, rank)
	if last := m.scanned.Load(); last.canAnswer(m.pending.received.Load(), rank, choice) {
		return last.view, nil
	}
	if d := findLog(m.store); choice == nil || m.hadScan || (d != nil && d.Derived(indexSuffix).Exists()) {
		return nil, nil
	}
	items, received, err := m.scanEntries(ctx)
	if items == nil || err != nil {
		return nil, err
	}
	v.View, err = ranking.Scan(ctx, rank, items, choice)
	if err != nil {
		return nil, err
	}
	m.hadScan = true
	if watched {
		m.scanned.Store(&scanIndex{v, received})
	}
	return v, nil
}

// canAnswer reports whether the scan had all terms of the choice and the store has not
// changed since.
func (s *scanIndex) canAnswer(received int64, rank string, choice *analysis.Choice) bool {
	return s != nil && s.received == received && s.view.Holds(rank, choice)
}

// emptyViewFor returns an empty view and the terms that the query may look up in it. It returns
// nil for the terms if the query may look up all.
func emptyViewFor(ctx context.Context, q Query, rank string) (*rankedView, *analysis.Choice) {
	var keys []string
	for _, t := range q.Filter.Terms {
		keys = append(keys, t.Key)
	}
	s := newSearcher(rank, nil)
	v := s.view(ctx, s.scorer(rank))
	return v, ranking.Asked(rank, v.query(q), keys)
}

// scanEntries returns all entries in order of ID, or nil if they have so little text that
// an index is better. It also returns the value that pending.received had before the
// entries were read.
func (m *Memory) scanEntries(ctx context.Context) (items []ranking.Item, received int64, err error) {
	received = m.pending.received.Load()
	size := 0
	for e, err := range m.store.Entries(ctx, Filter{}) {
		if err != nil {
			return nil, 0, err
		}
		items, size = append(items, newIndexed(&e)), size+len(e.Content)
	}
	if size < m.scanFrom {
		return nil, 0, nil
	}
	return items, received, nil
}
