// This file counts how often entries were shown to models and used.

package session

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
)

// MinShownTurnsForUnused is the number of turns in which an entry must have been shown, and never used, before it is
// reported as unused.
const MinShownTurnsForUnused = 10

// UseCount counts the turns in which a model was shown a part of an entry, and the turns in which the agent also used
// it (see [Turn.ShownEntriesUsed]).
type UseCount struct {
	Name       string `json:"name"`
	ShownTurns int    `json:"shown"`
	UsedTurns  int    `json:"used"`
}

// IsUnused reports whether the entry was shown in at least MinShownTurnsForUnused turns and never used.
func (c UseCount) IsUnused() bool { return c.ShownTurns >= MinShownTurnsForUnused && c.UsedTurns == 0 }

// CountEntryUses returns, for each named entry, how often the entry was shown and used. The result is in the order of
// the names. CountEntryUses reads only the index of the archive.
func (a *Archive) CountEntryUses(ctx context.Context, names ...string) ([]UseCount, error) {
	if len(names) == 0 {
		return nil, nil
	}
	shown, err := a.Memory.Values(ctx, LabelShownEntry, names...)
	if err != nil {
		return nil, err
	}
	used, err := a.Memory.Values(ctx, labelUsedEntry, names...)
	counts := make([]UseCount, 0, len(names))
	for _, n := range names {
		counts = append(counts, UseCount{n, shown[n], used[n]})
	}
	return counts, err
}

// UnusedEntryCounts returns the entries that were shown often and never used, the most often shown first.
func (a *Archive) UnusedEntryCounts(ctx context.Context) ([]UseCount, error) {
	shown, err := a.Memory.Values(ctx, LabelShownEntry)
	if err != nil || len(shown) == 0 {
		return nil, err
	}
	counts, err := a.CountEntryUses(ctx, slices.Collect(maps.Keys(shown))...)
	counts = slices.DeleteFunc(counts, func(c UseCount) bool { return !c.IsUnused() })
	slices.SortFunc(counts, func(a, b UseCount) int {
		return cmp.Or(cmp.Compare(b.ShownTurns, a.ShownTurns), strings.Compare(a.Name, b.Name))
	})
	return counts, err
}
