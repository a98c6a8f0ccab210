// Searches of the tools of other layouts.

package verb

import (
	"context"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/search/ranking"
)

// fusePool is how many entries of each ranking are fused, as [oxbow.Query.Second] says.
const fusePool = 100

// Search is the recall of a layout's own tool: by words and, if the workspace has
// vectors, by these, too. The notes say what the vectors lacked.
func (w *Workspace) Search(ctx context.Context, m *oxbow.Memory, q oxbow.Query) ([]oxbow.Hit, []Note, error) {
	lacked := w.Vectors.second(&q)
	hits, err := RecallOnce(ctx, m, q)
	return hits, lacked(), err
}

// FuseVectors fuses a layout's own ranking of entries, which rank returns by their IDs,
// at most that many and the best first, with that of the workspace's vectors. Without
// vectors it returns what rank does.
func (w *Workspace) FuseVectors(ctx context.Context, m *oxbow.Memory, words string, limit int,
	rank func(limit int) ([]uint64, error)) (ids []uint64, notes []Note, err error) {
	if w.Vectors == nil || strings.TrimSpace(words) == "" {
		ids, err = rank(limit)
		return ids, nil, err
	}
	first, err := rank(max(limit, fusePool))
	if err != nil {
		return nil, nil, err
	}
	by := w.Vectors.Query(w.Vectors.Wait)
	var second []uint64
	if err := m.View(ctx, func(all oxbow.Entries) { second = by.Rank(ctx, words, fusePool, all) }); err != nil {
		return nil, nil, err
	}
	ids, _ = ranking.Fuse(first, second)
	return ids[:min(len(ids), limit)], w.Vectors.notes(by), nil
}

// AddNotes appends notes to the text of an answer.
func (w *Workspace) AddNotes(text string, notes []Note) string {
	for _, n := range notes {
		text += "\n\nnote: " + w.Say(n)
	}
	return text
}
