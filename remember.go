// What a memory does besides recalling: get, remember, edit, forget.

package oxbow

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/text"
)

// Get returns the entry of that name or, when there is none, the one entry
// that has it as an alias. Errors match [ErrNotFound].
func (m *Memory) Get(ctx context.Context, name string) (Entry, error) {
	e, err := m.store.Get(ctx, name)
	if !errors.Is(err, ErrNotFound) {
		return e, err
	}
	var found []Entry
	for e, err := range m.store.Entries(ctx, Filter{Terms: []Term{{Key: "name", Values: []string{name}}}}) {
		if err != nil {
			return Entry{}, err
		}
		found = append(found, e)
	}
	if len(found) == 1 {
		return found[0], nil
	}
	if len(found) > 1 {
		err = &AliasError{Alias: name, Names: []string{found[0].Name, found[1].Name}}
	}
	return Entry{}, err
}

// Entries yields the selected entries in order of ID.
func (m *Memory) Entries(ctx context.Context, f Filter) iter.Seq2[Entry, error] {
	return m.store.Entries(ctx, f)
}

// Apply makes all the changes durable, or none of them.
func (m *Memory) Apply(ctx context.Context, ops ...Op) error {
	ops, err := m.screen(ctx, ops)
	if err != nil {
		return err
	}
	err = m.store.Apply(ctx, ops...)
	if _, ok := m.store.(Watcher); !ok && err == nil {
		m.changed(Event{Reset: true})
	}
	return err
}

// screen returns the changes, of which none may be nil, as [Options.Screen] leaves them.
func (m *Memory) screen(ctx context.Context, ops []Op) ([]Op, error) {
	if slices.Contains(ops, nil) {
		return nil, &InvalidError{Field: "change", Reason: "is nil"}
	}
	if m.opts.Screen == nil {
		return ops, nil
	}
	return m.opts.Screen(ctx, m.store, ops)
}

// DryRun implements [DryRunner]. Of a store that is none it knows what Check of
// an [Op] and [Options.Screen] refuse.
func (m *Memory) DryRun(ctx context.Context, ops ...Op) error {
	ops, err := m.screen(ctx, ops)
	if d, ok := m.store.(DryRunner); ok && err == nil {
		return d.DryRun(ctx, ops...)
	}
	for _, op := range ops {
		err = cmp.Or(err, op.Check())
	}
	return err
}

// Remember writes e under its name and returns it as stored. A new name is
// added; an entry of that name is updated, and what e leaves nil (aliases,
// labels) stays as it was. Without a name, one is made from the first line of
// the content. The kind of an existing entry cannot change, and a new alias that
// another entry has is an [AliasError].
//
// When e.Version is not 0, the entry must be at that version, else the error
// matches [ErrConflict]. ID, Updated and Source are ignored; Created counts for
// a new entry only. What comes back is at Version 0 when it was remembered but
// could not be read back, as when another process has forgotten it since.
func (m *Memory) Remember(ctx context.Context, e Entry) (Entry, error) {
	if strings.TrimSpace(e.Content) == "" {
		return Entry{}, &InvalidError{Field: "content", Reason: "is empty; say what to remember"}
	}
	if e.Name == "" {
		e.Name = text.NameOf(e.Content)
	}
	var old Entry
	err := m.Edit(ctx, e.Name, func(now Entry, found bool) (Op, error) {
		old = now
		if !found {
			if e.Version != 0 {
				return nil, &ConflictError{Name: e.Name, Want: e.Version}
			}
			return Add{Name: e.Name, Kind: e.Kind, Content: e.Content, Aliases: e.Aliases, Labels: e.Labels, Created: e.Created, UniqueAliases: true}, nil
		}
		return over(e, old)
	})
	if err != nil {
		return Entry{}, err
	}
	if now, err := m.store.Get(ctx, e.Name); err == nil {
		return now, nil
	}
	// It was remembered. That it cannot be read back, most often because another
	// process has forgotten it since, is no failure of this call.
	e.ID, e.Version, e.Labels = old.ID, 0, SortLabels(e.Labels)
	return e, nil
}

// over returns the change of old to e; what e leaves nil stays as it was.
func over(e, old Entry) (Op, error) {
	if e.Kind != old.Kind && e.Kind != Note {
		return nil, &InvalidError{Field: "kind", Value: e.Kind.String(),
			Reason: "cannot be given to entry \"" + e.Name + "\", which is of kind " + old.Kind.String() + "; forget it first, or choose another name"}
	}
	u := Update{Name: e.Name, Content: e.Content, Aliases: e.Aliases, Labels: e.Labels, If: old.Version, UniqueAliases: true}
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

// Edit changes the entry of that name, and no alias, by the operation that edit
// returns for it; found is false where there is none, and a nil operation
// changes nothing. When another writer was first, edit is called again with
// what the entry is then, except after an [Update] of another version than it
// was given: that is the caller's own condition.
func (m *Memory) Edit(ctx context.Context, name string, edit func(old Entry, found bool) (Op, error)) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		old, err := m.store.Get(ctx, name)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		op, err := edit(old, err == nil)
		if err != nil || op == nil {
			return err
		}
		err = m.Apply(ctx, op)
		u, ok := op.(Update)
		if own := ok && u.If != old.Version; own || !errors.Is(err, ErrConflict) && !errors.Is(err, ErrExists) && !errors.Is(err, ErrNotFound) {
			return err
		}
	}
}

// Forget removes the entry of that name. Errors match [ErrNotFound].
func (m *Memory) Forget(ctx context.Context, name string) error {
	return m.Apply(ctx, Remove{Name: name})
}
