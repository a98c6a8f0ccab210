// The index file of a memory: when it is used, and when it is written.

package oxbow

import (
	"context"
	"errors"
	"math"

	"github.com/oxbow-memory/oxbow/internal/log/logstore"
)

const (
	indexLeast = 256
	openLeast  = 4096

	// An index is written while a memory is closed if it takes some milliseconds: of
	// so many entries in a log of this many bytes at most, with no more bytes of text
	// pending.
	entriesAtClose = 8192
	logAtClose     = 2 << 20
	textAtClose    = 64 << 10
)

// startBound is how many entries, by weight, an index file of n entries may lack before a
// process writes it for the next. A file costs in proportion to n, and what it lacks each
// process that recalls: the sum of both is least at the root of n.
func startBound(n int) int { return max(indexLeast, 2*int(math.Sqrt(float64(n)))) }

// openBound is the same of a process that stays open, which need not index again what it
// has written: the writing takes less than the indexing.
func openBound(n int) int { return openLeast + n/16 }

// Checkpoint brings what is kept next to the store up to it, as far as it lacks enough
// to be worth it: the snapshot, from which the next process begins, and the index file,
// if there is an index. It takes time in proportion to the store, which
// [Memory.Close] never takes; others read and write meanwhile, but while a file is
// written, no process writes. A program that ends soon calls it, when it has answered,
// before Close; one that stays open need not: the memory does the same in the
// background. If it is never called, no change is lost, and the next process reads
// more. When ctx is done it ends early; what a busy writer keeps from being written is
// left to the next call.
func (m *Memory) Checkpoint(ctx context.Context) error {
	d := logOf(m.store)
	if d == nil {
		return nil
	}
	if err := d.Checkpoint(ctx); err != nil {
		return err
	}
	if err := m.keepIndex(ctx, d, startBound); err != nil && !errors.Is(err, logstore.ErrDerived) { // else it was overtaken
		return err
	}
	return nil
}

// keepIndex writes the index file of a store, when there is an index and the file lacks
// as many entries as a bound, or notes that a scan did without.
func (m *Memory) keepIndex(ctx context.Context, d *logstore.DB, bound func(n int) int) error {
	if !m.opts.keepsFiles() {
		return nil
	}
	if m.onlyScanned() {
		_ = d.Derived(indexSuffix).MakeEmpty()
	}
	if err := m.keeping.LockContext(ctx); err != nil {
		return err
	}
	defer m.keeping.Unlock()
	if !m.worthKeeping(bound, 0) {
		return nil
	}
	f, err := m.freezeIndex(ctx, d)
	if f == nil {
		return err
	}
	err = saveIndex(ctx, d, &f.frozenIndex)
	if err == nil {
		f.s.unsaved.Add(-f.unsaved)
	}
	if f.dropped {
		f.s.close()
	}
	return err
}

// keepBeside writes the index file in another goroutine, for which Close does not wait:
// it ends soon after. An overlay's index is of more than the log, and is left to
// Checkpoint.
func (m *Memory) keepBeside(begun bool) {
	bound := openBound
	if begun {
		bound = startBound
	}
	d, ok := m.store.(*logstore.DB)
	if !ok || !m.opts.keepsFiles() || !m.worthKeeping(bound, int(m.notKept.Load())) || !m.soon.CompareAndSwap(false, true) {
		return
	}
	go func() {
		defer m.soon.Store(false)
		var left int64
		s, err := m.searcher.Load(), m.keepIndex(m.closing, d, bound)
		if err == nil {
			_ = m.reopen(m.closing, d) // else it is tried next time
		} else if s != nil {
			left = s.unsaved.Load() // not at once again
		}
		m.notKept.Store(left)
	}()
}

// keepAtClose writes the index file if that takes an instant.
func (m *Memory) keepAtClose() {
	d := logOf(m.store)
	if d == nil {
		return
	}
	bytes, entries := d.Size()
	switch {
	case bytes <= logAtClose && entries <= entriesAtClose && m.pending.text() <= textAtClose:
		_ = m.keepIndex(context.Background(), d, startBound)
	case m.opts.keepsFiles() && m.onlyScanned():
		_ = d.Derived(indexSuffix).MakeEmpty()
	}
}

// worthKeeping reports whether the index file lacks as many entries as a bound, and more.
func (m *Memory) worthKeeping(bound func(n int) int, more int) bool {
	s := m.searcher.Load()
	if s == nil {
		return false
	}
	n := s.scorer(m.opts.Ranking).Index().Searcher().Size()
	return int(s.unsaved.Load())+m.pending.len() >= bound(n)+more
}

// heldIndex is a frozen index and the searcher that it is of.
type heldIndex struct {
	frozenIndex
	s       *searcher
	unsaved int64 // of the searcher then
	dropped bool  // the searcher is the memory's no more
}

// freezeIndex applies what is pending, and returns the index then, nil for none. That of
// an overlay is dropped: the next query reads the file.
func (m *Memory) freezeIndex(ctx context.Context, d *logstore.DB) (*heldIndex, error) {
	if err := m.applying.LockContext(ctx); err != nil {
		return nil, err
	}
	defer m.applying.Unlock()
	f := &heldIndex{}
	var s *searcher
	var ds []analyzedDelta
	now := d.Moment(func() { s, ds = m.takePending() })
	f.head, f.epoch = newIndexHead(m.opts.Ranking, now), now.Epoch
	if err := m.applyTaken(ctx, s, ds); s == nil || !now.Exists || err != nil {
		return nil, err
	}
	if d != m.store {
		m.mu.Lock()
		f.dropped = m.searcher.CompareAndSwap(s, nil)
		m.pending.want(m.building)
		m.mu.Unlock()
		if err := s.dropUnder(ctx); err != nil || !f.dropped {
			s.close()
			return nil, err
		}
	}
	f.s, f.unsaved = s, s.unsaved.Load()
	v := s.view(ctx, s.scorer(m.opts.Ranking))
	f.index, f.rows = v.Searcher(), v.allRows()
	f.head.entries = int64(f.rows.Len())
	return f, v.failed()
}

// onlyScanned reports whether the memory did without an index.
func (m *Memory) onlyScanned() bool {
	if m.buildMu.LockContext(context.Background()) != nil {
		return false
	}
	defer m.buildMu.Unlock()
	return m.hadScan && m.searcher.Load() == nil
}

// MakeIndex makes the index now, of which [Memory.Checkpoint] makes the index file,
// so that the next recall need not wait for it. It is for
// programs that have just written much, and worth nothing to others. That of an
// empty memory is made while it is written to, until the next recall or
// MakeIndex, or until ctx is done: then it is made as of a memory that is not
// empty. A memory over another store than oxbow's own has no such file: nothing
// is done.
func (m *Memory) MakeIndex(ctx context.Context) error {
	d, ok := m.store.(*logstore.DB)
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
func (m *Memory) fillAhead(ctx context.Context, d *logstore.DB) (bool, error) {
	if err := m.buildMu.LockContext(ctx); err != nil {
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
	set(newFilling(ctx, m.emptySearcher()))
	s, err := d.Stats(ctx) // reads what others wrote
	if err != nil || s.Entries > 0 {
		set(nil)
	}
	return err == nil && s.Entries == 0, err
}
