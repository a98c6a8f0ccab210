// This file holds scopes: the part of a memory that a door may see, and what
// may be changed through it.

package oxbow

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/oxbow-memory/oxbow/internal/text"
	"github.com/oxbow-memory/oxbow/internal/watch"
)

// A Scope is a part of a memory. A memory bound to one, by [Memory.Within],
// answers as if there were nothing else: entries outside are neither found,
// counted nor named, and their past cannot be seen, undone or restored. A
// narrower scope may be put on top of another; both hold then.
//
// The zero Scope selects nothing.
type Scope struct {
	Title   string   // what errors call it, such as `profile "vtt"`
	Profile string   // stamped on what is written, as [Source].Profile; "" stamps nothing
	Any     []Filter // an entry is inside when one of these selects it; the zero [Filter] selects all
	Names   []string // or when it has one of these names; aliases do not count
	Shared  []Filter // or when one of these selects it, and then it cannot be changed here
	Except  []Filter // and none of these does

	// Own labels are given to what is added without a label of that key, and
	// are not taken off here.
	Own []Label
	// Only bounds the labels that may be given here: under the key of a term,
	// one of its values, none when it has none. What an entry has, it keeps.
	Only []Term

	ReadOnly bool // nothing can be changed
}

// Sees reports whether the entry is inside.
func (s *Scope) Sees(e *Entry) bool {
	if selects(s.Except, e) {
		return false
	}
	return selects(s.Any, e) || slices.Contains(s.Names, e.Name) || selects(s.Shared, e)
}

func selects(fs []Filter, e *Entry) bool {
	return slices.ContainsFunc(fs, func(f Filter) bool { return f.Match(e) })
}

// mayChange reports, as an error, why an entry inside cannot be changed.
func (s *Scope) mayChange(e *Entry) error {
	if selects(s.Shared, e) {
		return &InvalidError{Field: "entry", Value: e.Name, Reason: "is shared with others and cannot be changed within " + s.title()}
	}
	return nil
}

// mayBecome reports why an entry cannot be written as it is: old is what it was
// before, nil when there was none.
func (s *Scope) mayBecome(e, old *Entry) error {
	for _, t := range s.Only {
		for _, l := range e.Labels {
			if l.Key != t.Key || slices.Contains(t.Values, l.Value) || old != nil && slices.Contains(old.Labels, l) {
				continue
			}
			reason := "cannot be given within " + s.title()
			if len(t.Values) > 0 {
				reason += ", only " + strings.Join(t.Values, ", ")
			}
			return &InvalidError{Field: "label " + l.Key, Value: text.Clip(l.Value, 40), Reason: reason}
		}
	}
	for _, f := range s.Except {
		if f.Match(e) {
			return &InvalidError{Field: "entry", Value: e.Name, Reason: "would be outside of " + s.title() + ", which leaves out " + f.String()}
		}
	}
	if selects(s.Shared, e) {
		return &InvalidError{Field: "entry", Value: e.Name, Reason: "would be shared with others, which cannot be done within " + s.title()}
	}
	if s.Sees(e) {
		return nil
	}
	var parts []string
	for _, f := range s.Any {
		parts = append(parts, f.String())
	}
	reason := "would be outside of " + s.title()
	if len(parts) > 0 {
		reason += ", which holds " + strings.Join(parts, " or ")
	}
	return &InvalidError{Field: "entry", Value: e.Name, Reason: reason}
}

// labels returns what is written when ls are given to an entry that was old,
// nil for a new one.
func (s *Scope) labels(ls []Label, old *Entry) []Label {
	ls = slices.Clone(ls)
	for _, own := range s.Own {
		if slices.ContainsFunc(ls, func(l Label) bool { return l.Key == own.Key }) {
			continue
		}
		if old == nil {
			ls = append(ls, own)
			continue
		}
		for _, v := range old.Values(own.Key) {
			ls = append(ls, Label{own.Key, v})
		}
	}
	return SortLabels(ls)
}

func (s *Scope) title() string {
	if s.Title == "" {
		return "this scope"
	}
	return s.Title
}

// Within returns a memory that is bound to the scope. It has an index of its
// own, so that no count and no suggestion comes from outside. Closing it leaves
// m open and ends what it costs: following the changes of m. It recalls nothing
// from then on, with ErrClosed. m must outlive it.
func (m *Memory) Within(s Scope) *Memory {
	v := newScoped(m.store, s, m.opts)
	v.close = func() error { return nil }
	w, ok := m.store.(Watcher)
	if !ok {
		return newMemory(v, m.opts)
	}
	ws := newWatchedScoped(v, w)
	v.close = func() error {
		ws.closed.Store(true)
		ws.stop()
		return nil
	}
	return newMemory(ws, m.opts)
}

// Over returns the part of a store that is inside. It belongs to who calls:
// closing it closes the store. Options give the clock and the source of
// changes whose context carries none.
func (s Scope) Over(base Store, o *Options) Store {
	v := newScoped(base, s, o.orDefault())
	if w, ok := base.(Watcher); ok {
		return newWatchedScoped(v, w)
	}
	return v
}

// watchedScoped is the part of a store that sends events. It watches the store
// once, for all of its own watchers.
type watchedScoped struct {
	*scoped
	base     Watcher
	watchers watch.List[Event]
	stop     func()      // ends watching base
	closed   atomic.Bool // base is no longer watched
}

func newWatchedScoped(v *scoped, base Watcher) *watchedScoped {
	w := &watchedScoped{scoped: v, base: base}
	w.stop = base.Watch(w.changed)
	return w
}

// changed sends an event of the base to the watchers. To them, an entry that
// left the scope was removed.
func (w *watchedScoped) changed(e Event) {
	if w.watchers.Len() == 0 {
		return
	}
	inside := make([]Delta, len(e.Changes))
	for i, d := range e.Changes {
		inside[i] = d
		if d.Entry != nil && !w.scope.Sees(d.Entry) {
			inside[i].Entry = nil
		}
	}
	w.watchers.Send(Event{Changes: inside, Reset: e.Reset})
}

// Watch implements [Watcher].
func (w *watchedScoped) Watch(fn func(Event)) (stop func()) { return w.watchers.Add(fn) }

// Refresh implements [Watcher].
func (w *watchedScoped) Refresh(ctx context.Context) error {
	if w.closed.Load() {
		return ErrClosed
	}
	return w.base.Refresh(ctx)
}
