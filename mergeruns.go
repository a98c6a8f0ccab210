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

// mergeRuns merges the temporary files that contain the parts (runs) of the search index into a single file. Then the
// searcher s uses this file. The new file becomes the store's saved index file, unless the store has changed or was
// replaced in the meantime. resets is the number of such replacements when the caller began to refresh the index. If
// the new file does not become the saved index file, it has no name, so no other process can open it. If the new file
// cannot be written, s continues to use the temporary files.
func (m *Memory) mergeRuns(ctx context.Context, s *searcher, resets int) error {
	if len(s.runFiles.files) == 0 {
		return nil
	}
	x, h := s.scorer(m.opts.Ranking).Index().Searcher(), indexHead{entries: int64(s.startRows.Len())}
	file := s.db.DerivedFile(indexSuffix)
	// checkUnchanged fails if the log was rewritten. Otherwise the file could contain the words of a redacted entry.
	f, temp, err := file.CreateTemp(func() error { return m.checkUnchanged(resets) })
	if f == nil {
		f, err = file.CreateNameless()
	}
	if err != nil {
		return ctx.Err()
	}
	size, err := x.WriteSnapshot(ctxfile.File{Context: ctx, InnerFile: f}, h.imageOffset())
	switch {
	case temp == "":
	case err != nil:
		file.DiscardTemp(temp)
	case file.AdoptTemp(f, temp, func() error { return m.finishIndexFile(ctx, s, &h, f, resets) }) == nil:
		s.unsavedWork.Store(0)
		if rows, err := h.openRows(f); err == nil {
			s.setStartRows(rows)
		}
	}
	var merged *index.Index
	if err == nil {
		merged, err = index.OpenSnapshot(
			io.NewSectionReader(f, h.imageOffset(), size),
			size,
			ranking.FormulaParams(m.opts.Ranking),
		)
	}
	if err != nil {
		_ = f.Close()
		return ctx.Err()
	}
	s.scorers.Store(&map[string]*ranking.Scorer{m.opts.Ranking: ranking.NewScorer(m.opts.Ranking, merged)})
	s.runFiles.close()
	s.savedIndex = &savedIndex{head: h, index: merged, rows: s.startRows, file: f}
	return nil
}

// checkUnchanged returns an error if the store has changed or was replaced since the index was built. resets is the
// number of replacements at that time. The caller must have read all changes of other processes.
func (m *Memory) checkUnchanged(resets int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.resetCount != resets || m.pending.hasAny() {
		return fmt.Errorf("%w: the store has changed", errUnusableIndex)
	}
	return nil
}

// finishIndexFile writes the beginning of the index file: page 0 and the table of entries. The index snapshot, which
// follows these, has already been written.
func (m *Memory) finishIndexFile(ctx context.Context, s *searcher, h *indexHead, f vfs.File, resets int) error {
	err := m.checkUnchanged(resets)
	if err == nil {
		err = s.db.UpdateOffsets(ctx, s.startRows)
	}
	if err != nil {
		return err
	}
	*h = newIndexHead(m.opts.Ranking, s.db.CurrentLogState(func() {}))
	h.entries = int64(s.startRows.Len())
	return h.writeHeadAndRows(f, s.startRows)
}
