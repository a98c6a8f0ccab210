// This file implements searches for the tools of other layouts.

package verb

import (
	"context"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/search/ranking"
)

// entriesPerRanking is the number of entries that each ranking contributes to a fusion (see
// [oxbow.Query.Second]).
const entriesPerRanking = 100

// SearchEntries implements recall for a layout's own tool. It ranks by words and, if the workspace has
// vectors, also by vectors. The notes report entries without vectors.
func (w *Workspace) SearchEntries(ctx context.Context, m *oxbow.Memory, q oxbow.Query) ([]oxbow.Hit, []Note, error) {
	lacked := w.Vectors.rankByVectors(&q)
	hits, _, err := RecallWithoutDigests(ctx, m, q)
	return hits, lacked(), err
}

// FuseVectorRanking fuses a layout's own ranking with the ranking by the workspace's vectors. The
// function rank returns the IDs of at most limit entries, best first. Without vectors, FuseVectorRanking
// returns the result of rank.
func (w *Workspace) FuseVectorRanking(ctx context.Context, m *oxbow.Memory, words string, limit int,
	rank func(limit int) ([]uint64, error)) (ids []uint64, notes []Note, err error) {
	if w.Vectors == nil || strings.TrimSpace(words) == "" {
		ids, err = rank(limit)
		return ids, nil, err
	}
	first, err := rank(max(limit, entriesPerRanking))
	if err != nil {
		return nil, nil, err
	}
	by := w.Vectors.Query(w.Vectors.Wait)
	var second []uint64
	if err := m.View(ctx, func(all oxbow.Entries) {
		second = by.Rank(ctx, words, entriesPerRanking,
			all)
	}); err != nil {
		return nil, nil, err
	}
	ids, _ = ranking.FuseRankings(first, second)
	return ids[:min(len(ids), limit)], w.Vectors.missingNotes(by), nil
}

// AddNotes appends notes to the text of an answer.
func (w *Workspace) AddNotes(text string, notes []Note) string {
	for _, n := range notes {
		text += "\n\nnote: " + w.NoteText(n)
	}
	return text
}
