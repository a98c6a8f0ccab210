// Reading any store: all entries, or the newest.

package store

import (
	"cmp"
	"context"
	"slices"
)

// EntriesOf returns the entries of a store, in order of ID.
func EntriesOf(ctx context.Context, s Store) ([]*Entry, error) {
	var all []*Entry
	for e, err := range s.Entries(ctx, Filter{}) {
		if err != nil {
			return nil, err
		}
		all = append(all, &e)
	}
	return all, nil
}

// Newest returns a page of the entries of a store that the filter selects, those
// written last first, and how many it selects in all. It reads all of them.
func Newest(ctx context.Context, s Store, f Filter, offset, limit int) (page []Entry, total int, err error) {
	var es []Entry
	for e, err := range s.Entries(ctx, f) {
		if err != nil {
			return nil, 0, err
		}
		es = append(es, e)
	}
	slices.SortFunc(es, func(a, b Entry) int {
		return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(b.ID, a.ID))
	})
	offset = min(offset, len(es))
	return es[offset:min(offset+limit, len(es))], len(es), nil
}
