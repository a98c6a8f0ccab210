// Package heads reads what choosing needs of all entries of a store, and the text of few.
package heads

import (
	"context"
	"iter"

	"github.com/oxbow-memory/oxbow"
)

// List is the entries of a store at one moment.
type List struct {
	All  iter.Seq2[oxbow.Head, error]               // in order of ID; at most one error, last
	Read func(ids []uint64) ([]*oxbow.Entry, error) // entries whose heads were not whole
}

// Asked is what heads that are not whole must have.
type Asked struct {
	Keys  []string // of terms of filters, and of labels
	Names []string // an entry that has one of these as a name or an alias has a whole head
}

// Of adds what a filter selects by.
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

// Viewer is a Store that has heads, or returns the heads of another.
type Viewer interface {
	// ViewHeads is [View] of the store. It returns false where the store has not
	// what is asked, or could not read all of it: then the entries are to be read.
	ViewHeads(ctx context.Context, keys, names []string, fn func(all iter.Seq2[oxbow.Head, error], read func(ids []uint64) ([]*oxbow.Entry, error)) error) (ok bool, err error)
}

// View calls fn with the heads of the entries of a store, which are valid until it
// returns. It may call fn again, with all of them, when one could not be read. The
// heads of a store that is no [Viewer], or has not what is asked, are whole.
func View(ctx context.Context, s oxbow.Store, asked Asked, fn func(List) error) error {
	if v, ok := s.(Viewer); ok {
		ok, err := v.ViewHeads(ctx, asked.Keys, asked.Names, func(all iter.Seq2[oxbow.Head, error], read func(ids []uint64) ([]*oxbow.Entry, error)) error {
			return fn(List{all, read})
		})
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
