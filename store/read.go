// This file reads all entries, or the newest entries, of any store.

package store

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
)

// EntriesOf returns all entries of a store, ordered by ID.
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

// Newest returns one page with entries that match the filter, most recently written first, and the total number of
// matches. It reads all matching entries.
func Newest(ctx context.Context, s Store, f Filter, offset, limit int) (page []Entry, total int, err error) {
	end, err := PageEnd(offset, limit)
	if err != nil {
		return nil, 0, err
	}
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
	return es[min(offset, len(es)):min(end, len(es))], len(es), nil
}

// PageEnd returns offset+limit, the index after the last element of a page. If the sum would overflow, it returns the
// highest int. If offset or limit is negative, the error matches [ErrInvalid].
func PageEnd(offset, limit int) (int, error) {
	if n := min(offset, limit); n < 0 {
		return 0, &InvalidError{Field: "page", Value: strconv.Itoa(n), Reason: "is less than 0"}
	}
	return offset + min(limit, math.MaxInt-offset), nil
}
