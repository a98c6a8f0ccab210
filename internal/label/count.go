// This file counts how many entries have each label.

// Package label maintains the labels of a memory. It counts labels, changes the labels of many entries at once, finds
// probable misspellings, and suggests missing labels for entries.
package label

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/store/heads"
)

// Count is a label and the number of entries that have it.
type Count struct {
	Label   oxbow.Label
	Entries int
}

// CountValues counts in how many entries each label occurs. It counts only entries that match the filter f. If key is
// not "", it counts only labels with this key. The result is sorted by key, then by decreasing number of entries, then
// by value.
//
// If key is not "", and the store can read the labels with this key without the contents of entries, CountValues does
// not read the contents. An oxbow store file can do this for the keys project and tag if the file has a snapshot.
func CountValues(ctx context.Context, s oxbow.Store, f oxbow.Filter, key string) ([]Count, error) {
	countLabels := countAllLabels
	if key != "" {
		countLabels = func(ctx context.Context, s oxbow.Store, f oxbow.Filter) (map[oxbow.Label]int, error) {
			return countLabelsWithKey(ctx, s, f, key)
		}
	}
	n, err := countLabels(ctx, s, f)
	if err != nil {
		return nil, err
	}
	return sortCounts(n), nil
}

// CountValuesInMemory is like CountValues for all entries of a memory. If the memory has an index, it reads no entries.
// It leaves out labels with the omitted keys.
func CountValuesInMemory(ctx context.Context, m *oxbow.Memory, key string, omitted ...string) ([]Count, error) {
	isWanted := func(k string) bool { return (key == "" || k == key) && !slices.Contains(omitted, k) }
	n, ok, err := m.LabelCounts(ctx, isWanted)
	if err != nil {
		return nil, err
	}
	if ok {
		return sortCounts(n), nil
	}
	cs, err := CountValues(ctx, m.Store(), oxbow.Filter{}, key)
	return slices.DeleteFunc(cs, func(c Count) bool { return !isWanted(c.Label.Key) }), err
}

// sortCounts returns a Count for each label in the map n, whose values are numbers of entries. The result is sorted by
// the label's key, then by the number of entries (the largest first), then by the label's value.
func sortCounts(n map[oxbow.Label]int) []Count {
	cs := make([]Count, 0, len(n))
	for l, k := range n {
		cs = append(cs, Count{l, k})
	}
	slices.SortFunc(cs, func(a, b Count) int {
		return cmp.Or(strings.Compare(a.Label.Key, b.Label.Key), cmp.Compare(b.Entries, a.Entries),
			strings.Compare(a.Label.Value, b.Label.Value))
	})
	return cs
}

// countAllLabels returns, for each label, the number of entries that match the filter.
func countAllLabels(ctx context.Context, s oxbow.Store, f oxbow.Filter) (map[oxbow.Label]int, error) {
	n := map[oxbow.Label]int{}
	for e, err := range s.Entries(ctx, f) {
		if err != nil {
			return nil, err
		}
		for _, l := range e.Labels {
			n[l]++
		}
	}
	return n, nil
}

// countLabelsWithKey counts the entries with each label that has this key. If possible, it reads only the metadata
// (heads) of the entries and not their contents.
func countLabelsWithKey(
	ctx context.Context,
	s oxbow.Store,
	f oxbow.Filter,
	key string,
) (labelCounts map[oxbow.Label]int, err error) {
	needs := heads.Needs{Keys: []string{key}}
	needs.AddFilter(f)
	err = heads.View(ctx, s, needs, func(all heads.List) error {
		// Begin with an empty map, because View may call this function a second time.
		labelCounts = map[oxbow.Label]int{}
		for h, err := range all.All {
			if err != nil {
				return err
			}
			if !f.Match(h.Entry) {
				continue
			}
			for _, value := range h.Entry.Values(key) {
				labelCounts[oxbow.Label{Key: key, Value: value}]++
			}
		}
		return nil
	})
	return labelCounts, err
}
