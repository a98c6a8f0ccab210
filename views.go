// This file finds the index that answers a query: the current index, the index of an earlier
// state, or a temporary index.
//
// A temporary index answers the first query of a memory that still lacks an index. Indexing 100,000 entries takes
// seconds. A single query needs only a few terms, so [ranking.ScanItems] indexes only those terms, and returns the same
// hits.

package oxbow

import (
	"cmp"
	"context"
	"iter"

	"github.com/oxbow-memory/oxbow/internal/log/logstore"
	"github.com/oxbow-memory/oxbow/internal/search/analysis"
	"github.com/oxbow-memory/oxbow/internal/search/ranking"
	"github.com/oxbow-memory/oxbow/store"
)

// views yields views of the index for the query q. A view has the ranking of q and shows the memory's state that q
// requests (see [Query.AsOf]). The caller computes an answer to the query from each view, and uses only the answer from
// the last view. Usually there is only one view. A second view is yielded if the first view turned out to be incomplete
// or damaged, because the index file was damaged or a scan's temporary index lacked terms of the query. If views yields
// an error, the iteration ends. When ctx is done, the body of the caller's loop must return early.
func (m *Memory) views(ctx context.Context, q Query) iter.Seq2[*rankedView, error] {
	return func(yield func(*rankedView, error) bool) {
		stopped := false
		err := m.visitQueryViews(ctx, q, func(v *rankedView) bool {
			stopped = !yield(v, nil)
			return !stopped
		})
		if err != nil && !stopped {
			yield(nil, err)
		}
	}
}

// visitQueryViews calls the function in the parameter use with the views that [Memory.views] yields. It stops if this
// function returns false. It also stops after a view with a complete answer in which no damage was found. If a view is
// incomplete or damaged, visitQueryViews continues with a view of a new index. visitQueryViews returns an error if the
// ranking is unknown, if the index cannot be built or read, if an entry cannot be read, or if ctx is done.
func (m *Memory) visitQueryViews(ctx context.Context, q Query, use func(*rankedView) bool) error {
	rank := cmp.Or(q.Rank, m.opts.Ranking)
	if err := checkRanking(rank); err != nil {
		return err
	}
	if q.AsOf != 0 {
		return m.visitQueryViewsAtChange(ctx, q, rank, use)
	}
	scanned, err := m.viewFromScan(ctx, q, rank)
	if err != nil {
		return err
	}
	if scanned != nil {
		if !use(scanned.withContext(ctx)) || !scanned.HasMissingTerms() {
			return ctx.Err()
		}
		m.lastScanIndex.Store(nil)
	}
	for isRepeated := false; ; {
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
		if !use(v) || v.firstReadError() == nil {
			return ctx.Err()
		}
		if m.dropAfterReadError(s, v) {
			continue
		}
		// An entry could not be read from the log. Repeat the query only once, because the error may be permanent.
		if isRepeated {
			return v.firstReadError()
		}
		isRepeated = true
	}
}

// visitQueryViewsAtChange calls the function use with a view of the memory as it was after the change q.AsOf. It makes
// the view from the current index if possible, and otherwise from the entries of that time. The function use returns
// false to stop.
//
// If the index could not be read, use is called again with a view made from the entries. If the view from the index
// lacked terms of the query, use is called again with a view in which it may look up all terms.
func (m *Memory) visitQueryViewsAtChange(
	ctx context.Context,
	q Query,
	rankingName string,
	use func(*rankedView) bool,
) error {
	_, chosen := emptyViewFor(ctx, q, rankingName)
	for {
		v, err := m.viewFromIndex(ctx, q.AsOf, rankingName, chosen)
		if err != nil {
			return err
		}
		if v == nil {
			break
		}
		if !use(v) || (v.firstReadError() == nil && !v.HasMissingTerms()) {
			return ctx.Err()
		}
		if v.firstReadError() != nil {
			break
		}
		chosen = nil
	}
	past, err := m.AsOf(ctx, q.AsOf)
	if err != nil {
		return err
	}
	defer past.Close()
	q.AsOf = 0
	return newMemory(past, m.opts).visitQueryViews(ctx, q, use)
}

// viewFromIndex returns a view of the memory as it was right after the change with the number seq. It makes the view
// from the current index (see [searcher.newViewAfterChange]). It returns nil if no index exists yet. It also returns
// nil if the memory's store is not a log, or if the log rules out such a view.
func (m *Memory) viewFromIndex(
	ctx context.Context,
	seq uint64,
	rankingName string,
	chosenTerms *analysis.TermSet,
) (*rankedView, error) {
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
	r := s.scorer(rankingName)
	if r == nil {
		return nil, nil
	}
	return s.newViewAfterChange(ctx, r, seq, chosenTerms, m.minScannedEntries)
}

// AsOf returns a read-only store in its state after change seq. The caller must close it,
// because it may keep files open. If a compaction drops the change in the meantime, the
// methods of the store may fail with ErrBusy.
func (m *Memory) AsOf(ctx context.Context, seq uint64) (Store, error) {
	h, err := m.History()
	if err != nil {
		return nil, err
	}
	return h.AsOf(ctx, seq)
}

// shouldUseIndex reports whether a query should use an index instead of a scan of all entries. This is the case if the
// memory has answered a query by a scan before, or if an index file exists.
func (m *Memory) shouldUseIndex() bool {
	return m.hasAnsweredByScan || m.hasIndexFile()
}

// viewFromScan returns a view of a temporary index with only the query's terms. It reads all entries to build this
// index. If an earlier scan has built an index with these terms, and the store has not changed since then, viewFromScan
// returns the view of that scan.
//
// viewFromScan returns nil if it is better to use or to build a complete index:
//   - This process already has an index.
//   - An index file exists, or this process has answered an earlier query by a scan. Further queries are then likely.
//   - The query needs all terms.
//   - The entries have little text.
func (m *Memory) viewFromScan(ctx context.Context, q Query, rankingName string) (*rankedView, error) {
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
	last := m.lastScanIndex.Load()
	if last == nil && m.shouldUseIndex() {
		return nil, nil
	}
	v, choice := emptyViewFor(ctx, q, rankingName)
	if last.canAnswer(m.pendingChanges.addDeltasCalls.Load(), rankingName, choice) {
		return last.view, nil
	}
	if choice == nil || m.hasAnsweredByScan {
		return nil, nil
	}
	items, received, err := m.scanEntries(ctx)
	if items == nil || err != nil {
		return nil, err
	}
	v.View, err = ranking.ScanItems(ctx, rankingName, items, choice)
	if err != nil {
		return nil, err
	}
	m.hasAnsweredByScan = true
	if watched {
		m.lastScanIndex.Store(&queryTermsIndex{v, received})
	}
	return v, nil
}

// hasIndexFile reports whether the memory's log has an index file.
func (m *Memory) hasIndexFile() bool {
	d := findLog(m.store)
	return d != nil && d.DerivedFile(indexSuffix).Exists()
}

// canAnswer reports whether the temporary index that a scan of the store has made can answer a query. The index must
// contain all terms in the set chosenTerms. The store must not have changed since the scan, which is so if the number
// receivedAddCount equals s.addDeltasCalls. The number receivedAddCount is the number of calls that have reported
// changes to the memory so far.
func (s *queryTermsIndex) canAnswer(receivedAddCount int64, rankingName string, chosenTerms *analysis.TermSet) bool {
	return s != nil && s.addDeltasCalls == receivedAddCount && s.view.CoversTerms(rankingName, chosenTerms)
}

// emptyViewFor returns a view without entries, for a later scan, and the terms that the query may look up in the
// index. The terms are nil if the query may look up any term.
func emptyViewFor(ctx context.Context, q Query, rankingName string) (*rankedView, *analysis.TermSet) {
	var keys []string
	for _, t := range q.Filter.Terms {
		keys = append(keys, t.Key)
	}
	s := newSearcher(rankingName, nil)
	v := s.newView(ctx, s.scorer(rankingName))
	return v, ranking.QueryLookupTerms(rankingName, v.rankingQuery(q), keys)
}

// scanEntries returns all entries in order of ID. addCountBeforeRead is the value of m.pendingChanges.addDeltasCalls
// before the entries were read. If the entries' text is shorter than m.minScanBytes, scanEntries returns nil, because
// an index of so little text is built quickly and serves later queries as well.
func (m *Memory) scanEntries(ctx context.Context) (items []ranking.Item, addCountBeforeRead int64, err error) {
	addCountBeforeRead = m.pendingChanges.addDeltasCalls.Load()
	size := 0
	for e, err := range m.store.Entries(ctx, Filter{}) {
		if err != nil {
			return nil, 0, err
		}
		items, size = append(items, newRankedEntryItem(&e)), size+len(e.Content)
	}
	if size < m.minScanBytes {
		return nil, 0, nil
	}
	return items, addCountBeforeRead, nil
}
