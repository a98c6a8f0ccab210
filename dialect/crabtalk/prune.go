// Pruning of old archives.

package crabtalk

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// PruneOptions say which archives are too old. At least one of Before and Keep
// is given; an archive goes when either says so.
type PruneOptions struct {
	Before time.Time // those created before it; zero for no bound by age
	Keep   int       // all but so many of the newest; 0 for no bound by count
	DryRun bool      // only say which
}

// Prune forgets archives that are too old, all in one change, and returns
// them, the oldest first. Notes stay. An archive that is changed meanwhile makes
// it fail with an error matching [oxbow.ErrConflict], and nothing is forgotten.
func Prune(ctx context.Context, m *oxbow.Memory, o PruneOptions) ([]oxbow.Entry, error) {
	if o.Keep < 0 {
		return nil, &oxbow.InvalidError{Field: "keep", Value: strconv.Itoa(o.Keep), Reason: "is less than 0"}
	}
	if o.Keep == 0 && o.Before.IsZero() {
		return nil, &oxbow.InvalidError{Field: "archives to forget", Reason: "are not said: give an age or a number to keep"}
	}
	var all []oxbow.Entry
	for e, err := range m.Entries(ctx, oxbow.Filter{}) {
		if err != nil {
			return nil, fmt.Errorf("looking for archives: %w", err)
		}
		if e.Kind == oxbow.Archive {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b oxbow.Entry) int { return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID)) })
	var gone []oxbow.Entry
	var ops []oxbow.Op
	for i, e := range all {
		if o.Keep > 0 && i < len(all)-o.Keep || e.Created.Before(o.Before) {
			gone = append(gone, e)
			ops = append(ops, oxbow.Remove{Name: e.Name, If: e.Version})
		}
	}
	if len(ops) > 0 && !o.DryRun {
		if err := m.Apply(ctx, ops...); err != nil {
			return nil, fmt.Errorf("forgetting archives: %w", err)
		}
	}
	return gone, nil
}
