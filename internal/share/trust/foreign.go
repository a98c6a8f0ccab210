// This file implements the read-only memory of a home that the user does not trust. Each entry in it is marked as
// foreign.

package trust

import (
	"context"
	"iter"
	"slices"

	"github.com/oxbow-memory/oxbow"
)

// instructionLabels lists the labels of entries that agents receive without searching for them, so that the text works
// like an instruction.
var instructionLabels = []string{"pinned", "process"}

// NewForeignMemory returns a read-only memory with the entries of m. In the returned memory, the source of each entry
// has the actor [oxbow.Foreign], and no entry has a label in instructionLabels. The history cannot be read. Each
// change returns the error that the caller passed as the argument changeError. Closing the returned memory closes m.
func NewForeignMemory(m *oxbow.Memory, changeError error) *oxbow.Memory {
	o := m.Options()
	return oxbow.New(&foreignStore{m.Store(), m.Close, changeError}, &o)
}

// foreignStore marks all entries of another store as written by others. It lacks the optional interfaces of that
// store, because a call through such an interface would return entries without this mark.
type foreignStore struct {
	store       oxbow.Store
	closeMemory func() error
	changeError error
}

// Close implements [oxbow.Store].
func (f *foreignStore) Close() error { return f.closeMemory() }

// Get implements [oxbow.Store].
func (f *foreignStore) Get(ctx context.Context, name string) (oxbow.Entry, error) {
	e, err := f.store.Get(ctx, name)
	return markForeign(e), err
}

// Entries implements [oxbow.Store].
func (f *foreignStore) Entries(ctx context.Context, filter oxbow.Filter) iter.Seq2[oxbow.Entry, error] {
	return func(yield func(oxbow.Entry, error) bool) {
		for e, err := range f.store.Entries(ctx, oxbow.Filter{}) {
			e = markForeign(e)
			if err != nil || filter.Match(&e) {
				if !yield(e, err) || err != nil {
					return
				}
			}
		}
	}
}

// Apply implements [oxbow.Store].
func (f *foreignStore) Apply(context.Context, ...oxbow.Op) error { return f.changeError }

// DryRun implements [oxbow.DryRunner]. It always returns f.changeError, because the store f does not allow changes.
func (f *foreignStore) DryRun(context.Context, ...oxbow.Op) error { return f.changeError }

func markForeign(e oxbow.Entry) oxbow.Entry {
	e = e.Clone()
	e.Source = oxbow.Source{Time: e.Source.Time, Actor: oxbow.Foreign}
	e.Labels = slices.DeleteFunc(e.Labels, func(l oxbow.Label) bool {
		return slices.Contains(instructionLabels,
			l.Key)
	})
	return e
}
