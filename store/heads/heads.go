// Package heads lists the heads of a store's entries, with which callers choose entries,
// and reads the content of the chosen entries. A head is an entry without its content; see
// [oxbow.Head].
package heads

import (
	"context"
	"iter"

	"github.com/oxbow-memory/oxbow"
)

// List has the entries of a store at one moment.
type List struct {
	All  iter.Seq2[oxbow.Head, error]               // yields heads in order of ID; an error ends it
	Read func(ids []uint64) ([]*oxbow.Entry, error) // returns entries whose heads were not whole
}

// Asked describes the data that heads must have.
type Asked struct {
	Keys  []string // keys of filter terms and of labels
	Names []string // an entry with one of these names or aliases gets a whole head
}

// Of adds the keys and names that the filter needs.
func (a *Asked) Of(f oxbow.Filter) {
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

// Viewer is a Store that provides heads.
type Viewer interface {
	// ViewHeads implements [View] for the store. It returns false if the store does not
	// have the requested data or could not read all of it. The caller must then read the
	// entries.
	ViewHeads(
		ctx context.Context,
		keys, names []string,
		fn func(all iter.Seq2[oxbow.Head, error], read func(ids []uint64) ([]*oxbow.Entry, error)) error,
	) (ok bool, err error)
}

// View calls fn with the heads of the entries of a store. They are valid until fn returns.
// If a head could not be read, View calls fn again with whole heads. If the store is not a
// [Viewer] or does not have the requested data, all heads are whole.
func View(ctx context.Context, s oxbow.Store, asked Asked, fn func(List) error) error {
	if v, ok := s.(Viewer); ok {
		ok, err := v.ViewHeads(
			ctx,
			asked.Keys,
			asked.Names,
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
