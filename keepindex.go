// This file decides when a memory writes its index file.

package oxbow

import (
	"context"
	"errors"
	"math"

	"github.com/oxbow-memory/oxbow/internal/log/logstore"
)

const (
	minMissingEntriesAtStart   = 256
	minMissingEntriesWhileOpen = 4096

	// Close writes the index file only if the write takes a few milliseconds, which is so if all of these limits are
	// met. The limits are the entry count, the log size in bytes, and the size, in bytes, of the text in pending
	// changes.
	maxEntriesToSaveAtClose    = 8192
	maxLogBytesAtClose         = 2 << 20
	maxPendingTextBytesAtClose = 64 << 10
)

// missingEntriesLimitAtStart returns how many entries may be missing from an index file that contains indexedEntryCount
// entries. If more entries are missing, the index file is written again. A missing entry that is several times as long
// as the average entry counts as several entries.
//
// The limit balances two costs. Each process that searches must first index the missing entries, so a high limit makes
// every start slower. Writing the file has a cost that is proportional to indexedEntryCount, so a low limit causes this
// cost too often. The sum of the two costs is smallest if the limit is near the square root of indexedEntryCount.
func missingEntriesLimitAtStart(indexedEntryCount int) int {
	return max(minMissingEntriesAtStart, 2*int(math.Sqrt(float64(indexedEntryCount))))
}

// missingEntriesLimitWhileOpen returns the limit for a process that continues to run. indexedEntryCount is the number
// of entries in the index file. If more entries than the limit are missing in the file, the process writes the file
// again. The limit is higher than missingEntriesLimitAtStart. The running process has a complete index in memory, so
// the file only saves work for the next process.
func missingEntriesLimitWhileOpen(indexedEntryCount int) int {
	return minMissingEntriesWhileOpen + indexedEntryCount/16
}

// Checkpoint updates the files next to the store if many changes of the store are missing in them. One file is the
// snapshot, from which the next process starts. The second file is the index file, if the memory has an index.
// Checkpoint's running time is proportional to the store's size, unlike the running time of [Memory.Close]. Other
// processes can read in the meantime, but cannot write while a file is being written.
//
// A short-lived program should call Checkpoint after printing its answer and before Close. A program that runs for long
// need not call Checkpoint, because the memory writes the files in the background. Without Checkpoint, every change is
// still kept, but the next process has to read more of the log. If ctx is done, Checkpoint ends early. If another
// process is writing, Checkpoint leaves the files to the next call.
func (m *Memory) Checkpoint(ctx context.Context) error {
	d := findLog(m.store)
	if d == nil {
		return nil
	}
	if err := d.Checkpoint(ctx); err != nil {
		return err
	}
	// ErrDerivedFileNotWritten means that another process is writing, so leave the file to the next call.
	if err := m.saveIndexIfStale(ctx, d, missingEntriesLimitAtStart); err != nil &&
		!errors.Is(err, logstore.ErrDerivedFileNotWritten) {
		return err
	}
	return nil
}

// saveIndexIfStale writes the index file if too many entries of the memory's index are missing in the file. The limit
// is missingEntriesLimit(n), in which n is the number of entries in the index. If the process has no index, and has
// answered a query by reading all entries, saveIndexIfStale creates an empty index file. The empty file tells the next
// process to build an index.
func (m *Memory) saveIndexIfStale(ctx context.Context, d *logstore.DB, missingEntriesLimit func(n int) int) error {
	if !m.opts.writesDerivedFiles() {
		return nil
	}
	if m.hasOnlyScannedEntries() {
		_ = d.DerivedFile(indexSuffix).CreateEmpty()
	}
	if err := m.savingIndexMu.LockContext(ctx); err != nil {
		return err
	}
	defer m.savingIndexMu.Unlock()
	if !m.isIndexFileStale(missingEntriesLimit, 0) {
		return nil
	}
	f, err := m.freezeIndexForSaving(ctx, d)
	if f == nil {
		return err
	}
	if err == nil {
		err = saveIndex(ctx, d, &f.immutableIndexState)
	}
	if err == nil {
		f.searcher.unsavedAnalysisWork.Add(-f.searcherUnsavedWork)
	}
	switch {
	case f.searcher.indexReadError(f.index) != nil:
		// A compaction or a redaction may truncate the index file while the index still reads from it. Discard the
		// index without an error, because the file can be made again from the log. The next query builds the index from
		// the entries.
		m.dropUnreadableIndex(f.searcher)
		err = ctx.Err()
	case err == nil:
		m.trustIndexFile()
	case f.searcher.entryReadError() != nil:
		// The searcher keeps the error. The next query starts from the index file, which is not to blame.
		m.dropSearcher(f.searcher)
	}
	if f.mustCloseSearcher {
		f.searcher.close()
	}
	return err
}

// dropSearcher removes the searcher from the memory if the memory still uses it. The next query makes a new one.
func (m *Memory) dropSearcher(s *searcher) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.searcher.Load() == s {
		m.setSearcher(nil)
	}
}

// dropUnreadableIndex removes the searcher from the memory after its index file could not be read. The next query
// builds the index from the entries.
func (m *Memory) dropUnreadableIndex(s *searcher) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.searcher.Load() == s {
		m.setSearcher(nil)
		m.ignoresIndexFile = true
	}
}

// dropAfterReadError removes the searcher s from the memory after its view v had a read error. It reports whether the
// index file could not be read. The memory then ignores the index file. Otherwise an entry could not be read from the
// log. The index file is then not to blame, and the next query uses it again.
func (m *Memory) dropAfterReadError(s *searcher, v *rankedView) (isIndexUnreadable bool) {
	// Ask the index of the view as well, because a merge may have replaced the damaged part in the newest index.
	isIndexUnreadable = s.indexReadError(v.Searcher()) != nil || s.hasIndexReadError()
	if isIndexUnreadable {
		m.dropUnreadableIndex(s)
	} else {
		m.dropSearcher(s)
	}
	return isIndexUnreadable
}

// trustIndexFile allows queries to open the index file again, because a sound file has replaced the unreadable one.
func (m *Memory) trustIndexFile() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ignoresIndexFile = false
}

// saveIndexInBackground starts a goroutine that writes the index file if too many entries of the index are missing in
// the file. The limit is missingEntriesLimit(n), in which n is the number of entries in the index. After a write has
// failed, the limit is higher, so that the write is not repeated soon. saveIndexInBackground does nothing if such a
// goroutine is running. The goroutine ends soon after Close. For an overlay store (two stores that are shown as one),
// saveIndexInBackground does nothing, because the index also contains entries that the log lacks. Only Checkpoint
// writes the index of an overlay store.
func (m *Memory) saveIndexInBackground(missingEntriesLimit func(n int) int) {
	d, ok := m.store.(*logstore.DB)
	if !ok || !m.opts.writesDerivedFiles() {
		return
	}
	if !m.isIndexFileStale(missingEntriesLimit, int(m.unsavedEntriesAtFailure.Load())) {
		return
	}
	if !m.isIndexSavePlanned.CompareAndSwap(false, true) {
		return // another goroutine already writes the file
	}
	go func() {
		defer m.isIndexSavePlanned.Store(false)
		var left int64
		s, err := m.searcher.Load(), m.saveIndexIfStale(m.closingCtx, d, missingEntriesLimit)
		if err == nil {
			// ignore the error: the next background write of the index file tries to reopen the index again
			_ = m.reopenIndex(m.closingCtx, d)
		} else if s != nil {
			// the write has failed, so do not try again before more changes are missing in the file
			left = s.unsavedAnalysisWork.Load()
		}
		m.unsavedEntriesAtFailure.Store(left)
	}()
}

// saveIndexAtClose writes the index file if the log is so small that writing takes only a few milliseconds. Otherwise,
// if this process has only scanned the entries, saveIndexAtClose creates an empty index file, so that a later process
// builds an index. Errors are ignored.
func (m *Memory) saveIndexAtClose() {
	d := findLog(m.store)
	if d == nil {
		return
	}
	bytes, entries := d.Size()
	switch {
	case bytes <= maxLogBytesAtClose && entries <= maxEntriesToSaveAtClose &&
		m.pendingChanges.textBytes() <= maxPendingTextBytesAtClose:
		_ = m.saveIndexIfStale(context.Background(), d, missingEntriesLimitAtStart)
	case m.opts.writesDerivedFiles() && m.hasOnlyScannedEntries():
		_ = d.DerivedFile(indexSuffix).CreateEmpty()
	}
}

// isIndexFileStale reports whether the index file must be written again, because too many entries of the index are
// missing in the file. The limit is missingEntriesLimit(n)+extraMissingEntries, in which n is the number of entries in
// the index. The number of missing entries is estimated from the work to add them to the file's index.
func (m *Memory) isIndexFileStale(missingEntriesLimit func(n int) int, extraMissingEntries int) bool {
	s := m.searcher.Load()
	if s == nil {
		return false
	}
	n := s.scorer(m.opts.Ranking).Index().Searcher().DocumentCount()
	return int(s.unsavedAnalysisWork.Load())+m.pendingChanges.len() >= missingEntriesLimit(n)+extraMissingEntries
}

// indexToSave is a frozen index and the searcher that it was taken from.
type indexToSave struct {
	immutableIndexState
	searcher            *searcher
	searcherUnsavedWork int64 // value of searcher.unsavedAnalysisWork when the index was frozen
	// Memory no longer uses the searcher, so the goroutine that writes the index file must close the searcher
	mustCloseSearcher bool
}

// freezeIndexForSaving applies the pending changes and returns the present index, so that the index can be written to a
// file. It returns nil if the memory has no index, or if the log does not exist yet. It also returns nil if the store
// is an overlay store and the memory replaces the index meanwhile. If the index could not be read, freezeIndexForSaving
// returns the index together with the error.
//
// An index file must contain only entries of the log. An overlay store shows a log and a lower store as one store. If
// m.store is an overlay store, freezeIndexForSaving removes the lower store's entries from the index, and the memory
// stops using the index. The next query then reads the index file.
func (m *Memory) freezeIndexForSaving(ctx context.Context, d *logstore.DB) (*indexToSave, error) {
	if err := m.applyMu.LockContext(ctx); err != nil {
		return nil, err
	}
	defer m.applyMu.Unlock()
	f := &indexToSave{}
	var s *searcher
	var ds []analyzedChange
	now := d.CurrentLogState(func() { s, ds = m.takePendingChanges() })
	f.fileHeader, f.storeEpoch = newIndexFileHeader(m.opts.Ranking, now), now.LogEpoch
	if err := m.applyOrRequeueChanges(ctx, s, ds); err != nil {
		return nil, err
	}
	if s == nil || !now.LogFileExists {
		return nil, nil
	}
	if d != m.store {
		m.mu.Lock()
		f.mustCloseSearcher = m.searcher.CompareAndSwap(s, nil)
		m.pendingChanges.setCollectingChanges(m.isBuildingSearcher)
		m.mu.Unlock()
		if err := s.removeLowerStoreEntries(ctx); err != nil || !f.mustCloseSearcher {
			s.close()
			return nil, err
		}
	}
	f.searcher, f.searcherUnsavedWork = s, s.unsavedAnalysisWork.Load()
	v := s.newView(ctx, s.scorer(m.opts.Ranking))
	f.index, f.indexedEntryRows = v.Searcher(), v.allRows()
	f.fileHeader.entryCount = int64(f.indexedEntryRows.Len())
	return f, v.firstReadError()
}

// hasOnlyScannedEntries reports whether the memory has answered a query by a scan of the entries, and still has no
// index.
func (m *Memory) hasOnlyScannedEntries() bool {
	if m.buildMu.LockContext(context.Background()) != nil {
		return false
	}
	defer m.buildMu.Unlock()
	return m.hasAnsweredByScan && m.searcher.Load() == nil
}

// MakeIndex builds the index now, so that the next recall does not have to wait for it. [Memory.Checkpoint] can then
// write the index file. Call MakeIndex after writing many entries.
//
// If the memory is empty, MakeIndex returns at once. From then on, entries are indexed while they are written, until
// the next recall or the next call of MakeIndex. If ctx is canceled earlier, this indexing ends. MakeIndex does nothing
// if the store is an implementation other than oxbow's log.
func (m *Memory) MakeIndex(ctx context.Context) error {
	d, ok := m.store.(*logstore.DB)
	if !ok {
		return nil
	}
	if ahead, err := m.startIndexFiller(ctx, d); ahead || err != nil {
		return err
	}
	_, err := m.refreshIndex(ctx)
	return err
}

// startIndexFiller prepares an empty store for many new entries: from now on, entries are indexed while they are
// written. It returns true if it has started this. It returns false if the store contains entries, or if the memory
// already collects or indexes changes.
func (m *Memory) startIndexFiller(ctx context.Context, d *logstore.DB) (bool, error) {
	if err := m.buildMu.LockContext(ctx); err != nil {
		return false, err
	}
	defer m.buildMu.Unlock()
	p := &m.pendingChanges
	set := func(f *indexFiller) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.setFiller(f)
	}
	p.mu.Lock()
	has := p.isCollectingChanges || p.filler != nil
	p.mu.Unlock()
	if has {
		return false, nil
	}
	set(newIndexFiller(ctx, m.newEmptySearcher()))
	s, err := d.Stats(ctx) // also reads the changes of other processes
	if err != nil || s.Entries > 0 {
		set(nil)
	}
	return err == nil && s.Entries == 0, err
}
