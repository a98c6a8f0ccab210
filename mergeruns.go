// Merging the runs that an index was filled to into one file, which is the index file if
// it can be.

package oxbow

import (
	"context"
	"io"

	"github.com/oxbow-memory/oxbow/internal/ctxfile"
	"github.com/oxbow-memory/oxbow/internal/index"
	"github.com/oxbow-memory/oxbow/internal/ranking"
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
	x, h := s.scorer(m.opts.Ranking).Index().Searcher(), indexHead{entries: int64(s.rows.len())}
	f, temp, err := m.runsTarget(s.db, resets)
	if err != nil {
		return ctx.Err()
	}
	size, err := x.WriteSnapshot(ctxfile.File{Context: ctx, Inner: f}, h.imageAt())
	if temp != "" {
		if err == nil && m.adopt(s, &h, f, temp, resets) == nil {
			s.unsaved.Store(0)
			if rows, err := h.openRows(f); err == nil {
				s.begin(rows)
			}
		} else {
			_ = s.db.fs.Remove(temp) // another process may have done so
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

// runsTarget returns an empty file for all runs, and its name, which is "" for none.
// It has one only if no redaction has gone unnoticed: one that comes later removes the
// file.
func (m *Memory) runsTarget(d *db, resets int) (f vfs.File, temp string, err error) {
	err = d.withoutWriters(func() error {
		err := m.unchanged(d, resets)
		if err == nil {
			err = d.dropIndex(false)
		}
		if err == nil {
			f, temp, err = vfs.CreateTemp(d.fs, d.indexName(), 0o600)
		}
		return err
	})
	if f == nil {
		f, err = d.nameless()
	}
	return f, temp, err
}

// unchanged returns an error if the store has changed since the index was filled, or
// had a reset since it had that many. The lock between processes is held.
func (m *Memory) unchanged(d *db, resets int) error {
	if err := d.refresh(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.resets != resets || m.pending.any() {
		return errUnfit
	}
	return nil
}

// adopt makes f, which holds the image of s, the index file. Its name is temp, unless another
// process removed it.
func (m *Memory) adopt(s *searcher, h *indexHead, f vfs.File, temp string, resets int) error {
	d, done := s.db, false
	err := d.withoutWriters(func() error {
		if err := m.unchanged(d, resets); err != nil {
			return err
		}
		var err error
		if *h, err = d.newIndexHead(m.opts.Ranking, s.rows); err == nil {
			err = h.write(f, s.rows)
		}
		if err == nil {
			err = d.nameFile(f, temp, d.indexName())
		}
		done = err == nil
		return err
	})
	if err == nil && !done {
		err = errUnfit // another process writes
	}
	return err
}
