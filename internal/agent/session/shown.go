// How often entries were put before models, and used.

package session

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
)

// UnusedFrom is in how many turns an entry was shown that is worth a look when it was
// used in none.
const UnusedFrom = 10

// Count is in how many turns sentences of an entry were put before a model, and in how
// many of these the agent used them ([Turn.Used]).
type Count struct {
	Name  string `json:"name"`
	Shown int    `json:"shown"`
	Used  int    `json:"used"`
}

// Unused reports whether the entry was shown often, and never used.
func (c Count) Unused() bool { return c.Shown >= UnusedFrom && c.Used == 0 }

// Shown returns how often some entries were shown and used. It reads the index of
// the archive, and no turn.
func (a *Archive) Shown(ctx context.Context, names ...string) ([]Count, error) {
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

// Unused returns the entries that were shown often and never used, those shown most
// often first.
func (a *Archive) Unused(ctx context.Context) ([]Count, error) {
	shown, err := a.Memory.Values(ctx, LabelShown)
	if err != nil || len(shown) == 0 {
		return nil, err
	}
	counts, err := a.Shown(ctx, slices.Collect(maps.Keys(shown))...)
	counts = slices.DeleteFunc(counts, func(c Count) bool { return !c.Unused() })
	slices.SortFunc(counts, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.Shown, a.Shown), strings.Compare(a.Name, b.Name))
	})
	return counts, err
}
