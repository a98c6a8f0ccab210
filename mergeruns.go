// This file merges the runs of a new index into one file. If possible, that file becomes
// the index file.

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

// mergeRuns merges the runs of s into one file and continues with that file's index. The
// file becomes the index file if the store was not reset meanwhile, that is, if its number
// of resets is still resets. Otherwise the file has no name. If the file cannot be
// written, s continues to use the runs.
func (m *Memory) mergeRuns(ctx context.Context, s *searcher, resets int) error {
	if len(s.runs.files) == 0 {
		return nil
	}
	x, h := s.scorer(m.opts.Ranking).Index().Searcher(), indexHead{entries: int64(s.rows.Len())}
	file := s.db.DerivedFile(indexSuffix)
	// unchanged also ensures that no redaction was missed
	f, temp, err := file.Begin(func() error { return m.checkUnchanged(resets) })
	if f == nil {
		f, err = file.Nameless()
	}
	if err != nil {
		return ctx.Err()
	}
	size, err := x.WriteSnapshot(ctxfile.File{Context: ctx, Inner: f}, h.imageAt())
	switch {
	case temp == "":
	case err != nil:
		file.Discard(temp)
	case file.Adopt(f, temp, func() error { return m.finish(ctx, s, &h, f, resets) }) == nil:
		s.unsaved.Store(0)
		if rows, err := h.openRows(f); err == nil {
			s.setStart(rows)
		}
	}
	var merged *index.Index
	if err == nil {
		merged, err = index.OpenSnapshot(
			io.NewSectionReader(f, h.imageAt(), size),
			size,
			ranking.FormulaParams(m.opts.Ranking),
		)
	}
	if err != nil {
		_ = f.Close()
		return ctx.Err()
	}
	s.scorers.Store(&map[string]*ranking.Scorer{m.opts.Ranking: ranking.New(m.opts.Ranking, merged)})
	s.runs.close()
	s.saved = &savedIndex{head: h, index: merged, rows: s.rows, file: f}
	return nil
}

// checkUnchanged returns an error if the store has changed or was reset since the index was
// filled. The caller must have read all changes of other processes.
func (m *Memory) checkUnchanged(resets int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.resets != resets || m.pending.hasAny() {
		return fmt.Errorf("%w: the store has changed", errIndex)
	}
	return nil
}

// finish writes the part of the index file before the index snapshot.
func (m *Memory) finish(ctx context.Context, s *searcher, h *indexHead, f vfs.File, resets int) error {
	err := m.checkUnchanged(resets)
	if err == nil {
		err = s.db.Locate(ctx, s.rows)
	}
	if err != nil {
		return err
	}
	*h = newIndexHead(m.opts.Ranking, s.db.Moment(func() {}))
	h.entries = int64(s.rows.Len())
	return h.write(f, s.rows)
}
