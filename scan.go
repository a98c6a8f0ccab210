// Scans: the first answer of a memory that has no index yet.
//
// To index 100,000 entries takes seconds. One question needs a handful of terms:
// [ranking.Scan] looks for those alone, and answers as the whole index does.

package oxbow

import (
	"context"

	"github.com/oxbow-memory/oxbow/internal/ranking"
)

// scan returns a view for the query by one scan of the entries, nil when there is
// an index, when there was a scan before, or when the store's directory shows
// that another process scanned: then the memory is asked often.
func (m *Memory) scan(ctx context.Context, q Query, rank string) (*rankedView, error) {
	if m.searcher.Load() != nil {
		return nil, nil
	}
	watched, err := m.refreshStore(ctx)
	if err == nil {
		err = m.buildMu.lockContext(ctx)
	}
	if err != nil {
		return nil, err
	}
	defer m.buildMu.Unlock()
	if m.searcher.Load() != nil {
		return nil, nil
	}
	if last := m.scanned.Load(); last != nil && last.received == m.pending.received.Load() && last.view.Ranking() == rank {
		return last.view, nil
	}
	if d, ok := m.store.(*db); m.hadScan || ok && d.hasIndexFile() {
		return nil, nil
	}
	v, received, err := m.scanStore(ctx, q, rank)
	if v == nil || err != nil {
		return nil, err
	}
	m.hadScan = true
	if watched {
		m.scanned.Store(&scanned{v, received})
	}
	return v, nil
}

// scanStore scans all entries, nil when they are few or the query needs all terms.
// It returns how often changes had come before.
func (m *Memory) scanStore(ctx context.Context, q Query, rank string) (v *rankedView, received int64, err error) {
	var keys []string
	for _, t := range q.Filter.Terms {
		keys = append(keys, t.Key)
	}
	s := newSearcher(rank)
	v = s.view(ctx, s.scorer(rank))
	choice := ranking.Asked(rank, v.query(q), keys)
	if choice == nil {
		return nil, 0, nil
	}
	items, received, err := m.scanEntries(ctx)
	if items == nil || err != nil {
		return nil, 0, err
	}
	v.View, err = ranking.Scan(ctx, rank, items, choice)
	return v, received, err
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
