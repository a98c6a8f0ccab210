// This file implements methods with which the tools of homes in other memory systems' layouts search the memory.

package verb

import (
	"context"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/search/ranking"
)

// entriesPerCombinedRanking is how many entries each of two rankings contributes when they are combined (see
// [oxbow.Query.Second]).
const entriesPerCombinedRanking = 100

// SearchEntries finds entries for a tool of another program whose files and tools oxbow imitates. It ranks the entries
// by words and, if the workspace has vectors, also by vectors. The returned notes tell how many entries lack a vector.
// The hits contain no digests.
func (w *Workspace) SearchEntries(ctx context.Context, m *oxbow.Memory, q oxbow.Query) ([]oxbow.Hit, []Note, error) {
	lacked := w.Vectors.addVectorRanking(&q)
	hits, _, err := RecallWithoutDigests(ctx, m, q)
	return hits, lacked(), err
}

// FuseVectorRanking combines the ranking of a home's layout with a ranking by vectors, which represent the meanings of
// texts. The function rank must return the IDs of at most limit entries in the layout's ranking, the best first.
// FuseVectorRanking returns at most limit IDs, and notes about entries that have no vectors yet. If the workspace has
// no vectors or words is blank, it returns the result of the function rank.
func (w *Workspace) FuseVectorRanking(ctx context.Context, m *oxbow.Memory, words string, limit int,
	rank func(limit int) ([]uint64, error)) (ids []uint64, notes []Note, err error) {
	if w.Vectors == nil || strings.TrimSpace(words) == "" {
		ids, err = rank(limit)
		return ids, nil, err
	}
	first, err := rank(max(limit, entriesPerCombinedRanking))
	if err != nil {
		return nil, nil, err
	}
	by := w.Vectors.Query(w.Vectors.MaxEndpointWait)
	var second []uint64
	if err := m.View(ctx, func(all oxbow.Entries) {
		second = by.Rank(ctx, words, entriesPerCombinedRanking,
			all)
	}); err != nil {
		return nil, nil, err
	}
	ids, _ = ranking.FuseRankings(first, second)
	return ids[:min(len(ids), limit)], w.Vectors.missingVectorNotes(by), nil
}

// AddNotes returns an answer's text followed by notes, each on a line of its own.
func (w *Workspace) AddNotes(text string, notes []Note) string {
	for _, n := range notes {
		text += "\n\nnote: " + w.NoteText(n)
	}
	return text
}
