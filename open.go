// This file opens and closes memories.

package oxbow

import (
	"context"

	"github.com/oxbow-memory/oxbow/internal/base/ctxmutex"
	"github.com/oxbow-memory/oxbow/internal/base/keytable"
	"github.com/oxbow-memory/oxbow/internal/log/logstore"
)

// Open opens the memory in the file with this path. By convention, the file name ends in
// .oxbow. If the file does not exist, the memory is empty, and the first change creates the
// file and its parent directories. Errors match [ErrCorrupt], [ErrVersion], [ErrNotStore],
// [ErrInvalid] (for an empty path) or errors of package io/fs.
func Open(path string, o *Options) (*Memory, error) {
	opts := o.orDefault()
	if path == "" {
		return nil, &InvalidError{
			Field:  "path",
			Reason: "is empty; give the path of the file that holds the memory, such as memory.oxbow",
		}
	}
	if err := checkRanking(opts.Ranking); err != nil {
		return nil, err
	}
	of := opts.logOptions()
	of.DerivedFileKinds = []logstore.DerivedFileKind{
		{
			Suffix:                 indexSuffix,
			IsValidAfterCompaction: canKeepIndexFile,
			Position:               indexFilePosition,
			Check:                  checkIndexFile,
		},
		newDisposableFileKind(editsFileSuffix),
		newDisposableFileKind(lineageFileSuffix),
		{
			Suffix:                 keytable.ForeignTextTableSuffix,
			IsValidAfterCompaction: neverValidAfterCompaction,
			Check:                  checkForeignFile,
		},
	}
	d, err := logstore.Open(path, of)
	if err != nil {
		return nil, err
	}
	return newMemory(d, opts), nil
}

// New returns a memory over any store. Closing the memory closes the store.
func New(s Store, o *Options) *Memory { return newMemory(s, o.orDefault()) }

func newMemory(s Store, opts Options) *Memory {
	m := &Memory{
		store:        s,
		capabilities: CapabilitiesOf(s),
		opts:         opts,
		minScanBytes: minScanBytes,

		minScannedEntries: minScannedEntries,
		buildMu:           ctxmutex.New(),
		applyMu:           ctxmutex.New(),
		savingIndexMu:     ctxmutex.New(),
	}
	m.saveIndexSoon = func() { m.saveIndexInBackground(missingEntriesLimitWhileOpen) }
	m.saveIndexAtStartLimit = func() { m.saveIndexInBackground(missingEntriesLimitAtStart) }
	m.closingCtx, m.cancelClosing = context.WithCancel(context.Background())
	if d, ok := s.(*logstore.DB); ok {
		d.SetOnAppend(m.newWriteTimeAnalyzer)
	}
	if m.capabilities.Watcher != nil {
		m.capabilities.Watcher.Watch(m.handleEvent)
	}
	return m
}

// Close closes the memory and its store. Close takes about the same time for a store of any size,
// because it writes the files derived from the log only if these files are small. Large files are
// written by [Memory.Checkpoint], and in the background while a memory is open. A second call does
// nothing and returns nil.
func (m *Memory) Close() error {
	if m.closed.Swap(true) {
		return nil
	}
	m.cancelClosing()
	if d, ok := m.store.(*logstore.DB); ok {
		d.CancelPendingWork()
	}
	m.saveIndexAtClose()
	err := m.store.Close()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.setSearcher(nil)
	return err
}
