// This file answers queries about an earlier state of the memory.

package oxbow

import (
	"cmp"
	"context"

	"github.com/oxbow-memory/oxbow/internal/log/logstore"
	"github.com/oxbow-memory/oxbow/internal/search/index"
	"github.com/oxbow-memory/oxbow/internal/search/ranking"
)

// askFromIndex implements askAtChange with the current index. It returns false if there is no index yet, or
// if too many entries have changed since.
func askFromIndex[T any](
	ctx context.Context,
	m *Memory,
	d *logstore.DB,
	q Query,
	fn func(v *rankedView) T,
) (answer T, ok bool, err error) {
	if m.searcher.Load() == nil && !d.Derived(indexSuffix).Exists() {
		return answer, false, nil // to make an index of all entries takes longer than a scan
	}
	s, err := m.refresh(ctx)
	if err != nil {
		return answer, false, err
	}
	r := s.scorer(cmp.Or(q.Rank, m.opts.Ranking))
	if r == nil {
		return answer, false, nil
	}
	v, err := s.viewBefore(ctx, r, q.AsOf)
	if v == nil || err != nil {
		return answer, false, err
	}
	answer = fn(v)
	return answer, v.readError() == nil, ctx.Err()
}

// viewBefore returns a view of the searcher's log after change seq. It returns nil if too many entries
// have changed since.
func (s *searcher) viewBefore(ctx context.Context, r *ranking.Scorer, seq uint64) (*rankedView, error) {
	x := r.Index().Searcher() // before the deltas are read, because they may be of a later state
	deltas, ok, err := s.db.Before(ctx, seq, mostChanged(x.Size()))
	if err != nil || !ok {
		return nil, err
	}
	ds := withoutAnalysis(deltas)
	if err := analyzeAll(ctx, ds, []*ranking.Scorer{r}); err != nil {
		return nil, err
	}
	olds, err := s.analyzeOld(ctx, r, x, ds)
	if err != nil {
		return nil, err
	}
	changes := make([]index.Change, len(ds))
	for i, d := range ds {
		changes[i] = index.Change{ID: d.ID, Old: olds[i]}
		if d.Entry != nil {
			doc := d.docs[r]
			doc.Data = newIndexed(d.Entry)
			changes[i].Document = &doc
		}
	}
	read := func(id uint64) ranking.Item { return s.readItemBefore(id, seq) }
	return &rankedView{View: r.ViewOf(ctx, x.After(changes), read), s: s, scorer: r, ctx: ctx, isPast: true}, nil
}

// mostChanged returns the number of changed entries up to which the state of a memory with n entries is
// made from the current index. For each changed entry, two versions are read and analyzed, which takes
// about as long as to read and index eight entries.
func mostChanged(n int) int { return max(fewPending, n/manyOld) }

// readItemBefore is like readItem, for an entry that did not change between change seq and the view. It may
// have changed after that.
func (s *searcher) readItemBefore(id, seq uint64) ranking.Item {
	it := s.readItem(id)
	if x, ok := it.(*indexItem); !ok || x.entry.Version <= seq {
		return it
	}
	i, _ := s.rows.find(id)
	e := s.db.EntryAsOf(id, s.rows.version(i), s.rows.offset(i))
	if e == nil {
		return nil
	}
	return newIndexed(e)
}
