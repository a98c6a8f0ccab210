// This file gets, writes and removes entries.

package oxbow

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/store"
)

// Get returns the entry with this name. If no entry has the name, Get searches for entries that have the name as an
// alias. If aliases with exactly this spelling exist, Get ignores aliases with another Unicode form of the name. If one
// entry remains, Get returns this entry. If several entries remain, the error is an [AliasError]. If no entry has the
// name or the alias, the error matches [ErrNotFound].
func (m *Memory) Get(ctx context.Context, name string) (Entry, error) {
	return store.GetByNameOrAlias(ctx, m.store, name)
}

// GetNamed returns the entry with this name and ignores aliases. Names that differ only in
// their Unicode composition are equal. If an old store has entries with several spellings
// of the name, GetNamed returns the entry with exactly this spelling.
func (m *Memory) GetNamed(ctx context.Context, name string) (Entry, error) {
	return store.GetNamed(ctx, m.store, name)
}

// Entries yields the selected entries in order of ID.
func (m *Memory) Entries(ctx context.Context, f Filter) iter.Seq2[Entry, error] {
	return m.store.Entries(ctx, f)
}

// Apply implements [Store]. It applies all ops or none.
func (m *Memory) Apply(ctx context.Context, ops ...Op) error {
	ops, err := m.screenOps(ctx, ops)
	if err == nil {
		err = m.store.Apply(ctx, ops...)
	}
	m.invalidateIndexAfterWrite(err)
	return err
}

// Commit implements [Committer]. It is like Apply, but returns the change. The change
// is empty if the store below is not a Committer.
func (m *Memory) Commit(ctx context.Context, ops ...Op) (Change, error) {
	ops, err := m.screenOps(ctx, ops)
	if err != nil {
		return Change{}, err
	}
	var c Change
	if m.capabilities.Committer != nil {
		c, err = m.capabilities.Committer.Commit(ctx, ops...)
	} else {
		err = m.store.Apply(ctx, ops...)
	}
	m.invalidateIndexAfterWrite(err)
	return c, err
}

// invalidateIndexAfterWrite invalidates the index after a successful write, if the store does not report changes.
func (m *Memory) invalidateIndexAfterWrite(err error) {
	if m.capabilities.Watcher == nil && err == nil {
		m.handleEvent(Event{Reset: true})
	}
}

// screenOps returns the ops with normalized names, after [Options.Screen] has examined them.
// It returns an error if an op is nil.
func (m *Memory) screenOps(ctx context.Context, ops []Op) ([]Op, error) {
	if slices.Contains(ops, nil) {
		return nil, &InvalidError{Field: "change", Reason: "is nil"}
	}
	ops, err := store.Normalize(ctx, m.store, ops)
	if err != nil {
		return nil, err
	}
	if m.opts.Screen == nil {
		return ops, nil
	}
	return m.opts.Screen(ctx, m.store, ops)
}

// DryRun implements [DryRunner]. If the memory's store is not a DryRunner, DryRun reports only errors from
// [Options.Screen] and from the ops' own Check.
func (m *Memory) DryRun(ctx context.Context, ops ...Op) error {
	ops, err := m.screenOps(ctx, ops)
	if d := m.capabilities.DryRunner; d != nil && err == nil {
		return d.DryRun(ctx, ops...)
	}
	for _, op := range ops {
		err = cmp.Or(err, op.Check())
	}
	return err
}

// Remember writes e under its name and returns the entry as stored. If no entry has the name, Remember adds the entry.
// Otherwise it updates the existing entry. If the aliases or labels of e are nil, the entry keeps its aliases or
// labels. If e.Name is empty, the name is made from the first line of the content. The kind of an existing entry cannot
// be changed. If e adds an alias that another entry already has, the error is an [AliasError].
//
// If e.Version is not 0, the existing entry must have this version. Otherwise the error matches [ErrConflict]. ID,
// Updated and Source are ignored, and Created is used only for a new entry.
//
// The returned entry is the version that this call wrote, even if another writer has changed or removed the entry
// since. If the store is not a [Committer], the store does not report the version that it wrote, and the Version of the
// returned entry is 0.
func (m *Memory) Remember(ctx context.Context, e Entry) (Entry, error) {
	if strings.TrimSpace(e.Content) == "" {
		return Entry{}, &InvalidError{Field: "content", Reason: "is empty; say what to remember"}
	}
	if e.Name == "" {
		e.Name = text.DeriveName(e.Content)
	}
	var old Entry
	c, err := m.CommitEdit(ctx, e.Name, func(now Entry, found bool) (Op, error) {
		old = now
		if !found {
			if e.Version != 0 {
				return nil, &ConflictError{Name: e.Name, Want: e.Version}
			}
			return Add{Name: e.Name, Kind: e.Kind, Content: e.Content, Aliases: e.Aliases, Labels: e.Labels,
				Created: e.Created, UniqueAliases: true}, nil
		}
		return newUpdate(e, old)
	})
	if err != nil {
		return Entry{}, err
	}
	if written, ok := c.Entry(); ok {
		return written, nil
	}
	e.ID = old.ID
	e.Version = c.Seq
	e.Labels = store.SortLabels(e.Labels)
	return e, nil
}

// newUpdate returns the op that replaces the entry old by the entry e. If the aliases or the labels in e are nil, they
// stay unchanged. The op requires that the entry has the version e.Version or, if e.Version is 0, the version of old.
// If e has another kind than old, newUpdate returns an [InvalidError], unless the kind of e is Note.
func newUpdate(e, old Entry) (Op, error) {
	if e.Kind != old.Kind && e.Kind != Note {
		return nil, &InvalidError{Field: "kind", Value: e.Kind.String(),
			Reason: "cannot be given to entry \"" + e.Name + "\", which is of kind " + old.Kind.String() +
				"; forget it first, or choose another name"}
	}
	u := Update{Name: e.Name, Content: e.Content, Aliases: e.Aliases, Labels: e.Labels, If: old.Version,
		UniqueAliases: true}
	if e.Version != 0 {
		u.If = e.Version
	}
	if e.Aliases == nil {
		u.Aliases = old.Aliases
	}
	if e.Labels == nil {
		u.Labels = old.Labels
	}
	return u, nil
}

// Edit changes the entry with this name (not alias). It calls the function edit with the entry, and applies the op that
// edit returns. If no entry has the name, it calls the function edit with found set to false. If the function returns a
// nil op, nothing is changed.
//
// If another writer changes the entry in the meantime, Edit calls the function edit again with the new version. There
// is one exception: the op is an [Update] whose field If is not the version that the function edit received. The caller
// has then set this condition on purpose. Therefore Edit returns the error.
func (m *Memory) Edit(ctx context.Context, name string, edit func(old Entry, found bool) (Op, error)) error {
	_, err := m.CommitEdit(ctx, name, edit)
	return err
}

// CommitEdit is like Edit, and also returns the change, as a [Committer] does. If the function edit returns a nil op,
// the change is empty. After a conflict, CommitEdit locks the entry for all other edits through this Memory before it
// calls the function edit again. Therefore this function must not edit the same entry.
func (m *Memory) CommitEdit(
	ctx context.Context,
	name string,
	edit func(old Entry, found bool) (Op, error),
) (Change, error) {
	for tries := 0; ; tries++ {
		if tries == 1 {
			unlock, err := m.editLocks.lock(ctx, name)
			if err != nil {
				return Change{}, err
			}
			defer unlock()
		}
		if err := ctx.Err(); err != nil {
			return Change{}, err
		}
		old, err := m.GetNamed(ctx, name)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return Change{}, err
		}
		op, err := edit(old, err == nil)
		if err != nil || op == nil {
			return Change{}, err
		}
		c, err := m.Commit(ctx, op)
		u, isUpdate := op.(Update)
		// If the function edit has set a condition of its own in the op, return the conflict to the caller instead of
		// trying again.
		isCondition := isUpdate && u.If != old.Version
		isConflict := errors.Is(err, ErrConflict) || errors.Is(err, ErrExists) || errors.Is(err, ErrNotFound)
		if !isConflict || isCondition {
			return c, err
		}
	}
}

// Forget removes the entry with this name. If no entry has the name, the error
// matches [ErrNotFound].
func (m *Memory) Forget(ctx context.Context, name string) error {
	return m.Apply(ctx, Remove{Name: name})
}
