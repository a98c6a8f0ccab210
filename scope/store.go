// The store of a scope: reading and watching.

package scope

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/watch"
	"github.com/oxbow-memory/oxbow/store/heads"
)

// New returns the part of a store that is inside the scope. Closing it closes
// the base. Of the base's optional interfaces it has [oxbow.Watcher], and
// [oxbow.Historian]; what else the base can do (check, compact, redact, count)
// cannot be reached through it. Options, which may be nil, give the clock, and
// the source of changes whose context carries none.
func New(base oxbow.Store, s Scope, o *oxbow.Options) oxbow.Store {
	return newStore(base, s, o, true)
}

// Within returns a memory over the part of m's store that is inside the scope.
// It has an index of its own, so that no count and no suggestion comes from
// outside. Closing it leaves m open; its Recall fails with [oxbow.ErrClosed]
// from then on. m must outlive it.
func Within(m *oxbow.Memory, s Scope) *oxbow.Memory {
	o := m.Options()
	base := newStore(m.Store(), s, &o, false)
	o.Screen, o.History = nil, nil // what is screened is what the base gets
	return oxbow.New(base, &o)
}

func newStore(base oxbow.Store, s Scope, o *oxbow.Options, owned bool) oxbow.Store {
	v := &store{base: base, scope: s, owned: owned, clock: time.Now}
	if o != nil {
		v.source = o.Source
	}
	if o != nil && !owned {
		v.screen, v.wrap = o.Screen, o.History
	}
	if o != nil && o.Clock != nil {
		v.clock = o.Clock
	}
	if v.source.Door == "" {
		v.source.Door = "library"
	}
	w, ok := base.(oxbow.Watcher)
	if !ok {
		return v
	}
	ws := &watched{store: v, base: w}
	ws.stop = w.Watch(ws.changed)
	return ws
}

// store is the part of a store that a scope selects.
type store struct {
	base   oxbow.Store
	scope  Scope
	clock  func() time.Time
	source oxbow.Source
	owned  bool                                  // Close closes base
	wrap   func(oxbow.Historian) oxbow.Historian // [oxbow.Options.History]; nil for none

	// screen is [oxbow.Options.Screen]; nil for none.
	screen func(context.Context, oxbow.Store, []oxbow.Op) ([]oxbow.Op, error)
}

// Get implements [oxbow.Store].
func (v *store) Get(ctx context.Context, name string) (oxbow.Entry, error) {
	name, err := v.realName(ctx, name)
	if err != nil {
		return oxbow.Entry{}, err
	}
	e, err := v.base.Get(ctx, name)
	switch {
	case err != nil:
		return oxbow.Entry{}, err
	case !v.scope.Sees(&e):
		return oxbow.Entry{}, notFound(name)
	}
	return v.scope.Shown(e), nil
}

// Entries implements [oxbow.Store].
func (v *store) Entries(ctx context.Context, f oxbow.Filter) iter.Seq2[oxbow.Entry, error] {
	return func(yield func(oxbow.Entry, error) bool) {
		for e, err := range v.base.Entries(ctx, f) {
			if err == nil && !v.scope.Sees(&e) {
				continue
			}
			if err == nil && len(v.scope.Redact) > 0 {
				e = v.scope.Shown(e)
				if !f.Match(&e) {
					continue // by what is not shown
				}
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// ViewHeads implements [heads.Viewer], with the heads of the entries inside.
func (v *store) ViewHeads(ctx context.Context, keys, names []string, fn func(all iter.Seq2[oxbow.Head, error], read func(ids []uint64) ([]*oxbow.Entry, error)) error) (bool, error) {
	asked := v.scope.Asked()
	asked.Keys, asked.Names = append(asked.Keys, keys...), append(asked.Names, names...)
	return true, heads.View(ctx, v.base, asked, func(all heads.List) error {
		read := func(ids []uint64) ([]*oxbow.Entry, error) {
			es, err := all.Read(ids)
			for i := range es {
				es[i] = v.shown(es[i])
			}
			return es, err
		}
		return fn(func(yield func(oxbow.Head, error) bool) {
			for h, err := range all.All {
				if err == nil && !v.scope.Sees(h.Entry) {
					continue
				}
				h.Entry = v.shown(h.Entry)
				if !yield(h, err) {
					return
				}
			}
		}, read)
	})
}

// shown is [Scope.Shown] for an entry that others may have.
func (v *store) shown(e *oxbow.Entry) *oxbow.Entry {
	if e == nil || len(v.scope.Redact) == 0 {
		return e
	}
	s := v.scope.Shown(*e)
	return &s
}

// Close implements [oxbow.Store].
func (v *store) Close() error {
	if !v.owned {
		return nil
	}
	return v.base.Close()
}

// writable refuses changes of a scope that is read-only.
func (v *store) writable() error {
	if v.scope.ReadOnly {
		return fmt.Errorf("%w: only reading is allowed within %s", oxbow.ErrReadOnly, v.scope.title())
	}
	return nil
}

// stamp returns a context whose changes name the profile.
func (v *store) stamp(ctx context.Context) context.Context {
	if v.scope.Profile == "" {
		return ctx
	}
	s, ok := oxbow.SourceFrom(ctx)
	if !ok {
		s = v.source
	}
	if s.Profile == "" {
		s.Profile = v.scope.Profile
	}
	return oxbow.WithSource(ctx, s)
}

func isNotFound(err error) bool { return errors.Is(err, oxbow.ErrNotFound) }

func notFound(name string) error { return &oxbow.NameError{Name: name, Err: oxbow.ErrNotFound} }

// watched is the part of a store that sends events. It watches the base once,
// for all of its own watchers.
type watched struct {
	*store
	base     oxbow.Watcher
	watchers watch.List[oxbow.Event]
	stop     func()      // ends watching base
	closed   atomic.Bool // base is no longer watched
}

// changed sends an event of the base to the watchers. To them, an entry that
// left the scope was removed.
func (w *watched) changed(e oxbow.Event) {
	if w.watchers.Len() == 0 {
		return
	}
	inside := make([]oxbow.Delta, len(e.Changes))
	for i, d := range e.Changes {
		inside[i] = d
		if d.Entry != nil && !w.scope.Sees(d.Entry) {
			inside[i].Entry = nil
		} else {
			inside[i].Entry = w.shown(d.Entry)
		}
	}
	w.watchers.Send(oxbow.Event{Changes: inside, Reset: e.Reset})
}

// Watch implements [oxbow.Watcher].
func (w *watched) Watch(fn func(oxbow.Event)) (stop func()) { return w.watchers.Add(fn) }

// Refresh implements [oxbow.Watcher].
func (w *watched) Refresh(ctx context.Context) error {
	if w.closed.Load() {
		return oxbow.ErrClosed
	}
	return w.base.Refresh(ctx)
}

// Close implements [oxbow.Store].
func (w *watched) Close() error {
	w.closed.Store(true)
	w.stop()
	return w.store.Close()
}

// realName returns the name of the entry inside that is shown under a name: of none, or
// of several, the name itself.
func (v *store) realName(ctx context.Context, name string) (string, error) {
	if !v.scope.marked(name) {
		return name, nil
	}
	if _, err := v.base.Get(ctx, name); !errors.Is(err, oxbow.ErrNotFound) {
		return name, err
	}
	names, err := v.shownAs(ctx, name)
	if len(names) == 1 {
		name = names[0]
	}
	return name, err
}

// shownAs returns the names of the entries inside that are shown under a name.
func (v *store) shownAs(ctx context.Context, name string) (names []string, err error) {
	for e, err := range v.base.Entries(ctx, oxbow.Filter{}) {
		if err != nil {
			return nil, err
		}
		if v.scope.Sees(&e) && v.scope.Text(e.Name) == name {
			names = append(names, e.Name)
		}
	}
	return names, nil
}

// unredacted returns a change with what is not shown put back: an entry is found by the
// name that it is shown under, and what was shown with marks is written as it was.
func (v *store) unredacted(ctx context.Context, op oxbow.Op) (oxbow.Op, error) {
	if _, adds := op.(oxbow.Add); adds || len(v.scope.Redact) == 0 {
		return op, nil
	}
	name, err := v.realName(ctx, op.Target())
	if err != nil {
		return nil, err
	}
	old, err := v.base.Get(ctx, name)
	if err != nil || !v.scope.Sees(&old) {
		return op, nil // binder says why
	}
	switch o := op.(type) {
	case oxbow.Update:
		o.Name = name
		o.Aliases = v.scope.aliases(o.Aliases, &old)
		o.Labels = v.scope.realLabels(o.Labels, &old)
		o.Content, err = v.scope.putBack(o.Content, old.Content)
		return o, err
	case oxbow.Alias:
		o.Name, o.Aliases = name, v.scope.aliases(o.Aliases, &old)
		return o, nil
	case oxbow.Relabel:
		o.Name, o.Labels = name, v.scope.realLabels(o.Labels, &old)
		return o, nil
	case oxbow.Remove:
		o.Name = name
		return o, nil
	}
	return op, nil
}
