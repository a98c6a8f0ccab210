// This file limits the memory use of processes that run for long. After such a process has
// written an index file, it reads the entries and the index from that file.

package oxbow

import (
	"context"

	"github.com/oxbow-memory/oxbow/internal/log/logstore"
)

// reopenIndex replaces the memory's search index by the index in the saved index file. It does so only if the texts of
// the entries that were added to the index since the last save need more bytes than the cache may use. It does nothing
// if the index contains several rankings, or if the index file cannot be opened. Other queries can continue while
// reopenIndex reads the file. Queries with pending changes must wait while the index is exchanged.
func (m *Memory) reopenIndex(ctx context.Context, d *logstore.DB) error {
	old := m.searcher.Load()
	if old == nil || old.unsavedEntryBytes.Load() <= d.CacheBudget().MaxBytes() {
		return nil
	}
	// An index file contains one ranking. With several rankings, continue with the index in memory.
	if len(*old.scorers.Load()) > 1 {
		return nil
	}
	s := newSearcher(m.opts.Ranking, m.store)
	s.savedIndex = m.openSavedIndex(m.opts.Ranking)
	if s.savedIndex == nil {
		return nil
	}
	at, err := d.Position(ctx)
	if err == nil {
		err = s.initFromIndexFile(ctx)
	}
	if err != nil {
		s.close()
		return err
	}
	if err := m.applyMu.LockContext(ctx); err != nil {
		s.close()
		return err
	}
	defer m.applyMu.Unlock()
	now, ds := m.takePendingChanges()
	if now == old {
		// s.applyChangesSince reads all changes that were made after the log position in the variable at, so ds is not
		// needed.
		err = s.applyChangesSince(ctx, at)
	}
	m.mu.Lock()
	switch {
	case err == nil && m.searcher.Load() == old && len(*old.scorers.Load()) == 1:
		m.setSearcher(s)
	case m.searcher.Load() == now && now != nil:
		m.pendingChanges.requeue(ds)
		fallthrough
	default:
		s.close()
	}
	m.mu.Unlock()
	m.pendingChanges.endApplyingChanges()
	return err
}
