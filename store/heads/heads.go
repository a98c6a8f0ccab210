// Package heads lists a store's entries without their contents, so that a caller can choose entries
// and then read only the contents that it needs. An entry without its content is called a head (see
// [oxbow.Head]).
package heads

import (
	"context"
	"iter"

	"github.com/oxbow-memory/oxbow"
)

// List has a store's entries as of one moment.
type List struct {
	All  iter.Seq2[oxbow.Head, error]               // yields heads ordered by ID (an error ends the iteration)
	Read func(ids []uint64) ([]*oxbow.Entry, error) // returns entries whose heads were not whole
}

// Needs describes the data that heads must have.
type Needs struct {
	Keys  []string // keys in filter terms and keys of labels, and [store.HeadName]
	Names []string // entries with such a name or alias get a whole head
}

// AddFilter adds the keys and names that the filter refers to.
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

// View calls fn with the heads of a store's entries. They are valid until fn returns. If a
// head could not be read, View calls fn again with whole heads. If the store is not an
// [oxbow.HeadViewer] or lacks the requested data, all heads are whole.
func View(ctx context.Context, s oxbow.Store, asked Needs, fn func(List) error) error {
	if v := oxbow.CapabilitiesOf(s).HeadViewer; v != nil {
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
