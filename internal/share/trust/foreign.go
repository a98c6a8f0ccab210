// The store of a home that is not trusted: its entries say so, and nothing is
// written.

package trust

import (
	"context"
	"iter"
	"slices"

	"github.com/oxbow-memory/oxbow"
)

// instructive are the labels that put an entry before an agent unasked.
var instructive = []string{"pinned", "process"}

// Serve returns a memory of what a memory holds, which it closes: entries are by
// [oxbow.Foreign], whatever they say, none is pinned or belongs to every profile,
// and every change is refused with the error. There is no history.
func Serve(m *oxbow.Memory, refused error) *oxbow.Memory {
	o := m.Options()
	return oxbow.New(&foreign{m.Store(), m.Close, refused}, &o)
}

// foreign has no more methods than a store needs: none reaches around it.
type foreign struct {
	store   oxbow.Store
	closing func() error
	refused error
}

// Close implements [oxbow.Store].
func (f *foreign) Close() error { return f.closing() }

// Get implements [oxbow.Store].
func (f *foreign) Get(ctx context.Context, name string) (oxbow.Entry, error) {
	e, err := f.store.Get(ctx, name)
	return asForeign(e), err
}

// Entries implements [oxbow.Store].
func (f *foreign) Entries(ctx context.Context, filter oxbow.Filter) iter.Seq2[oxbow.Entry, error] {
	return func(yield func(oxbow.Entry, error) bool) {
		for e, err := range f.store.Entries(ctx, oxbow.Filter{}) {
			e = asForeign(e)
			if err != nil || filter.Match(&e) {
				if !yield(e, err) || err != nil {
					return
				}
			}
		}
	}
}

// Apply implements [oxbow.Store].
func (f *foreign) Apply(context.Context, ...oxbow.Op) error { return f.refused }

func asForeign(e oxbow.Entry) oxbow.Entry {
	e = e.Clone()
	e.Source = oxbow.Source{Time: e.Source.Time, Actor: oxbow.Foreign}
	e.Labels = slices.DeleteFunc(e.Labels, func(l oxbow.Label) bool { return slices.Contains(instructive, l.Key) })
	return e
}
