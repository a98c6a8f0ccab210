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
	"github.com/oxbow-memory/oxbow/heads"
	"github.com/oxbow-memory/oxbow/internal/watch"
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
				if e = v.scope.Shown(e); !f.Match(&e) {
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
				if h.Entry = v.shown(h.Entry); !yield(h, err) {
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
		if inside[i] = d; d.Entry != nil && !w.scope.Sees(d.Entry) {
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
