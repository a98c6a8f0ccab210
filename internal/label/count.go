// This file counts labels.

// Package label maintains the labels of a memory. It counts labels, changes them in bulk, finds
// likely misspellings, and suggests labels for entries without labels.
package label

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
)

// Count is a label and the number of entries that carry it.
type Count struct {
	Label   oxbow.Label
	Entries int
}

// CountValues returns the labels of the entries that match the filter. They are sorted by key, then by
// falling number of entries, then by value.
func CountValues(ctx context.Context, s oxbow.Store, f oxbow.Filter) ([]Count, error) {
	n := map[oxbow.Label]int{}
	for e, err := range s.Entries(ctx, f) {
		if err != nil {
			return nil, err
		}
		for _, l := range e.Labels {
			n[l]++
		}
	}
	cs := make([]Count, 0, len(n))
	for l, k := range n {
		cs = append(cs, Count{l, k})
	}
	slices.SortFunc(cs, func(a, b Count) int {
		return cmp.Or(strings.Compare(a.Label.Key, b.Label.Key), cmp.Compare(b.Entries, a.Entries),
			strings.Compare(a.Label.Value, b.Label.Value))
	})
	return cs, nil
}
