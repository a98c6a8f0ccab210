// This file counts how often entries were shown to models and used.

package session

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
)

// UnusedFrom is the number of turns in which an entry must have been shown without being used to be
// reported as unused.
const UnusedFrom = 10

// Count contains two numbers for an entry: the turns in which a model was shown parts of it, and
// the turns in which the agent also used these parts ([Turn.UsedEntries]).
type Count struct {
	Name  string `json:"name"`
	Shown int    `json:"shown"`
	Used  int    `json:"used"`
}

// IsUnused reports whether the entry was shown in at least UnusedFrom turns and never used.
func (c Count) IsUnused() bool { return c.Shown >= UnusedFrom && c.Used == 0 }

// ShownCounts returns the counts of the named entries. It reads only the index of the archive.
func (a *Archive) ShownCounts(ctx context.Context, names ...string) ([]Count, error) {
	if len(names) == 0 {
		return nil, nil
	}
	shown, err := a.Memory.Values(ctx, LabelShown, names...)
	if err != nil {
		return nil, err
	}
	used, err := a.Memory.Values(ctx, labelUsed, names...)
	counts := make([]Count, 0, len(names))
	for _, n := range names {
		counts = append(counts, Count{n, shown[n], used[n]})
	}
	return counts, err
}

// UnusedEntries returns the entries that were shown often and never used, the most shown first.
func (a *Archive) UnusedEntries(ctx context.Context) ([]Count, error) {
	shown, err := a.Memory.Values(ctx, LabelShown)
	if err != nil || len(shown) == 0 {
		return nil, err
	}
	counts, err := a.ShownCounts(ctx, slices.Collect(maps.Keys(shown))...)
	counts = slices.DeleteFunc(counts, func(c Count) bool { return !c.IsUnused() })
	slices.SortFunc(counts, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.Shown, a.Shown), strings.Compare(a.Name, b.Name))
	})
	return counts, err
}
