// Package heads lists the entries of a store without their contents, so that a caller can choose entries and then read
// only the needed contents. An entry without its content is called a head (see [oxbow.Head]).
package heads

import (
	"context"
	"iter"

	"github.com/oxbow-memory/oxbow"
)

// List contains a store's entries as of one moment.
type List struct {
	// yields the heads in the order of their IDs (an error ends the iteration)
	All iter.Seq2[oxbow.Head, error]
	// Read returns the entries with these IDs. It is for heads that lack parts of the entries, such as the content. If
	// the heads contain whole entries, it returns nil.
	Read func(ids []uint64) ([]*oxbow.Entry, error)
}

// Needs describes which parts of entries the caller needs. A head is an entry without its content, and usually with
// only some labels.
type Needs struct {
	// Keys of the labels that a head must contain, and of the terms in filters. The key "name" (store.HeadName)
	// requests names and aliases.
	Keys  []string
	Names []string // names and aliases of the entries whose heads must contain the whole entry
}

// AddFilter adds the label keys and entry names that the filter f uses to a.Keys and a.Names, so that the heads contain
// what is needed to evaluate f.
func (a *Needs) AddFilter(f oxbow.Filter) {
	for _, t := range f.Terms {
		switch t.Key {
		case "name":
			a.Names = append(a.Names, oxbow.AllNameForms(t.Values)...)
		case "has":
			a.Keys = append(a.Keys, t.Values...)
		default:
			a.Keys = append(a.Keys, t.Key)
		}
	}
}

// View calls fn with the heads of a store's entries. A head contains only some parts of an entry. The parameter needs
// specifies which parts are needed. The heads are valid until fn returns. If a head could not be read, View calls fn
// again, and each head then contains a whole entry. If the store is not an [oxbow.HeadViewer] or lacks the needed data,
// all heads contain whole entries.
func View(ctx context.Context, s oxbow.Store, needs Needs, fn func(List) error) error {
	if v := oxbow.CapabilitiesOf(s).HeadViewer; v != nil {
		ok, err := v.ViewHeads(
			ctx,
			needs.Keys,
			needs.Names,
			func(all iter.Seq2[oxbow.Head, error], read func(ids []uint64) ([]*oxbow.Entry, error)) error {
				return fn(List{all, read})
			},
		)
		if ok {
			return err
		}
	}
	return fn(List{
		All: func(yield func(oxbow.Head, error) bool) {
			for e, err := range s.Entries(ctx, oxbow.Filter{}) {
				if !yield(oxbow.Head{Entry: &e, Whole: true, Size: len(e.Content)}, err) {
					return
				}
			}
		},
		Read: func([]uint64) ([]*oxbow.Entry, error) { return nil, nil },
	})
}

// ViewTable calls fn with the heads of a store's entries as a table, which fn must not use after it has returned. It
// returns false if the store cannot present its heads as a table, if the table lacks the requested data, or if a part
// of the table could not be read. The caller must then discard what fn computed, and call View.
func ViewTable(
	ctx context.Context,
	s oxbow.Store,
	needs Needs,
	fn func(t *oxbow.HeadTable) error,
) (ok bool, err error) {
	v, hasTable := oxbow.CapabilitiesOf(s).HeadViewer.(oxbow.HeadTableViewer)
	if !hasTable || len(needs.Names) > 0 {
		return false, nil // The store has no table, or the caller needs names, which a table lacks.
	}
	ok, err = v.ViewHeadTable(ctx, needs.Keys, fn)
	if !ok {
		return false, nil
	}
	return true, err
}
