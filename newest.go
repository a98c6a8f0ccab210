// This file lists the newest entries that a filter selects, by the index.

package oxbow

import (
	"context"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/log/logstore"
	"github.com/oxbow-memory/oxbow/internal/search/index"
)

// maxIndexPageEnd is the largest index of a page's last entry for which [Memory.Newest] uses the index. A later page
// needs a longer sorted list, and reading the entries is then as fast.
const maxIndexPageEnd = 10_000

// newestFromIndex implements [Memory.Newest] by the search index, without reading all entries. The page contains the
// entries from index offset up to, but not including, index end. ok is false if the index cannot answer. This is so in
// these cases:
//   - The store is not a log, or its snapshot alone can decide which entries the filter selects.
//   - There is no usable index yet, or it does not contain what the filter compares.
//   - An entry of the page was changed or removed meanwhile.
func (m *Memory) newestFromIndex(
	ctx context.Context,
	f Filter,
	offset, end int,
) (page []Entry, total int, ok bool, err error) {
	d, isLog := m.store.(*logstore.DB)
	if !isLog || end > maxIndexPageEnd || !m.mayListFromIndex(f) {
		return nil, 0, false, nil
	}
	stats, err := d.Stats(ctx)
	if err != nil {
		return nil, 0, false, err
	}
	s, err := m.refreshIndex(ctx)
	if err != nil {
		return nil, 0, false, err
	}
	r := s.scorer(RankOxbow)
	if r == nil {
		return nil, 0, false, nil
	}
	conditions, createdRange, needsEntryMatch := convertFilterToClauses(r, f)
	if needsEntryMatch {
		return nil, 0, false, nil
	}
	v := s.newView(ctx, r)
	q := index.Query{Conditions: conditions, CreatedRange: createdRange, Limit: end}
	total = v.Searcher().CountDocuments(q)
	ids := v.Searcher().NewestIDs(q)
	for _, id := range ids[min(offset, len(ids)):] {
		// If the entry has not changed since Stats was called, it is the version that the index contains.
		e := v.entry(id)
		if e == nil || e.Version > stats.Last {
			return nil, 0, false, ctx.Err()
		}
		page = append(page, *e)
	}
	if v.firstReadError() != nil {
		m.dropAfterReadError(s, v)
		return nil, 0, false, ctx.Err()
	}
	return slices.Clip(page), total, true, nil
}

// mayListFromIndex reports whether an index exists, and contains what the filter compares.
func (m *Memory) mayListFromIndex(f Filter) bool {
	if m.opts.Ranking != RankOxbow || logstore.IsSnapshotFilter(f) { // The index of RankSeed does not contain labels.
		return false
	}
	if slices.ContainsFunc(f.Terms, func(t Term) bool { return !isIndexedAsKeyword(t.Key) }) {
		return false
	}
	// Without an index, reading the entries takes less time than making an index.
	return m.searcher.Load() != nil || m.hasUsableIndexFile()
}

// hasUsableIndexFile reports whether the memory can open its index file.
func (m *Memory) hasUsableIndexFile() bool {
	s := m.openSavedIndex(m.opts.Ranking)
	if s == nil {
		return false
	}
	s.close()
	return true
}
