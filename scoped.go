// This file holds the part of a store that a scope selects, as a store: reading
// and changing. What the base can do beyond that and this does not repeat
// (checking, compacting, erasing, counting) cannot be reached through it.

package oxbow

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"
)

// scoped is the part of a store that a scope selects. It keeps a base that has
// history a [Historian].
type scoped struct {
	base   Store
	scope  Scope
	clock  func() time.Time
	source Source
	close  func() error
}

func newScoped(base Store, s Scope, opts Options) *scoped {
	return &scoped{base: base, scope: s, clock: opts.Clock, source: opts.Source, close: base.Close}
}

// Get implements [Store].
func (v *scoped) Get(ctx context.Context, name string) (Entry, error) {
	e, err := v.base.Get(ctx, name)
	if err == nil && !v.scope.Sees(&e) {
		return Entry{}, &NameError{name, ErrNotFound}
	}
	return e, err
}

// Entries implements [Store].
func (v *scoped) Entries(ctx context.Context, f Filter) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for e, err := range v.base.Entries(ctx, f) {
			if (err != nil || v.scope.Sees(&e)) && !yield(e, err) {
				return
			}
		}
	}
}

// Close implements [Store].
func (v *scoped) Close() error { return v.close() }

// maxRaces is how often a change is tried anew because others changed the same
// entries between the look at them and the change.
const maxRaces = 20

// Apply implements [Store]. What is allowed is decided by the entries as they
// are, and each change is bound to the version that was looked at: nobody can
// move an entry out of the scope, or into it, in between.
func (v *scoped) Apply(ctx context.Context, ops ...Op) error {
	if v.scope.ReadOnly {
		// An empty change and a closed store say the same as without a scope.
		if len(ops) == 0 {
			return v.base.Apply(ctx)
		}
		return fmt.Errorf("%w: only reading is allowed within %s", ErrReadOnly, v.scope.title())
	}
	for _, op := range ops {
		if err := CheckOp(op); err != nil {
			return err
		}
	}
	ctx = v.stamp(ctx)
	for try := 0; ; try++ {
		bound, races, err := v.bind(ctx, ops)
		if err != nil {
			return err
		}
		err = v.base.Apply(ctx, bound...)
		if races && errors.Is(err, ErrConflict) && try < maxRaces && !v.conflicts(ctx, ops) {
			continue
		}
		return v.hide(ctx, err, ops)
	}
}

// stamp returns the context that says through which profile is written.
func (v *scoped) stamp(ctx context.Context) context.Context {
	if v.scope.Profile == "" {
		return ctx
	}
	s, ok := SourceFrom(ctx)
	if !ok {
		s = v.source
	}
	if s.Profile == "" {
		s.Profile = v.scope.Profile
	}
	return WithSource(ctx, s)
}

// bind returns the changes as they are applied to the base: with the scope's
// labels, and each bound to the version that was looked at. Races says that
// one was bound that its caller left free.
func (v *scoped) bind(ctx context.Context, ops []Op) (bound []Op, races bool, err error) {
	staged := map[string]*Entry{} // as the changes before leave them; nil for removed
	for _, op := range ops {
		name := OpName(op)
		old, seen := staged[name]
		var at uint64 // the version that the change is bound to, 0 for none
		if !seen {
			e, err := v.base.Get(ctx, name)
			switch {
			case err == nil:
				old, at = &e, e.Version
			case !isNotFound(err):
				return nil, false, err
			}
		}
		outside := old != nil && !v.scope.Sees(old)
		if _, add := op.(Add); outside && !add {
			return nil, false, &NameError{name, ErrNotFound}
		}
		if old == nil || outside {
			// A name that is free, or used by what must not be known of: the
			// base refuses what it must, and hide words it.
			a, ok := op.(Add)
			if ok {
				a.Labels = v.scope.labels(a.Labels, nil)
				next := v.asAdded(ctx, a)
				if err := v.scope.mayBecome(next, nil); err != nil {
					return nil, false, err
				}
				staged[name], op = next, a
			}
			bound = append(bound, op)
			continue
		}
		next := old.Clone()
		bindTo := func(given *uint64) {
			if *given == 0 && at != 0 {
				*given, races = at, true
			}
		}
		if _, add := op.(Add); !add {
			if err := v.scope.mayChange(old); err != nil {
				return nil, false, err
			}
		}
		switch o := op.(type) {
		case Add: // the base refuses it
		case Update:
			o.Labels = v.scope.labels(o.Labels, old)
			bindTo(&o.If)
			next.Content, next.Aliases, next.Labels, op = o.Content, o.Aliases, o.Labels, o
		case Alias:
			bindTo(&o.If)
			next.Aliases, op = o.Aliases, o
		case Relabel:
			o.Labels = v.scope.labels(o.Labels, old)
			bindTo(&o.If)
			next.Labels, op = o.Labels, o
		case Remove:
			bindTo(&o.If)
			staged[name] = nil
			bound = append(bound, o)
			continue
		}
		if err := v.scope.mayBecome(&next, old); err != nil {
			return nil, false, err
		}
		staged[name] = &next
		bound = append(bound, op)
	}
	return bound, races, nil
}

// asAdded returns the entry that an Add makes, as far as filters look at it.
func (v *scoped) asAdded(ctx context.Context, a Add) *Entry {
	e := &Entry{Name: a.Name, Kind: a.Kind, Content: a.Content, Aliases: a.Aliases, Labels: a.Labels, Created: a.Created, Source: v.source}
	if e.Created.IsZero() {
		e.Created = v.clock().UTC()
	}
	if s, ok := SourceFrom(ctx); ok {
		e.Source = s
	}
	return e
}

// conflicts reports whether a version that the caller itself asked for is not
// the current one: then trying again is of no use.
func (v *scoped) conflicts(ctx context.Context, ops []Op) bool {
	seen := map[string]bool{}
	for _, op := range ops {
		var want uint64
		switch o := op.(type) {
		case Update:
			want = o.If
		case Alias:
			want = o.If
		case Relabel:
			want = o.If
		case Remove:
			want = o.If
		}
		name := OpName(op)
		if want != 0 && !seen[name] {
			if e, err := v.base.Get(ctx, name); err != nil || e.Version != want {
				return true
			}
		}
		seen[name] = true
	}
	return false
}

// hide words an error of the base so that it says nothing of what is outside.
// That a name is taken cannot be hidden: names are unique in a store. Neither
// ErrExists nor ErrConflict may match then, for who gets those looks again.
func (v *scoped) hide(ctx context.Context, err error, ops []Op) error {
	if !errors.Is(err, ErrExists) && !errors.Is(err, ErrConflict) {
		return err
	}
	for _, op := range ops {
		name := OpName(op)
		if e, gerr := v.base.Get(ctx, name); gerr == nil && !v.scope.Sees(&e) {
			return &InvalidError{Field: "name", Value: name, Reason: "cannot be used within " + v.scope.title() + "; choose another"}
		}
	}
	return err
}
