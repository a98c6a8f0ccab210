// The index file of a memory: when it is used, and when it is written.

package oxbow

import (
	"context"

	"github.com/oxbow-memory/oxbow/internal/index"
)

// keepIndex writes the index file next to the store, when there is one and the file
// lacks enough of it, or notes that a scan did without. What goes wrong costs
// the next process its time, and is no error.
func (m *Memory) keepIndex() {
	d := logOf(m.store)
	if d == nil || m.opts.ReadOnly && !m.opts.KeepIndex {
		return
	}
	if m.onlyScanned() {
		_ = d.noteScan()
	}
	if !m.worthKeeping() || m.pending.len() > mostAtClose { // as one that only scanned is not
		return
	}
	_ = d.saveIndex(m.opts.Ranking, func() (*index.Searcher, entryRows) {
		if m.applyPending(context.Background()) != nil {
			return nil, entryRows{}
		}
		s := m.searcher.Load()
		if s == nil || s.dropUnder(context.Background()) != nil {
			return nil, entryRows{}
		}
		v := s.view(context.Background(), s.scorer(m.opts.Ranking))
		rows := v.allRows()
		if v.failed() != nil {
			return nil, entryRows{}
		}
		return v.Searcher(), rows
	})
}

// mostAtClose is how many changes are analyzed while a memory is closed. More are
// left to the next recall, which does the same work.
const mostAtClose = 500

func (m *Memory) worthKeeping() bool {
	s := m.searcher.Load()
	if s == nil {
		return false
	}
	n := s.scorer(m.opts.Ranking).Index().Searcher().Size()
	return int(s.unsaved.Load())+m.pending.len() >= indexLeast+n/indexShare
}

// onlyScanned reports whether the memory did without an index.
func (m *Memory) onlyScanned() bool {
	if m.buildMu.lockContext(context.Background()) != nil {
		return false
	}
	defer m.buildMu.Unlock()
	return m.hadScan && m.searcher.Load() == nil
}

// MakeIndex makes the index now, and with it the index file when
// the memory is closed, so that the next recall need not wait for it. It is for
// programs that have just written much, and worth nothing to others. That of an
// empty memory is made while it is written to, until the next recall or
// MakeIndex, or until ctx is done: then it is made as of a memory that is not
// empty. A memory over another store than oxbow's own has no such file: nothing
// is done.
func (m *Memory) MakeIndex(ctx context.Context) error {
	d, ok := m.store.(*db)
	if !ok {
		return nil
	}
	if ahead, err := m.fillAhead(ctx, d); ahead || err != nil {
		return err
	}
	_, err := m.refresh(ctx)
	return err
}

// fillAhead lets what is written go into the index, if the store is empty, and
// reports whether it is.
func (m *Memory) fillAhead(ctx context.Context, d *db) (bool, error) {
	if err := m.buildMu.lockContext(ctx); err != nil {
		return false, err
	}
	defer m.buildMu.Unlock()
	p := &m.pending
	set := func(f *filling) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.fillAhead(f)
	}
	p.mu.Lock()
	has := p.wanted || p.ahead != nil
	p.mu.Unlock()
	if has {
		return false, nil
	}
	set(newFilling(ctx, m.opts.Ranking, d))
	s, err := d.Stats(ctx) // reads what others wrote
	if err != nil || s.Entries > 0 {
		set(nil)
	}
	return err == nil && s.Entries == 0, err
}
