// Reopening: a process that stays open and has put much into its index goes on from the
// index file that it wrote, so that what it keeps in memory has a bound.

package oxbow

import (
	"context"

	"github.com/oxbow-memory/oxbow/internal/log/logstore"
)

// reopen makes the index file what the memory searches, when its index was given more
// bytes of entries than the cache may keep. Queries go on meanwhile, but those that find a
// change pending wait for the last step.
func (m *Memory) reopen(ctx context.Context, d *logstore.DB) error {
	old := m.searcher.Load()
	if old == nil || old.given.Load() <= d.Room().Most() || len(*old.scorers.Load()) > 1 { // the file has one ranking
		return nil
	}
	s := newSearcher(m.opts.Ranking, m.store)
	s.saved = m.savedFor(m.opts.Ranking)
	if s.saved == nil {
		return nil
	}
	at, err := d.Position(ctx)
	if err == nil {
		err = s.resume(ctx)
	}
	if err != nil {
		s.close()
		return err
	}
	if err := m.applying.LockContext(ctx); err != nil {
		s.close()
		return err
	}
	defer m.applying.Unlock()
	now, ds := m.takePending()
	if now == old {
		err = s.applySince(ctx, at) // what is pending is in the store already
	}
	m.mu.Lock()
	switch {
	case err == nil && m.searcher.Load() == old && len(*old.scorers.Load()) == 1:
		m.setSearcher(s)
	case m.searcher.Load() == now && now != nil:
		m.pending.putBack(ds)
		fallthrough
	default:
		s.close()
	}
	m.mu.Unlock()
	m.pending.applied()
	return err
}
