// This file finds the index that answers a query: the current index, the index of an earlier
// state, or a temporary index.
//
// A temporary index answers the first query of a memory that still lacks an index. Indexing 100,000 entries takes
// seconds. A single query needs only a few terms, so [ranking.Scan] indexes only those terms, and returns the same
// hits.

package oxbow

import (
	"cmp"
	"context"
	"iter"

	"github.com/oxbow-memory/oxbow/internal/log/logstore"
	"github.com/oxbow-memory/oxbow/internal/search/analysis"
	"github.com/oxbow-memory/oxbow/internal/search/index"
	"github.com/oxbow-memory/oxbow/internal/search/ranking"
	"github.com/oxbow-memory/oxbow/store"
)

// views yields views of the index for the query's ranking and for the state that the query asks for (see
// [Query.AsOf]). The caller answers its query with each view, and returns the answer from the last view. Usually there
// is only one view. A second view follows if the first answer is wrong, because the index file was damaged, or because
// the temporary index of a scan lacked query terms. If views yields an error, the iteration ends. When ctx is done,
// the body of the caller's loop must return early.
func (m *Memory) views(ctx context.Context, q Query) iter.Seq2[*rankedView, error] {
	return func(yield func(*rankedView, error) bool) {
		stopped := false
		err := m.eachView(ctx, q, func(v *rankedView) bool {
			stopped = !yield(v, nil)
			return !stopped
		})
		if err != nil && !stopped {
			yield(nil, err)
		}
	}
}

// eachView calls use with the views that [Memory.views] yields. It stops if use returns false, or if the answer from a
// view is complete and no damage was found. It returns an error if the ranking is unknown, if the index cannot be
// built or read, or if ctx is done.
func (m *Memory) eachView(ctx context.Context, q Query, use func(*rankedView) bool) error {
	rank := cmp.Or(q.Rank, m.opts.Ranking)
	if err := checkRanking(rank); err != nil {
		return err
	}
	if q.AsOf != 0 {
		return m.eachViewAt(ctx, q, rank, use)
	}
	scanned, err := m.viewFromScan(ctx, q, rank)
	if err != nil {
		return err
	}
	if scanned != nil {
		if !use(scanned.withContext(ctx)) || !scanned.HasMissingTerms() {
			return ctx.Err()
		}
		m.lastScan.Store(nil)
	}
	for {
		s, err := m.refreshIndex(ctx)
		if err != nil {
			return err
		}
		r := s.scorer(rank)
		if r == nil {
			r, err = m.addScorer(ctx, s, rank)
			if err != nil {
				return err
			}
		}
		v := s.newView(ctx, r)
		if !use(v) || v.readError() == nil {
			return ctx.Err()
		}
		m.mu.Lock()
		if m.searcher.Load() == s {
			m.setSearcher(nil)
			m.ignoresIndexFile = true
		}
		m.mu.Unlock()
	}
}

// eachViewAt implements [Memory.views] for the memory after the change q.AsOf. If few entries have changed
// since, the view is made from the current index. Otherwise it is made from the entries of that time.
func (m *Memory) eachViewAt(ctx context.Context, q Query, rank string, use func(*rankedView) bool) error {
	v, err := m.viewFromIndex(ctx, q.AsOf, rank)
	if err != nil {
		return err
	}
	if v != nil {
		if !use(v) || v.readError() == nil {
			return ctx.Err()
		}
	}
	past, err := m.AsOf(ctx, q.AsOf)
	if err != nil {
		return err
	}
	defer past.Close()
	q.AsOf = 0
	return newMemory(past, m.opts).eachView(ctx, q, use)
}

// viewFromIndex returns a view of the memory after change seq that is made from the current index. It returns nil if
// the index does not exist yet, or if too many entries have changed since.
func (m *Memory) viewFromIndex(ctx context.Context, seq uint64, rank string) (*rankedView, error) {
	h, err := m.History()
	if err != nil {
		return nil, err
	}
	d, isLog := store.ReadHistory(h).(*logstore.DB)
	if !isLog || m.store != Store(d) {
		return nil, nil
	}
	if m.searcher.Load() == nil && !d.DerivedFile(indexSuffix).Exists() {
		return nil, nil // no index exists yet, and the caller's scan is faster than building an index of all entries
	}
	s, err := m.refreshIndex(ctx)
	if err != nil {
		return nil, err
	}
	r := s.scorer(rank)
	if r == nil {
		return nil, nil
	}
	return s.viewAfter(ctx, r, seq)
}

// viewAfter returns a view of the entries as they were after change seq, computed from the present index. It returns
// nil if too many entries have changed since change seq.
func (s *searcher) viewAfter(ctx context.Context, r *ranking.Scorer, seq uint64) (*rankedView, error) {
	// Get the index before the changes that must be taken back. A change that is not in the index does no harm, but
	// every change in the index must be known.
	x := r.Index().Searcher()
	deltas, ok, err := s.db.DeltasBefore(ctx, seq, maxChangedEntries(x.DocumentCount()))
	if err != nil || !ok {
		return nil, err
	}
	ds := withoutAnalysis(deltas)
	if err := analyzeAll(ctx, ds, []*ranking.Scorer{r}); err != nil {
		return nil, err
	}
	olds, err := s.analyzeOld(ctx, r, x, ds)
	if err != nil {
		return nil, err
	}
	changes := make([]index.Change, len(ds))
	for i, d := range ds {
		changes[i] = index.Change{ID: d.ID, Old: olds[i]}
		if d.Entry != nil {
			doc := d.documents[r]
			doc.Data = newIndexItem(d.Entry)
			changes[i].Document = &doc
		}
	}
	read := func(id uint64) ranking.Item { return s.readUnchangedItem(id, seq) }
	return &rankedView{
		View:     r.ViewOfSearcher(ctx, x.WithChanges(changes), read),
		searcher: s,
		scorer:   r,
		ctx:      ctx,
		isPast:   true,
	}, nil
}

// maxChangedEntries returns a limit for a query about an earlier state of a memory with n entries. If at most this
// many entries have changed since, the earlier state is computed from the present index. For each changed entry, two
// versions are read and analyzed, which takes about as long as to read and index eight entries.
func maxChangedEntries(n int) int { return max(minDedupe, n/maxOldDivisor) }

// readUnchangedItem returns an entry as it was at change seq. The entry in the view must still be the same. If the
// entry has changed after the view was made, readItem would return the newer version, so readUnchangedItem reads the
// old version from the log.
func (s *searcher) readUnchangedItem(id, seq uint64) ranking.Item {
	it := s.readItem(id)
	if x, ok := it.(*indexItem); !ok || x.entry.Version <= seq {
		return it
	}
	i, _ := s.startRows.find(id)
	e := s.db.EntryVersion(id, s.startRows.version(i), s.startRows.offset(i))
	if e == nil {
		return nil
	}
	return newIndexItem(e)
}

// AsOf returns a read-only store in its state after change seq.
func (m *Memory) AsOf(ctx context.Context, seq uint64) (Store, error) {
	h, err := m.History()
	if err != nil {
		return nil, err
	}
	return h.AsOf(ctx, seq)
}

// expectsIndex reports whether a query should use an index, because the memory has scanned the
// entries before or an index file exists.
func (m *Memory) expectsIndex() bool {
	return m.hasScanned || m.hasIndexFile()
}

// viewFromScan reads all entries once, and returns a view of a temporary index with only the query's terms. It returns
// nil if an index exists, or if further queries are likely, so that building an index is better. Further queries are
// likely if this process or another one has already scanned the store. viewFromScan also returns nil if the entries
// have little text, or if the query needs all terms.
func (m *Memory) viewFromScan(ctx context.Context, q Query, rank string) (*rankedView, error) {
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
	last := m.lastScan.Load()
	if last == nil && m.expectsIndex() {
		return nil, nil
	}
	v, choice := emptyViewFor(ctx, q, rank)
	if last.canAnswer(m.pending.addCount.Load(), rank, choice) {
		return last.view, nil
	}
	if choice == nil || m.hasScanned {
		return nil, nil
	}
	items, received, err := m.scanEntries(ctx)
	if items == nil || err != nil {
		return nil, err
	}
	v.View, err = ranking.ScanItems(ctx, rank, items, choice)
	if err != nil {
		return nil, err
	}
	m.hasScanned = true
	if watched {
		m.lastScan.Store(&scanIndex{v, received})
	}
	return v, nil
}

// hasIndexFile reports whether the memory's log has an index file.
func (m *Memory) hasIndexFile() bool {
	d := findLog(m.store)
	return d != nil && d.DerivedFile(indexSuffix).Exists()
}

// canAnswer reports whether the scan's temporary index has all terms in choice and the store has not changed since the
// scan.
func (s *scanIndex) canAnswer(received int64, rank string, choice *analysis.TermSet) bool {
	return s != nil && s.addCount == received && s.view.CoversTerms(rank, choice)
}

// emptyViewFor returns a view without entries, for a later scan, and the terms that the query may look up in the
// index. The terms are nil if the query may look up any term.
func emptyViewFor(ctx context.Context, q Query, rank string) (*rankedView, *analysis.TermSet) {
	var keys []string
	for _, t := range q.Filter.Terms {
		keys = append(keys, t.Key)
	}
	s := newSearcher(rank, nil)
	v := s.newView(ctx, s.scorer(rank))
	return v, ranking.LookupTerms(rank, v.rankingQuery(q), keys)
}

// scanEntries returns all entries in order of ID, and the value of pending.addCount before the entries were read. If
// the entries' text is shorter than [minScanBytes], scanEntries returns nil, because an index of so little text is
// built quickly and serves later queries as well.
func (m *Memory) scanEntries(ctx context.Context) (items []ranking.Item, received int64, err error) {
	received = m.pending.addCount.Load()
	size := 0
	for e, err := range m.store.Entries(ctx, Filter{}) {
		if err != nil {
			return nil, 0, err
		}
		items, size = append(items, newIndexItem(&e)), size+len(e.Content)
	}
	if size < m.minScanBytes {
		return nil, 0, nil
	}
	return items, received, nil
}
