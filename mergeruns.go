// Merging the runs that an index was filled to into one file, which is the index file if
// it can be.

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

// mergeRuns makes one file of the runs that s was filled to, if there are any, and
// goes on from that. It becomes the index file when nothing changed since the store had
// that many resets, else it has no name. When it cannot be written, s
// stays as it is.
func (m *Memory) mergeRuns(ctx context.Context, s *searcher, resets int) error {
	if len(s.runs.files) == 0 {
		return nil
	}
	x, h := s.scorer(m.opts.Ranking).Index().Searcher(), indexHead{entries: int64(s.rows.Len())}
	file := s.db.Derived(indexSuffix)
	f, temp, err := file.Begin(func() error { return m.unchanged(resets) }) // so that no redaction has gone unnoticed
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
			s.begin(rows)
		}
	}
	var merged *index.Index
	if err == nil {
		merged, err = index.OpenSnapshot(io.NewSectionReader(f, h.imageAt(), size), size, ranking.Params(m.opts.Ranking))
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

// unchanged returns an error if the store has changed since the index was filled, or
// had a reset since it had that many. All that others wrote was read.
func (m *Memory) unchanged(resets int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.resets != resets || m.pending.any() {
		return fmt.Errorf("%w: the store has changed", errIndex)
	}
	return nil
}

// finish writes what stands before the image of s in f.
func (m *Memory) finish(ctx context.Context, s *searcher, h *indexHead, f vfs.File, resets int) error {
	err := m.unchanged(resets)
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
