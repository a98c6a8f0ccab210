// This file reads and watches the store of a scope.

package scope

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/subscribers"
	"github.com/oxbow-memory/oxbow/store/heads"
)

// New returns the part of a store that is in the scope. Closing it closes the base. If the
// base is a [oxbow.Watcher] or [oxbow.Historian], so is the result. Other optional
// interfaces of the base (to check, compact, redact or count) are not available through it.
// The Clock and Source of the options are used, and o may be nil.
func New(base oxbow.Store, s Scope, o *oxbow.Options) oxbow.Store {
	v := newStore(base, s, o)
	v.owned = true
	return v.watchable()
}

// Within returns a memory over the part of m's store that is in the scope. The memory has
// an index of its own, so that counts and suggestions do not depend on entries outside.
// Closing it does not close m. After Close, its Recall fails with [oxbow.ErrClosed]. It
// must be closed before m.
func Within(m *oxbow.Memory, s Scope) *oxbow.Memory {
	o := m.Options()
	v := newStore(m.Store(), s, &o)
	v.screen, v.wrap = o.Screen, o.History
	o.Screen, o.History = nil, nil // the store v screens the ops that it receives
	return oxbow.New(v.watchable(), &o)
}

// newStore restricts base to the scope, with the Clock and Source of the options.
func newStore(base oxbow.Store, s Scope, o *oxbow.Options) *store {
	v := &store{base: base, scope: s, clock: time.Now}
	if o != nil {
		v.source = o.Source
	}
	if o != nil && o.Clock != nil {
		v.clock = o.Clock
	}
	if v.source.Door == "" {
		v.source.Door = "library"
	}
	return v
}

// watchable returns v as a [oxbow.Watcher] if its base is a Watcher, otherwise v
// itself.
func (v *store) watchable() oxbow.Store {
	w, ok := v.base.(oxbow.Watcher)
	if !ok {
		return v
	}
	ws := &watchedStore{store: v, base: w}
	ws.stop = w.Watch(ws.forwardEvent)
	return ws
}

// store is the part of a store that a scope selects.
type store struct {
	base   oxbow.Store
	scope  Scope
	clock  func() time.Time
	source oxbow.Source
	owned  bool                                  // Close also closes base
	wrap   func(oxbow.Historian) oxbow.Historian // value of [oxbow.Options.History] (may be nil)

	// screen is the value of [oxbow.Options.Screen] (may be nil).
	screen func(context.Context, oxbow.Store, []oxbow.Op) ([]oxbow.Op, error)
}

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

func (v *store) Entries(ctx context.Context, f oxbow.Filter) iter.Seq2[oxbow.Entry, error] {
	return func(yield func(oxbow.Entry, error) bool) {
		for e, err := range v.base.Entries(ctx, f) {
			if err == nil && !v.scope.Sees(&e) {
				continue
			}
			if err == nil && len(v.scope.Redact) > 0 {
				e = v.scope.Shown(e)
				if !f.Match(&e) {
					continue // the filter matched only redacted text
				}
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// ViewHeads implements [heads.Viewer]. It yields only the heads of entries in the scope.
func (v *store) ViewHeads(
	ctx context.Context,
	keys, names []string,
	fn func(all iter.Seq2[oxbow.Head, error], read func(ids []uint64) ([]*oxbow.Entry, error)) error,
) (bool, error) {
	asked := v.scope.HeadNeeds()
	asked.Keys, asked.Names = append(asked.Keys, keys...), append(asked.Names, names...)
	return true, heads.View(ctx, v.base, asked, func(all heads.List) error {
		read := func(ids []uint64) ([]*oxbow.Entry, error) {
			es, err := all.Read(ids)
			for i := range es {
				es[i] = v.redactedEntry(es[i])
			}
			return es, err
		}
		return fn(func(yield func(oxbow.Head, error) bool) {
			for h, err := range all.All {
				if err == nil && !v.scope.Sees(h.Entry) {
					continue
				}
				h.Entry = v.redactedEntry(h.Entry)
				if !yield(h, err) {
					return
				}
			}
		}, read)
	})
}

// redactedEntry returns a redacted copy of the entry, or the entry itself if nothing is redacted.
func (v *store) redactedEntry(e *oxbow.Entry) *oxbow.Entry {
	if e == nil || len(v.scope.Redact) == 0 {
		return e
	}
	s := v.scope.Shown(*e)
	return &s
}

func (v *store) Close() error {
	if !v.owned {
		return nil
	}
	return v.base.Close()
}

// writable returns an error if the scope is read-only.
func (v *store) writable() error {
	if v.scope.ReadOnly {
		return fmt.Errorf("%w: only reading is allowed within %s", oxbow.ErrReadOnly, v.scope.title())
	}
	return nil
}

// stamp returns a context whose changes record the scope's profile.
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

// watchedStore is a store that sends events. It watches the base once and forwards events
// to all its watchers.
type watchedStore struct {
	*store
	base     oxbow.Watcher
	watchers subscribers.List[oxbow.Event]
	stop     func()      // stops watching base
	closed   atomic.Bool // base is not watched any more
}

// forwardEvent sends an event of the base to the watchers. An entry that is now outside of the
// scope is reported as removed.
func (w *watchedStore) forwardEvent(e oxbow.Event) {
	if w.watchers.Len() == 0 {
		return
	}
	inside := make([]oxbow.Delta, len(e.Changes))
	for i, d := range e.Changes {
		inside[i] = d
		if d.Entry != nil && !w.scope.Sees(d.Entry) {
			inside[i].Entry = nil
		} else {
			inside[i].Entry = w.redactedEntry(d.Entry)
		}
	}
	w.watchers.Send(oxbow.Event{Changes: inside, Reset: e.Reset})
}

func (w *watchedStore) Watch(fn func(oxbow.Event)) (stop func()) { return w.watchers.Add(fn) }

func (w *watchedStore) Refresh(ctx context.Context) error {
	if w.closed.Load() {
		return oxbow.ErrClosed
	}
	return w.base.Refresh(ctx)
}

func (w *watchedStore) Close() error {
	w.closed.Store(true)
	w.stop()
	return w.store.Close()
}

// realName returns the name of the entry in the scope that is shown under this name, which
// may be redacted. If no entry or several entries match, it returns the name unchanged.
func (v *store) realName(ctx context.Context, name string) (string, error) {
	if !v.scope.hasMark(name) {
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

// shownAs returns the names of the entries in the scope that are shown under this name.
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

// restoreRedacted replaces redaction marks in the op by the original data. It restores the
// entry's name, and content, aliases and labels that are unchanged from the redacted entry.
func (v *store) restoreRedacted(ctx context.Context, op oxbow.Op) (oxbow.Op, error) {
	if _, adds := op.(oxbow.Add); adds || len(v.scope.Redact) == 0 {
		return op, nil
	}
	name, err := v.realName(ctx, op.Target())
	if err != nil {
		return nil, err
	}
	old, err := v.base.Get(ctx, name)
	if err != nil || !v.scope.Sees(&old) {
		return op, nil // binder returns the error for this op
	}
	switch o := op.(type) {
	case oxbow.Update:
		o.Name = name
		o.Aliases = v.scope.restoreAliases(o.Aliases, &old)
		o.Labels = v.scope.realLabels(o.Labels, &old)
		o.Content, err = v.scope.putBack(o.Content, old.Content)
		return o, err
	case oxbow.Alias:
		o.Name, o.Aliases = name, v.scope.restoreAliases(o.Aliases, &old)
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
