// This file decides when a memory writes its index file.

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

	// Close writes the index file only if this takes a few milliseconds. These are the
	// maximum numbers of entries and log bytes, and the maximum size in bytes of the text
	// in pending changes.
	entriesAtClose = 8192
	logAtClose     = 2 << 20
	textAtClose    = 64 << 10
)

// startBound returns how many entries, by weight, may be missing in an index file with n
// entries before it is written again for the next process. The cost of writing the file is
// proportional to n. The cost of the missing entries occurs in each process that recalls.
// The sum of both costs is smallest near the square root of n.
func startBound(n int) int { return max(indexLeast, 2*int(math.Sqrt(float64(n)))) }

// openBound is like startBound for a process that continues to run. The bound is higher, because
// this process has a complete index and the file only saves work for the next process.
func openBound(n int) int { return openLeast + n/16 }

// Checkpoint updates the files next to the store if they lack many changes. These are the snapshot,
// from which the next process starts, and the index file, if the memory has an index. The running
// time of Checkpoint is proportional to the size of the store, unlike the time of [Memory.Close].
// Other processes can read in the meantime, but cannot write while a file is being written.
//
// A short-lived program should call Checkpoint after it has printed its answer and before Close. A
// program that runs for long need not call Checkpoint, because the memory writes the files in the
// background. Without Checkpoint, no change is lost, but the next process has to read more of the
// log. If ctx is done, Checkpoint ends early. If another process is writing, Checkpoint leaves the
// files to the next call.
func (m *Memory) Checkpoint(ctx context.Context) error {
	d := findLog(m.store)
	if d == nil {
		return nil
	}
	if err := d.Checkpoint(ctx); err != nil {
		return err
	}
	// ErrDerived means that another process was faster
	if err := m.keepIndex(ctx, d, startBound); err != nil && !errors.Is(err, logstore.ErrDerived) {
		return err
	}
	return nil
}

// keepIndex writes the index file if there is an index and the file lacks at least bound
// entries. If the process has only scanned the entries, it creates an empty index file as a
// note for the next process.
func (m *Memory) keepIndex(ctx context.Context, d *logstore.DB, bound func(n int) int) error {
	if !m.opts.keepsFiles() {
		return nil
	}
	if m.onlyScanned() {
		_ = d.DerivedFile(indexSuffix).MakeEmpty()
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
	if f.isDropped {
		f.s.close()
	}
	return err
}

// keepBeside writes the index file in another goroutine if the file lacks as many entries as bound
// says. The goroutine ends soon after Close. It does nothing for an overlay store, because the
// index of an overlay store has more entries than the log. Only Checkpoint writes that index.
func (m *Memory) keepBeside(bound func(n int) int) {
	d, ok := m.store.(*logstore.DB)
	if !ok || !m.opts.keepsFiles() {
		return
	}
	if !m.worthKeeping(bound, int(m.notKept.Load())) {
		return
	}
	if !m.soon.CompareAndSwap(false, true) {
		return // another goroutine already writes the file
	}
	go func() {
		defer m.soon.Store(false)
		var left int64
		s, err := m.searcher.Load(), m.keepIndex(m.closing, d, bound)
		if err == nil {
			_ = m.reopen(m.closing, d) // ignore the error: the next write tries again
		} else if s != nil {
			left = s.unsaved.Load() // wait for more changes before the next attempt
		}
		m.notKept.Store(left)
	}()
}

// keepAtClose writes the index file if this takes a few milliseconds.
func (m *Memory) keepAtClose() {
	d := findLog(m.store)
	if d == nil {
		return
	}
	bytes, entries := d.Size()
	switch {
	case bytes <= logAtClose && entries <= entriesAtClose && m.pending.text() <= textAtClose:
		_ = m.keepIndex(context.Background(), d, startBound)
	case m.opts.keepsFiles() && m.onlyScanned():
		_ = d.DerivedFile(indexSuffix).MakeEmpty()
	}
}

// worthKeeping reports whether the index file lacks at least bound entries, plus more.
func (m *Memory) worthKeeping(bound func(n int) int, more int) bool {
	s := m.searcher.Load()
	if s == nil {
		return false
	}
	n := s.scorer(m.opts.Ranking).Index().Searcher().Size()
	return int(s.unsaved.Load())+m.pending.len() >= bound(n)+more
}

// heldIndex is a frozen index and the searcher that it was taken from.
type heldIndex struct {
	frozenIndex
	s         *searcher
	unsaved   int64 // value of s.unsaved when the index was frozen
	isDropped bool  // the memory does not use the searcher any more
}

// freezeIndex applies the pending changes and returns the state of the index. It returns
// nil if the memory has no index. For an overlay store, the entries below are removed from
// the index and the memory drops it, so that the next query reads the file.
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
	if err := m.applyTaken(ctx, s, ds); err != nil {
		return nil, err
	}
	if s == nil || !now.Exists {
		return nil, nil
	}
	if d != m.store {
		m.mu.Lock()
		f.isDropped = m.searcher.CompareAndSwap(s, nil)
		m.pending.want(m.isBuilding)
		m.mu.Unlock()
		if err := s.dropUnder(ctx); err != nil || !f.isDropped {
			s.close()
			return nil, err
		}
	}
	f.s, f.unsaved = s, s.unsaved.Load()
	v := s.view(ctx, s.scorer(m.opts.Ranking))
	f.index, f.rows = v.Searcher(), v.allRows()
	f.head.entries = int64(f.rows.Len())
	return f, v.readError()
}

// onlyScanned reports whether the memory has answered queries by a scan, without an index.
func (m *Memory) onlyScanned() bool {
	if m.buildMu.LockContext(context.Background()) != nil {
		return false
	}
	defer m.buildMu.Unlock()
	return m.hadScan && m.searcher.Load() == nil
}

// MakeIndex builds the index now, so that the next recall does not have to wait for it.
// [Memory.Checkpoint] can then write the index file. Call it after writing many entries.
//
// If the memory is empty, MakeIndex returns at once, and the index is built while entries
// are written. This ends at the next recall or MakeIndex, or if ctx is done. MakeIndex does
// nothing if the store is an implementation other than oxbow's log.
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

// fillAhead starts to index entries while they are being written, if the store is empty. It
// reports whether the store is empty.
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
	has := p.areWanted || p.ahead != nil
	p.mu.Unlock()
	if has {
		return false, nil
	}
	set(newFilling(ctx, m.emptySearcher()))
	s, err := d.Stats(ctx) // also reads the changes of other processes
	if err != nil || s.Entries > 0 {
		set(nil)
	}
	return err == nil && s.Entries == 0, err
}
