// Package overlay shows a memory and another store as a single read-only memory.
package overlay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/overlayid"
	"github.com/oxbow-memory/oxbow/internal/base/subscribers"
	"github.com/oxbow-memory/oxbow/store/heads"
)

// overlayStore is a read-only store with the entries of two stores, called the upper and the lower store.
type overlayStore struct {
	upperMemory            *oxbow.Memory // the memory whose store is upperStore
	upperStore, lowerStore oxbow.Store
	// the optional interfaces that upperStore implements
	upperCapabilities oxbow.Capabilities
	lowerStoreWatcher oxbow.Watcher
	lowerNameSuffix   string
	watchers          subscribers.List[oxbow.Event]
	stopFuncs         []func()

	isLowerStale atomic.Bool // entries of the lower store may be outdated, because one of the two stores has changed
	isClosed     atomic.Bool

	mu sync.Mutex // guards entries; also locked while the entries are loaded
	// Entries of lowerStore, ordered by ID. An entry that has the same name as an entry of upperStore has been renamed.
	entries []*oxbow.Entry
}

// New returns a read-only memory with the entries of two stores: m's store and lowerStore, which must be an
// [oxbow.Watcher].
//
// If both stores have an entry with the same name, lowerNameSuffix is appended to the name of lowerStore's entry,
// several times if necessary. A constant is added to the IDs of lowerStore's entries, so that these IDs are at least
// 1<<52. The history, and the index file next to m's store, contain only m's entries. Closing the new memory closes
// lowerStore but not m. The caller must not close m before the new memory is closed.
func New(ctx context.Context, m *oxbow.Memory, lowerStore oxbow.Store, lowerNameSuffix string) (*oxbow.Memory, error) {
	o, err := newStore(ctx, m, lowerStore, lowerNameSuffix)
	if err != nil {
		return nil, err
	}
	opts := m.Options()
	return oxbow.New(o, &opts), nil
}

func newStore(
	ctx context.Context,
	upperMemory *oxbow.Memory,
	lowerStore oxbow.Store,
	lowerNameSuffix string,
) (*overlayStore, error) {
	o := &overlayStore{
		upperMemory:     upperMemory,
		upperStore:      upperMemory.Store(),
		lowerStore:      lowerStore,
		lowerNameSuffix: lowerNameSuffix,
		upperCapabilities: oxbow.CapabilitiesOf(
			upperMemory.Store(),
		),
		lowerStoreWatcher: oxbow.CapabilitiesOf(lowerStore).Watcher,
	}
	o.isLowerStale.Store(true)
	if o.lowerStoreWatcher == nil {
		return nil, fmt.Errorf("%w: a store under a memory must report its changes", oxbow.ErrUnsupported)
	}
	o.stopFuncs = append(o.stopFuncs, o.lowerStoreWatcher.Watch(func(oxbow.Event) { o.isLowerStale.Store(true) }))
	if w := o.upperCapabilities.Watcher; w != nil {
		o.stopFuncs = append(o.stopFuncs, w.Watch(o.forwardEvents))
	}
	if err := o.refreshLowerEntries(ctx); err != nil {
		o.stopWatching()
		return nil, err
	}
	return o, nil
}

// Capabilities returns which optional interfaces the combined store implements, for [oxbow.CapabilitiesOf]. Its
// history is the history of the upper store, without methods that change anything.
func (o *overlayStore) Capabilities() oxbow.Capabilities {
	c := oxbow.Capabilities{DryRunner: o, Watcher: o, HeadViewer: o, Pager: o}
	if h := o.upperCapabilities.Historian; h != nil {
		c.Historian = readOnlyHistory{h}
	}
	return c
}

// Upper returns the upper store. The history of the upper store is also the history of the overlay.
func (o *overlayStore) Upper() oxbow.Store { return o.upperStore }

// LowerEntries returns the entries that the overlay adds to the upper memory, as they were at the last refresh. These
// are the entries of the store that was passed to New as lowerStore, with their names and IDs in the overlay.
func (o *overlayStore) LowerEntries() []*oxbow.Entry {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.entries
}

// forwardEvents passes an event of the upper store to the watchers. It also makes the next Refresh load the lower
// entries again, because the change may have used names or made names free. The entries are not loaded here, because a
// store must not be called while it sends an event.
func (o *overlayStore) forwardEvents(e oxbow.Event) {
	o.isLowerStale.Store(true)
	o.watchers.Send(e)
}

// Watch implements [oxbow.Watcher].
func (o *overlayStore) Watch(fn func(oxbow.Event)) (stop func()) { return o.watchers.Add(fn) }

// Refresh implements [oxbow.Watcher].
func (o *overlayStore) Refresh(ctx context.Context) error {
	if o.isClosed.Load() {
		return oxbow.ErrClosed
	}
	if w := o.upperCapabilities.Watcher; w == nil {
		o.forwardEvents(oxbow.Event{Reset: true})
	} else if err := w.Refresh(ctx); err != nil {
		return err
	}
	return o.refreshLowerEntries(ctx)
}

// refreshLowerEntries refreshes the lower store. If one of the two stores has changed since the lower store's entries
// were loaded (isLowerStale), it loads these entries again, and reports the changed entries to the watchers.
func (o *overlayStore) refreshLowerEntries(ctx context.Context) error {
	if err := o.lowerStoreWatcher.Refresh(ctx); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.isLowerStale.Swap(false) {
		return nil
	}
	now, err := o.loadLowerEntries(ctx)
	if err != nil {
		o.isLowerStale.Store(true)
		return err
	}
	ds := compareEntries(o.entries, now)
	o.entries = now
	if len(ds) > 0 {
		o.watchers.Send(oxbow.Event{Changes: ds})
	}
	return nil
}

// loadLowerEntries reads the entries of the lower store. If an entry has the same name as another entry of the two
// stores, loadLowerEntries appends a suffix to the name, so that each name is unique. Entries that may be shown to
// agents without a request get their names first. Therefore such an entry keeps its own name, even if an entry that is
// hidden from agents has the same name.
func (o *overlayStore) loadLowerEntries(ctx context.Context) ([]*oxbow.Entry, error) {
	var all []*oxbow.Entry
	for e, err := range o.lowerStore.Entries(ctx, oxbow.Filter{}) {
		if err != nil {
			return nil, err
		}
		e = e.Clone()
		e.ID += overlayid.LowerStoreIDOffset
		all = append(all, &e)
	}
	usedNames := map[string]bool{}
	for _, first := range []bool{true, false} {
		for _, e := range all {
			if e.MayShow(oxbow.UnaskedByLabels) != first {
				continue
			}
			if err := o.makeNameUnique(ctx, e, usedNames); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// makeNameUnique makes the name of an entry from the lower store unique. It appends lowerNameSuffix to the name until
// no entry of upperStore has this name and usedNames does not contain it. It then adds the name to usedNames.
func (o *overlayStore) makeNameUnique(ctx context.Context, e *oxbow.Entry, usedNames map[string]bool) error {
	for {
		_, err := o.upperStore.Get(ctx, e.Name)
		if err != nil && !errors.Is(err, oxbow.ErrNotFound) {
			return err
		}
		if err != nil && !usedNames[e.Name] {
			usedNames[e.Name] = true
			return nil
		}
		e.Name += o.lowerNameSuffix
	}
}

// compareEntries returns the changes that turn the list old into the list current. Both lists must be sorted by ID. An
// entry has changed if its version or its name differs. The delta of a removed entry has only an ID.
func compareEntries(old, current []*oxbow.Entry) (deltas []oxbow.Delta) {
	for _, e := range current {
		for len(old) > 0 && old[0].ID < e.ID {
			deltas = append(deltas, oxbow.Delta{ID: old[0].ID})
			old = old[1:]
		}
		if len(old) > 0 && old[0].ID == e.ID {
			was := old[0]
			old = old[1:]
			if was.Version == e.Version && was.Name == e.Name {
				continue
			}
		}
		deltas = append(deltas, oxbow.Delta{ID: e.ID, Entry: e})
	}
	for _, e := range old {
		deltas = append(deltas, oxbow.Delta{ID: e.ID})
	}
	return deltas
}

// currentLowerEntries returns the entries of the lower store, with their names and IDs in the overlay. It loads the
// entries again if one of the two stores has changed. If the overlay is closed, it returns [oxbow.ErrClosed].
func (o *overlayStore) currentLowerEntries(ctx context.Context) ([]*oxbow.Entry, error) {
	if o.isClosed.Load() {
		return nil, oxbow.ErrClosed
	}
	if err := o.refreshLowerEntries(ctx); err != nil {
		return nil, err
	}
	return o.LowerEntries(), nil
}

// Get implements [oxbow.Store].
func (o *overlayStore) Get(ctx context.Context, name string) (oxbow.Entry, error) {
	under, err := o.currentLowerEntries(ctx)
	if err != nil {
		return oxbow.Entry{}, err
	}
	e, err := o.upperStore.Get(ctx, name)
	if errors.Is(err, oxbow.ErrNotFound) {
		for _, u := range under {
			if u.Name == name {
				return u.Clone(), nil
			}
		}
	}
	return e, err
}

// Entries implements [oxbow.Store].
func (o *overlayStore) Entries(ctx context.Context, f oxbow.Filter) iter.Seq2[oxbow.Entry, error] {
	return func(yield func(oxbow.Entry, error) bool) {
		under, err := o.currentLowerEntries(ctx)
		if err != nil {
			yield(oxbow.Entry{}, err)
			return
		}
		for e, err := range o.upperStore.Entries(ctx, f) {
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

// ViewHeads implements [oxbow.HeadViewer] for the entries of both stores.
func (o *overlayStore) ViewHeads(
	ctx context.Context,
	keys, names []string,
	fn func(all iter.Seq2[oxbow.Head, error], read func(ids []uint64) ([]*oxbow.Entry, error)) error,
) (bool, error) {
	under, err := o.currentLowerEntries(ctx)
	if err != nil {
		return true, err
	}
	return true, heads.View(ctx, o.upperStore, heads.Needs{Keys: keys, Names: names}, func(h heads.List) error {
		return fn(func(yield func(oxbow.Head, error) bool) {
			for head, err := range h.All {
				if !yield(head, err) || err != nil {
					return
				}
			}
			for _, e := range under {
				if !yield(oxbow.Head{Entry: e, Whole: true, Size: len(e.Content)}, nil) {
					return
				}
			}
		}, h.Read)
	})
}

// Newest implements [github.com/oxbow-memory/oxbow/store.Pager]. It returns the newest entries of the upper and the
// lower store.
func (o *overlayStore) Newest(
	ctx context.Context,
	f oxbow.Filter,
	offset, limit int,
) (page []oxbow.Entry, total int, err error) {
	under, err := o.currentLowerEntries(ctx)
	if err != nil {
		return nil, 0, err
	}
	es, total, err := o.upperMemory.Newest(ctx, f, 0, offset+limit)
	if err != nil {
		return nil, 0, err
	}
	for _, e := range under {
		if f.Match(e) {
			es, total = append(es, e.Clone()), total+1
		}
	}
	slices.SortFunc(es, func(a, b oxbow.Entry) int {
		return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(b.ID, a.ID))
	})
	offset = min(offset, len(es))
	return es[offset:min(offset+limit, len(es))], total, nil
}

// Apply implements [oxbow.Store].
func (o *overlayStore) Apply(context.Context, ...oxbow.Op) error {
	return errReadOnly
}

// DryRun implements [oxbow.DryRunner].
func (o *overlayStore) DryRun(context.Context, ...oxbow.Op) error { return errReadOnly }

var errReadOnly = fmt.Errorf(
	"%w: entries of two stores are read together, and changed where they are",
	oxbow.ErrReadOnly,
)

// readOnlyHistory is a history. Its methods that would change the store return an error.
type readOnlyHistory struct{ oxbow.Historian }

func (readOnlyHistory) Apply(context.Context, ...oxbow.Op) error          { return errReadOnly }
func (readOnlyHistory) Revert(context.Context, ...uint64) (uint64, error) { return 0, errReadOnly }
func (readOnlyHistory) Restore(context.Context, string, uint64) (uint64, error) {
	return 0, errReadOnly
}
func (readOnlyHistory) RestoreIf(context.Context, string, uint64, uint64) (uint64, error) {
	return 0, errReadOnly
}

func (o *overlayStore) stopWatching() {
	for _, fn := range o.stopFuncs {
		fn()
	}
}

// Close implements [oxbow.Store].
func (o *overlayStore) Close() error {
	if o.isClosed.Swap(true) {
		return oxbow.ErrClosed
	}
	o.stopWatching()
	return o.lowerStore.Close()
}
