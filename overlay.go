// Overlays: the entries of a memory and those of a store under it, to be read.

package oxbow

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/oxbow-memory/oxbow/internal/watch"
)

// underID is what the IDs of entries under an overlay have on top: none of a log is as
// large, and it is exact as a number of JavaScript.
const underID = 1 << 52

// overlay is the entries of a store and, under them, those of another.
type overlay struct {
	upper, under Store
	suffix       string
	watchers     watch.List[Event]
	stops        []func()

	stale  atomic.Bool // entries may be others by now
	closed atomic.Bool

	mu      sync.Mutex // guards the following, and is held while it is made
	entries []*Entry   // of under, as they are shown, in order of ID
}

var _ Watcher = (*overlay)(nil)

func newOverlay(ctx context.Context, upper, under Store, suffix string) (*overlay, error) {
	o := &overlay{upper: upper, under: under, suffix: suffix}
	o.stale.Store(true)
	w, ok := under.(Watcher)
	if !ok {
		return nil, fmt.Errorf("%w: a store under a memory must report its changes", ErrUnsupported)
	}
	o.stops = append(o.stops, w.Watch(func(Event) { o.stale.Store(true) }))
	if w, ok := upper.(Watcher); ok {
		o.stops = append(o.stops, w.Watch(o.changed))
	}
	if err := o.refreshUnder(ctx); err != nil {
		o.stop()
		return nil, err
	}
	return o, nil
}

// logOf returns the log that a store is, or that lies in an overlay; nil for none.
func logOf(s Store) *db {
	if o, ok := s.(*overlay); ok {
		s = o.upper
	}
	d, _ := s.(*db)
	return d
}

// underOf returns the entries under an overlay, as they were when it was refreshed last.
func underOf(s Store) []*Entry {
	o, ok := s.(*overlay)
	if !ok {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.entries
}

// changed passes events of the upper store on. A name may be taken or free now, which
// the next Refresh sees: a store is not called while it sends.
func (o *overlay) changed(e Event) {
	o.stale.Store(true)
	o.watchers.Send(e)
}

// Watch implements [Watcher].
func (o *overlay) Watch(fn func(Event)) (stop func()) { return o.watchers.Add(fn) }

// Refresh implements [Watcher].
func (o *overlay) Refresh(ctx context.Context) error {
	if o.closed.Load() {
		return ErrClosed
	}
	if w, ok := o.upper.(Watcher); !ok {
		o.changed(Event{Reset: true})
	} else if err := w.Refresh(ctx); err != nil {
		return err
	}
	return o.refreshUnder(ctx)
}

// refreshUnder brings the entries under it up to the two stores.
func (o *overlay) refreshUnder(ctx context.Context) error {
	if err := o.under.(Watcher).Refresh(ctx); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.stale.Swap(false) {
		return nil
	}
	now, err := o.load(ctx)
	if err != nil {
		o.stale.Store(true)
		return err
	}
	ds := changedEntries(o.entries, now)
	if o.entries = now; len(ds) > 0 {
		o.watchers.Send(Event{Changes: ds})
	}
	return nil
}

// load returns the entries under it, as they are shown. Names that need the suffix go
// to those that agents are given unasked first, so that no other takes one of them.
func (o *overlay) load(ctx context.Context) ([]*Entry, error) {
	var all []*Entry
	for e, err := range o.under.Entries(ctx, Filter{}) {
		if err != nil {
			return nil, err
		}
		e = e.Clone()
		e.ID += underID
		all = append(all, &e)
	}
	taken := map[string]bool{}
	for _, first := range []bool{true, false} {
		for _, e := range all {
			if e.Volunteered() != first {
				continue
			}
			if err := o.name(ctx, e, taken); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// name gives an entry under it a name that neither the upper store nor one before it has.
func (o *overlay) name(ctx context.Context, e *Entry, taken map[string]bool) error {
	for {
		_, err := o.upper.Get(ctx, e.Name)
		if err != nil && !isNotFound(err) {
			return err
		}
		if err != nil && !taken[e.Name] {
			taken[e.Name] = true
			return nil
		}
		e.Name += o.suffix
	}
}

// changedEntries returns what makes old of now, both in order of ID.
func changedEntries(old, now []*Entry) (ds []Delta) {
	for _, e := range now {
		for len(old) > 0 && old[0].ID < e.ID {
			ds = append(ds, Delta{ID: old[0].ID})
			old = old[1:]
		}
		if len(old) > 0 && old[0].ID == e.ID {
			was := old[0]
			if old = old[1:]; was.Version == e.Version && was.Name == e.Name {
				continue
			}
		}
		ds = append(ds, Delta{e.ID, e})
	}
	for _, e := range old {
		ds = append(ds, Delta{ID: e.ID})
	}
	return ds
}

// fresh returns the entries under it.
func (o *overlay) fresh(ctx context.Context) ([]*Entry, error) {
	if o.closed.Load() {
		return nil, ErrClosed
	}
	if err := o.refreshUnder(ctx); err != nil {
		return nil, err
	}
	return underOf(o), nil
}

// Get implements [Store].
func (o *overlay) Get(ctx context.Context, name string) (Entry, error) {
	under, err := o.fresh(ctx)
	if err != nil {
		return Entry{}, err
	}
	e, err := o.upper.Get(ctx, name)
	if isNotFound(err) {
		for _, u := range under {
			if u.Name == name {
				return u.Clone(), nil
			}
		}
	}
	return e, err
}

// Entries implements [Store].
func (o *overlay) Entries(ctx context.Context, f Filter) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		under, err := o.fresh(ctx)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		for e, err := range o.upper.Entries(ctx, f) {
			if !yield(e, err) || err != nil {
				return
			}
		}
		for _, e := range under {
			if f.Match(e) && !yield(e.Clone(), nil) {
				return
			}
		}
	}
}

// ViewHeads gives the heads of the entries of both, as [ViewHeads] does.
func (o *overlay) ViewHeads(ctx context.Context, asked Asked, fn func(Heads) error) error {
	under, err := o.fresh(ctx)
	if err != nil {
		return err
	}
	return ViewHeads(ctx, o.upper, asked, func(h Heads) error {
		return fn(Heads{Read: h.Read, All: func(yield func(Head, error) bool) {
			for head, err := range h.All {
				if !yield(head, err) || err != nil {
					return
				}
			}
			for _, e := range under {
				if !yield(Head{e, true, len(e.Content)}, nil) {
					return
				}
			}
		}})
	})
}

// newest is [Newest].
func (o *overlay) newest(ctx context.Context, f Filter, offset, limit int) (page []Entry, total int, err error) {
	under, err := o.fresh(ctx)
	if err != nil {
		return nil, 0, err
	}
	es, total, err := Newest(ctx, o.upper, f, 0, offset+limit)
	if err != nil {
		return nil, 0, err
	}
	for _, e := range under {
		if f.Match(e) {
			es, total = append(es, e.Clone()), total+1
		}
	}
	return newestOf(es, offset, limit), total, nil
}

// Apply implements [Store].
func (o *overlay) Apply(context.Context, ...Op) error {
	return fmt.Errorf("%w: entries of two stores are read together, and changed where they are", ErrReadOnly)
}

// History returns that of the upper store, for [HistoryOf].
func (o *overlay) History() (Historian, error) { return HistoryOf(o.upper) }

func (o *overlay) stop() {
	for _, fn := range o.stops {
		fn()
	}
}

// Close implements [Store].
func (o *overlay) Close() error {
	if o.closed.Swap(true) {
		return ErrClosed
	}
	o.stop()
	return o.under.Close()
}
