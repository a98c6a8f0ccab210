// This file reads the store within a scope, and watches it.

package scope

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync/atomic"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/subscribers"
	"github.com/oxbow-memory/oxbow/store/heads"
)

// New returns a store that contains only the entries of base that are in the scope s. Closing the new store closes
// base. According to [oxbow.CapabilitiesOf], the new store can make dry runs and list heads. It is also a Committer, a
// Watcher and a Historian if base is. All results are restricted to the scope. The new store does not offer checks,
// compactions, redactions or counts. It uses the Clock and the Source in o, which may be nil.
func New(base oxbow.Store, s Scope, o *oxbow.Options) oxbow.Store {
	v := newStore(base, s, o)
	v.closesBaseStore = true
	return v
}

// Within returns a memory that contains the entries of m that are in the scope s. The new memory has its own index, so
// that counts and suggestions do not depend on entries outside the scope. Closing the new memory does not close m. The
// new memory must be closed before m is closed. After it is closed, its method Recall returns [oxbow.ErrClosed].
func Within(m *oxbow.Memory, s Scope) *oxbow.Memory {
	o := m.Options()
	v := newStore(m.Store(), s, &o)
	v.screenOps = o.Screen
	if h := v.baseCapabilities.Historian; h != nil && o.History != nil {
		v.baseCapabilities.Historian = o.History(h)
	}
	// Do not screen twice: the store v already screens the ops before it passes them on.
	o.Screen, o.History = nil, nil
	return oxbow.New(v, &o)
}

// newStore restricts base to the scope, with the Clock and the Source in the options. It watches base once, and
// forwards the events to the new store's watchers.
func newStore(base oxbow.Store, s Scope, o *oxbow.Options) *store {
	v := &store{
		base:             base,
		baseCapabilities: oxbow.CapabilitiesOf(base),
		scope:            s,
		clock:            time.Now,
		stopWatching:     func() {},
	}
	if o != nil {
		v.changeSource = o.Source
	}
	if o != nil && o.Clock != nil {
		v.clock = o.Clock
	}
	if v.changeSource.Door == "" {
		v.changeSource.Door = "library"
	}
	if w := v.baseCapabilities.Watcher; w != nil {
		v.stopWatching = w.Watch(v.forwardEvent)
	}
	return v
}

// store is the part of a store that a scope selects.
type store struct {
	base             oxbow.Store
	baseCapabilities oxbow.Capabilities // the optional interfaces of base (its history may be wrapped)
	scope            Scope
	clock            func() time.Time
	changeSource     oxbow.Source
	closesBaseStore  bool // closing this store also closes the store in the field base

	watchers     subscribers.List[oxbow.Event]
	stopWatching func()      // ends the subscription to the events of the store in the field base
	closed       atomic.Bool // Close was called

	// screenOps is [oxbow.Options.Screen], or nil.
	screenOps func(context.Context, oxbow.Store, []oxbow.Op) ([]oxbow.Op, error)
}

// Capabilities returns which optional interfaces a store with a scope implements, for [oxbow.CapabilitiesOf].
// Interfaces that would reveal entries outside the scope are left out.
func (v *store) Capabilities() oxbow.Capabilities {
	c := oxbow.Capabilities{DryRunner: v, HeadViewer: v}
	if v.baseCapabilities.Committer != nil {
		c.Committer = v
	}
	if v.baseCapabilities.Watcher != nil {
		c.Watcher = v
	}
	if v.baseCapabilities.Historian != nil {
		c.Historian = v.newHistory()
	}
	return c
}

func (v *store) Get(ctx context.Context, name string) (oxbow.Entry, error) {
	name, err := v.findRealName(ctx, name)
	if err != nil {
		return oxbow.Entry{}, err
	}
	e, err := v.base.Get(ctx, name)
	switch {
	case err != nil:
		return oxbow.Entry{}, err
	case !v.scope.Sees(&e):
		return oxbow.Entry{}, notFoundError(name)
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
					continue // The filter matches only hidden text, because it does not match the shown entry.
				}
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// ViewHeads implements [oxbow.HeadViewer]. It only lists and reads entries in the scope.
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
			es = slices.DeleteFunc(es, func(e *oxbow.Entry) bool { return e != nil && !v.scope.Sees(e) })
			for i := range es {
				es[i] = v.redactEntry(es[i])
			}
			return es, err
		}
		return fn(func(yield func(oxbow.Head, error) bool) {
			for h, err := range all.All {
				if err == nil && !v.scope.Sees(h.Entry) {
					continue
				}
				h.Entry = v.redactEntry(h.Entry)
				if !yield(h, err) {
					return
				}
			}
		}, read)
	})
}

// redactEntry returns the entry with marks in place of the personal data that the scope hides. It copies the entry
// only if the scope hides personal data.
func (v *store) redactEntry(e *oxbow.Entry) *oxbow.Entry {
	if e == nil || len(v.scope.Redact) == 0 {
		return e
	}
	s := v.scope.Shown(*e)
	return &s
}

func (v *store) Close() error {
	v.closed.Store(true)
	v.stopWatching()
	if !v.closesBaseStore {
		return nil
	}
	return v.base.Close()
}

// checkWritable returns an error if the scope does not allow any change.
func (v *store) checkWritable() error {
	if v.scope.ReadOnly {
		return fmt.Errorf("%w: only reading is allowed within %s", oxbow.ErrReadOnly, v.scope.displayTitle())
	}
	return nil
}

// contextWithProfile returns a context in which changes are recorded with the scope's profile.
func (v *store) contextWithProfile(ctx context.Context) context.Context {
	if v.scope.Profile == "" {
		return ctx
	}
	s, ok := oxbow.SourceFrom(ctx)
	if !ok {
		s = v.changeSource
	}
	if s.Profile == "" {
		s.Profile = v.scope.Profile
	}
	return oxbow.WithSource(ctx, s)
}

func isNotFound(err error) bool { return errors.Is(err, oxbow.ErrNotFound) }

func notFoundError(name string) error { return &oxbow.NameError{Name: name, Err: oxbow.ErrNotFound} }

// forwardEvent sends an event of the underlying store to the watchers. A changed entry that is outside the scope is
// reported as removed.
func (v *store) forwardEvent(e oxbow.Event) {
	if v.watchers.Len() == 0 {
		return
	}
	inside := make([]oxbow.Delta, len(e.Changes))
	for i, d := range e.Changes {
		inside[i] = d
		if d.Entry != nil && !v.scope.Sees(d.Entry) {
			inside[i].Entry = nil
		} else {
			inside[i].Entry = v.redactEntry(d.Entry)
		}
	}
	v.watchers.Send(oxbow.Event{Changes: inside, Reset: e.Reset})
}

// Watch implements [oxbow.Watcher].
func (v *store) Watch(fn func(oxbow.Event)) (stop func()) { return v.watchers.Add(fn) }

// Refresh implements [oxbow.Watcher].
func (v *store) Refresh(ctx context.Context) error {
	if v.closed.Load() {
		return oxbow.ErrClosed
	}
	if v.baseCapabilities.Watcher == nil {
		return nil
	}
	return v.baseCapabilities.Watcher.Refresh(ctx)
}

// findRealName returns the true name of an entry. A scope hides parts of some names and shows a redaction mark instead.
// If the argument name contains such a mark, and exactly one entry is shown under this name, findRealName returns the
// true name of this entry. In all other cases, it returns the argument name unchanged. It also does so if the argument
// is itself the true name of an entry.
func (v *store) findRealName(ctx context.Context, name string) (string, error) {
	if !v.scope.hasRedactionMark(name) {
		return name, nil
	}
	if _, err := v.base.Get(ctx, name); !errors.Is(err, oxbow.ErrNotFound) {
		return name, err
	}
	names, err := v.entryNamesShownAs(ctx, name)
	if len(names) == 1 {
		name = names[0]
	}
	return name, err
}

// entryNamesShownAs returns the names of the entries in the scope that are shown under the given name.
func (v *store) entryNamesShownAs(ctx context.Context, name string) (names []string, err error) {
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

// restoreHiddenData returns the op with the original data in place of marks. A mark such as [mail] stands for personal
// data that the scope hides. The agent that made the op has seen only the marks. Therefore a name, an alias, a label or
// a part of the content in the op may contain marks instead of the entry's original data. If the op is an add, or if
// the scope does not show the entry, restoreHiddenData returns the op unchanged. It returns an error if it cannot find
// out which data a mark in the content stands for.
func (v *store) restoreHiddenData(ctx context.Context, op oxbow.Op) (oxbow.Op, error) {
	if _, adds := op.(oxbow.Add); adds || len(v.scope.Redact) == 0 {
		return op, nil
	}
	name, err := v.findRealName(ctx, op.Target())
	if err != nil {
		return nil, err
	}
	old, err := v.base.Get(ctx, name)
	if err != nil || !v.scope.Sees(&old) {
		return op, nil // No error is needed here, because the check of the op, which follows, will return one.
	}
	switch o := op.(type) {
	case oxbow.Update:
		o.Name = name
		o.Aliases = v.scope.restoreAliases(o.Aliases, &old)
		o.Labels = v.scope.restoreLabels(o.Labels, &old)
		o.Content, err = v.scope.restoreContent(o.Content, old.Content)
		return o, err
	case oxbow.Alias:
		o.Name, o.Aliases = name, v.scope.restoreAliases(o.Aliases, &old)
		return o, nil
	case oxbow.Relabel:
		o.Name, o.Labels = name, v.scope.restoreLabels(o.Labels, &old)
		return o, nil
	case oxbow.Remove:
		o.Name = name
		return o, nil
	}
	return op, nil
}
