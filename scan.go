// Scans: the first answer of a memory that has no index yet.
//
// To index 100,000 entries takes seconds. One question needs a handful of terms:
// [ranking.Scan] looks for those alone, and answers as the whole index does.

package oxbow

import (
	"context"

	"github.com/oxbow-memory/oxbow/internal/search/analysis"
	"github.com/oxbow-memory/oxbow/internal/search/ranking"
)

// scan returns a view for the query by one scan of the entries, nil when there is an
// index, the entries are few, the query needs all terms, there was a scan for others
// before, or another process scanned (then the memory is asked often).
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
	v, choice := asked(ctx, q, rank)
	if last := m.scanned.Load(); last.answers(m.pending.received.Load(), rank, choice) {
		return last.view, nil
	}
	if d := logOf(m.store); choice == nil || m.hadScan || (d != nil && d.Derived(indexSuffix).Exists()) {
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
		m.scanned.Store(&scanned{v, received})
	}
	return v, nil
}

// answers reports whether a scan looked for the terms, and nothing changed since.
func (s *scanned) answers(received int64, rank string, choice *analysis.Choice) bool {
	return s != nil && s.received == received && s.view.Holds(rank, choice)
}

// asked returns an empty view, and the terms that the query may ask it about.
func asked(ctx context.Context, q Query, rank string) (*rankedView, *analysis.Choice) {
	var keys []string
	for _, t := range q.Filter.Terms {
		keys = append(keys, t.Key)
	}
	s := newSearcher(rank, nil)
	v := s.view(ctx, s.scorer(rank))
	return v, ranking.Asked(rank, v.query(q), keys)
}

// scanEntries returns the entries, in order of ID, nil when they are few; and
// how often changes had come before.
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
