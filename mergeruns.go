// This file merges the parts (runs) of a new search index, which are in temporary files, into one file. If possible,
// that file becomes the index file.

package oxbow

import (
	"context"
	"fmt"
	"io"

	"github.com/oxbow-memory/oxbow/internal/base/ctxfile"
	"github.com/oxbow-memory/oxbow/internal/search/index"
	"github.com/oxbow-memory/oxbow/internal/search/ranking"
	"github.com/oxbow-memory/oxbow/vfs"
)

// mergeIndexRuns merges the temporary files with the parts (runs) of the search index into a single file, which the
// searcher s then uses. The parameter storeResetCount is the value of the memory's counter of replaced stores when the
// caller began to refresh the index. There are two cases:
//   - If the store was not changed or replaced since then, the merged file is saved as the store's index file.
//   - Otherwise the merged file has no name, so that no other process can open it.
//
// If the merged file cannot be written, s continues to use the temporary files.
func (m *Memory) mergeIndexRuns(ctx context.Context, s *searcher, storeResetCount int) error {
	if len(s.indexPartFiles.tempFiles) == 0 {
		return nil
	}
	x, h := s.scorer(m.opts.Ranking).Index().Searcher(), indexFileHeader{entryCount: int64(s.initialEntryRows.Len())}
	file := s.db.DerivedFile(indexSuffix)
	// checkStoreUnchanged fails if the log was rewritten. Otherwise the file could contain the words of a redacted
	// entry.
	f, temp, err := file.CreateTemp(func() error { return m.checkStoreUnchanged(storeResetCount) })
	if f == nil {
		f, err = file.CreateUnlinkedFile()
	}
	if err != nil {
		return ctx.Err()
	}
	size, err := x.WriteSnapshot(ctxfile.File{Context: ctx, InnerFile: f}, h.snapshotOffset())
	switch {
	case temp == "":
	case err != nil:
		file.DiscardTemp(temp)
	case file.ReplaceByTempFile(f, temp, func() error {
		return m.finishIndexFile(ctx, s, &h, f,
			storeResetCount)
	}) == nil:
		s.unsavedAnalysisWork.Store(0)
		if rows, err := h.openRows(f); err == nil {
			s.setInitialEntryRows(rows)
		}
	}
	var merged *index.Index
	if err == nil {
		merged, err = index.OpenSnapshot(
			io.NewSectionReader(f, h.snapshotOffset(), size),
			size,
			ranking.BM25Params(m.opts.Ranking),
		)
	}
	if err != nil {
		_ = f.Close()
		return ctx.Err()
	}
	s.scorers.Store(&map[string]*ranking.Scorer{m.opts.Ranking: ranking.NewScorer(m.opts.Ranking, merged)})
	s.indexPartFiles.closeTempFiles()
	s.savedIndex = &savedIndex{head: h, index: merged, rows: s.initialEntryRows, file: f}
	return nil
}

// checkStoreUnchanged returns an error if the store has changed or was replaced since the index was built.
// storeResetCount is the number of replacements at that time. The caller must have read all changes of other processes.
func (m *Memory) checkStoreUnchanged(storeResetCount int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.storeResetCount != storeResetCount || m.pendingChanges.hasUnindexedChanges() {
		return fmt.Errorf("%w: the store has changed", errUnusableIndex)
	}
	return nil
}

// finishIndexFile sets the header h and writes the index file's beginning: page 0 and the table of entries. The index
// snapshot, which follows the table in the file, has already been written. If the store has changed since the index was
// built (see checkStoreUnchanged), finishIndexFile writes nothing and returns an error.
func (m *Memory) finishIndexFile(
	ctx context.Context,
	s *searcher,
	h *indexFileHeader,
	f vfs.File,
	storeResetCount int,
) error {
	err := m.checkStoreUnchanged(storeResetCount)
	if err == nil {
		err = s.db.UpdateVersionOffsets(ctx, s.initialEntryRows)
	}
	if err != nil {
		return err
	}
	*h = newIndexFileHeader(m.opts.Ranking, s.db.CurrentLogState(func() {}))
	h.entryCount = int64(s.initialEntryRows.Len())
	return h.writeHeadAndRows(f, s.initialEntryRows)
}
