// This file builds the index and updates it before each query.

package oxbow

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/log/logstore"
	"github.com/oxbow-memory/oxbow/internal/search/ranking"
)

// handleEvent receives the events of the store. If the store was replaced (e.Reset), handleEvent discards the searcher.
// It applies the changes of the event to the index at once if this is quick, and otherwise adds them to the pending
// changes.
//
// The store calls handleEvent during every change, and waits until handleEvent returns. To prevent a deadlock,
// handleEvent must not lock a mutex whose owner may be waiting for the store. It may lock m.mu, because no goroutine
// waits for the store while it holds m.mu.
func (m *Memory) handleEvent(e Event) {
	if e.Reset {
		m.mu.Lock()
		m.storeResetCount++
		m.setSearcher(nil)
		m.mu.Unlock()
	}
	ds := newUnanalyzedChanges(e.Changes)
	for _, a := range m.analyzedDeltas {
		if i := slices.IndexFunc(ds, func(d analyzedChange) bool { return d.Entry == a.Entry }); i >= 0 {
			ds[i] = a
		}
	}
	m.analyzedDeltas = nil
	if !m.applyIfQuick(ds) {
		m.pendingChanges.addDeltas(ds)
	}
}

// newWriteTimeAnalyzer returns a function that analyzes the entries while the store writes them to disk, so that the
// next recall is faster. The function stores its result in m.analyzedDeltas. newWriteTimeAnalyzer returns nil if the
// analysis would be impossible or would probably be useless:
//   - There is no search index.
//   - There are no entries, or too many.
//   - Too many writes have happened since the last recall, or other changes are pending. The entries may then be
//     replaced before a recall needs them.
func (m *Memory) newWriteTimeAnalyzer(entries iter.Seq[*Entry]) func() {
	s := m.searcher.Load()
	if s == nil {
		return nil
	}
	if m.pendingChanges.writesSinceRecall.Add(1) > maxChangesToIndexAtWrite || m.pendingChanges.hasUnindexedChanges() {
		return nil
	}
	ds, bytes := []analyzedChange(nil), 0
	for e := range entries {
		bytes += len(e.Content)
		if len(ds) == maxChangesToIndexAtWrite || bytes > maxTextBytesToIndexAtWrite {
			return nil
		}
		ds = append(ds, analyzedChange{Delta: Delta{ID: e.ID, Entry: e}})
	}
	if len(ds) == 0 {
		return nil
	}
	return func() {
		if analyzeChangedEntries(m.closingCtx, ds, slices.Collect(maps.Values(*s.scorers.Load()))) == nil {
			m.analyzedDeltas = ds
		}
	}
}

// applyIfQuick applies the changes to the index if this is quick: the changes are few and already
// analyzed, and no other changes are pending or being applied. It reports whether the changes were
// applied. As a result, a recall finds the changes at once, even before the writer knows that the
// changes are durable.
func (m *Memory) applyIfQuick(changes []analyzedChange) bool {
	s := m.searcher.Load()
	if s == nil || max(int(m.pendingChanges.writesSinceRecall.Load()), len(changes)) > maxChangesToIndexAtWrite {
		return false
	}
	if !s.canApplyQuickly(changes) || !m.applyMu.TryLock() {
		return false
	}
	defer m.applyMu.Unlock()
	if m.pendingChanges.hasUnindexedChanges() || m.searcher.Load() != s {
		return false
	}
	if err := s.applyDeltas(m.closingCtx, changes); err != nil {
		return false
	}
	m.pendingChanges.addDeltasCalls.Add(1)
	m.saveIndexSoon()
	return true
}

// setSearcher replaces the searcher by s, which may be nil. m.mu must be held. Queries that
// still use the old searcher fail and are repeated with s.
func (m *Memory) setSearcher(s *searcher) {
	m.searcher.Swap(s).close()
	m.pendingChanges.setCollectingChanges(s != nil || m.isBuildingSearcher)
}

// applyPendingChanges applies all pending changes to the index. If ctx is done before the changed entries were split
// into words (analyzed), all changes stay pending. After changes were applied, the index is saved soon. If another
// process has saved an index with most of the changes, this index replaces the memory's index instead.
func (m *Memory) applyPendingChanges(ctx context.Context) error {
	if err := m.applyMu.LockContext(ctx); err != nil {
		return err
	}
	defer m.applyMu.Unlock()
	s, ds := m.takePendingChanges()
	if m.takeOverIndexFile(ctx, s, ds) {
		m.pendingChanges.endApplyingChanges()
		m.saveIndexSoon() // The file may lack some of the changes.
		return nil
	}
	if err := m.applyOrRequeueChanges(ctx, s, ds); err != nil || len(ds) == 0 {
		return err
	}
	m.saveIndexSoon()
	return nil
}

// minChangesToTakeOver returns the minimum number of pending changes for which it is faster to open and verify an index
// file than to apply the changes to the index in memory. The argument n is the number of entries in the index. The time
// to open and verify a file grows with n. It is about the time to analyze n/100 entries.
func minChangesToTakeOver(n int) int { return 256 + n/128 }

// takeOverIndexFile opens the index file as the new searcher of m, and discards the searcher in the argument old. It
// does so only if another process has already saved most of the changes ds in this file. The list ds contains the
// changes that are not in the old searcher yet. takeOverIndexFile reads the changes that are not in the file from the
// store. If it returns true, the caller must not apply ds, because the new searcher contains all of these changes.
//
// takeOverIndexFile returns false, and changes nothing, if the file contains too few of the changes, is damaged, or
// cannot be used. The caller must hold m.applyMu, so that no other changes are applied during the call. Queries that
// still use the old searcher fail and are repeated.
func (m *Memory) takeOverIndexFile(ctx context.Context, old *searcher, ds []analyzedChange) bool {
	d, isLog := m.store.(*logstore.DB)
	// An index file contains one ranking. With several rankings, continue with the index in memory.
	if old == nil || !isLog || len(*old.scorers.Load()) > 1 {
		return false
	}
	n := old.scorer(m.opts.Ranking).Index().Searcher().DocumentCount()
	if len(ds) < minChangesToTakeOver(n) {
		return false
	}
	saved := countSavedChanges(d, m.opts.Ranking, ds)
	if saved < max(minChangesToTakeOver(n), len(ds)/2) {
		return false
	}
	s := newSearcher(m.opts.Ranking, m.store)
	s.savedIndex = m.openSavedIndex(m.opts.Ranking)
	if s.savedIndex == nil {
		return false
	}
	if s.savedIndex.verifyChecksums() != nil {
		s.close()
		return false // A damaged page would be found only by a later query, which would have to index all entries.
	}
	// The store reports a change only after it has added the change to its history. Therefore the history contains ds.
	if err := s.initFromIndexFile(ctx); err != nil {
		s.close()
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.searcher.Load() != old {
		s.close()
		return false
	}
	m.setSearcher(s)
	return true
}

// takePendingChanges returns the searcher and the pending changes that must be applied to it.
func (m *Memory) takePendingChanges() (s *searcher, changes []analyzedChange) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s = m.searcher.Load()
	if s != nil {
		changes = m.pendingChanges.takeDeltas()
	}
	return s, changes
}

// applyOrRequeueChanges applies changes that takePendingChanges removed from the list of pending changes. If applying
// fails, it inserts the changes into the list again. m.applyMu must be held.
func (m *Memory) applyOrRequeueChanges(ctx context.Context, s *searcher, changes []analyzedChange) error {
	if len(changes) == 0 {
		return nil
	}
	err := s.applyDeltas(ctx, changes)
	if err != nil {
		m.mu.Lock()
		if m.searcher.Load() == s { // otherwise s was replaced by a new searcher, which contains the changes already
			m.pendingChanges.requeue(changes)
		}
		m.mu.Unlock()
	}
	m.pendingChanges.endApplyingChanges()
	return err
}

// refreshStore reads the changes of other processes if the store is a Watcher. It reports
// whether the store is a Watcher.
func (m *Memory) refreshStore(ctx context.Context) (isWatched bool, err error) {
	if m.capabilities.Watcher == nil {
		return false, nil
	}
	return true, m.capabilities.Watcher.Refresh(ctx)
}

// refreshIndex updates the index to the current state of the store and returns the index. If the memory has no index,
// refreshIndex builds one.
func (m *Memory) refreshIndex(ctx context.Context) (*searcher, error) {
	watched, err := m.refreshStore(ctx)
	if err != nil {
		return nil, err
	}
	if !watched {
		return m.buildIndex(ctx, watched)
	}
	// writing only if the value changes keeps the cache line shared between processors
	if m.pendingChanges.writesSinceRecall.Load() != 0 {
		m.pendingChanges.writesSinceRecall.Store(0)
	}
	if n := m.opts.longLivedCallCount; m.recallCount.Load() < n && m.recallCount.Add(1) == n {
		m.saveIndexAtStartLimit()
	}
	for {
		s, err := m.searcher.Load(), error(nil)
		switch {
		case s == nil:
			s, err = m.buildIndex(ctx, watched)
		case m.pendingChanges.hasUnindexedChanges():
			err = m.applyPendingChanges(ctx)
		}
		// If m.searcher is no longer s, the store was replaced in the meantime, and the pending changes for s were
		// dropped. Therefore start again.
		if err != nil || m.searcher.Load() == s {
			return s, err
		}
	}
}

// buildIndex builds the search index of the store and makes it the current index. If the store reports its changes
// (isStoreWatched) and another goroutine has built the index in the meantime, buildIndex returns that index. The result
// also contains the changes that were made while the index was being built. If the store was replaced or its log was
// rewritten during the build, buildIndex starts again.
func (m *Memory) buildIndex(ctx context.Context, isStoreWatched bool) (*searcher, error) {
	if err := m.buildMu.LockContext(ctx); err != nil {
		return nil, err
	}
	defer m.buildMu.Unlock()
	rewritten := false // true after the log was rewritten: do not open the index file, but read the entries
	for {
		m.mu.Lock()
		if s := m.searcher.Load(); isStoreWatched && s != nil {
			m.mu.Unlock()
			return s, m.applyPendingChanges(ctx)
		}
		m.isBuildingSearcher = true
		ahead := m.pendingChanges.beginCollectingChanges()
		resets := m.storeResetCount
		m.mu.Unlock()

		s, err := ahead.finish(), error(nil)
		if s == nil {
			s, err = m.newSearcher(ctx, !rewritten)
		}
		rewritten = s.savedIndex != nil && errors.Is(err, ErrPosition)
		if err == nil {
			err = m.mergeIndexRuns(ctx, s, resets)
			if err == nil {
				err = s.addLowerStoreEntries(ctx)
			}
		}
		m.mu.Lock()
		m.isBuildingSearcher = false
		done := err == nil && resets == m.storeResetCount
		if done {
			m.lastScanIndex.Store(nil)
			m.setSearcher(s) // if the store does not report changes, the old searcher is still set, and s replaces it
		} else {
			s.close()
			m.pendingChanges.setCollectingChanges(m.searcher.Load() != nil)
		}
		m.mu.Unlock()
		if err != nil && !rewritten {
			return nil, err
		}
		if done {
			return s, m.applyPendingChanges(ctx) // apply the changes that were written while the index was being built
		}
	}
}

// newEmptySearcher returns a searcher with an empty index.
func (m *Memory) newEmptySearcher() *searcher {
	s := newSearcher(m.opts.Ranking, m.store)
	if m.opts.writesDerivedFiles() {
		s.indexPartFiles.maxBytes = cmp.Or(m.opts.maxIndexPartBytes, maxIndexRunBytes)
	}
	return s
}

// newSearcher returns a searcher for the store. If useSavedIndex is set and there is a usable index
// file, it uses that file. Otherwise it indexes all entries. The caller must close the
// searcher even if there is an error.
func (m *Memory) newSearcher(ctx context.Context, useSavedIndex bool) (*searcher, error) {
	s := m.newEmptySearcher()
	if useSavedIndex {
		s.savedIndex = m.openSavedIndex(m.opts.Ranking)
	}
	if s.savedIndex != nil {
		return s, s.initFromIndexFile(ctx)
	}
	return s, s.fillIndex(ctx, allEntries(ctx, m.store), 0)
}

// addScorer returns the scorer for an additional ranking. If the scorer does not exist
// yet, addScorer builds its index.
func (m *Memory) addScorer(ctx context.Context, s *searcher, name string) (*ranking.Scorer, error) {
	if err := m.applyMu.LockContext(ctx); err != nil {
		return nil, err
	}
	defer m.applyMu.Unlock()
	if r := s.scorer(name); r != nil {
		return r, nil
	}
	var v *rankedView
	for _, r := range *s.scorers.Load() {
		v = s.newView(ctx, r)
	}
	r := ranking.NewScorer(name, nil)
	err := r.FillIndex(ctx, func(yield func(ranking.Item, error) bool) {
		for _, id := range v.entryIDs() {
			if x, ok := v.Item(id).(*rankedEntryItem); ok && !yield(x, nil) {
				return
			}
		}
	}, 0, nil)
	if err != nil {
		return nil, err
	}
	// some entries could not be read, so the view lacks them and the query must fail
	if err := v.firstReadError(); err != nil {
		s.err.CompareAndSwap(nil, &err)
		return r, nil
	}
	scorers := maps.Clone(*s.scorers.Load())
	scorers[name] = r
	s.scorers.Store(&scorers)
	return r, nil
}

// openSavedIndex opens the index file next to the store. It returns nil if the file is
// missing or unusable.
func (m *Memory) openSavedIndex(ranking string) *savedIndex {
	m.mu.Lock()
	distrust := m.ignoresIndexFile
	m.mu.Unlock()
	d := findLog(m.store)
	if d == nil || distrust {
		return nil
	}
	s, err := openIndexFile(d, ranking)
	if err != nil {
		return nil // without a usable index file, the caller builds the index from the entries
	}
	return s
}

// allEntries yields all entries of a store, ordered by ID.
func allEntries(ctx context.Context, s Store) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		for e, err := range s.Entries(ctx, Filter{}) {
			if !yield(&e, err) {
				return
			}
		}
	}
}
