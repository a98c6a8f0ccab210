// This file makes earlier states of a store: from the present state and the later changes, or by a replay of the log.

package logstore

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/oxbow-memory/oxbow/internal/base/idset"
	"github.com/oxbow-memory/oxbow/internal/log/keydir"
	"github.com/oxbow-memory/oxbow/store"
)

// AsOf implements [store.Historian].
func (d *DB) AsOf(ctx context.Context, seq uint64) (store.Store, error) {
	if err := d.Refresh(ctx); err != nil {
		return nil, err
	}
	if err := d.checkHasStateAfter(seq); err != nil {
		return nil, err
	}
	var st *state
	if !d.isReplayCheaper(seq) {
		var err error
		st, err = d.stateFromLaterChanges(ctx, seq)
		if err != nil {
			return nil, err
		}
	}
	if st == nil {
		var err error
		st, err = d.stateAt(seq)
		if err != nil {
			return nil, err
		}
	}
	return &readOnlyStateStore{db: d, seq: seq, st: st}, nil
}

// replayedLogShareDivisor decides how AsOf makes an earlier state. It replays the log from its start if the log up to
// the earlier state has less than 1/replayedLogShareDivisor of the size of the remaining log. Otherwise it reads the
// remaining log, which costs about as much for each byte, but needs memory only for the entries that changed.
const replayedLogShareDivisor = 2

// isReplayCheaper reports whether it is cheaper to replay the log up to change seq than to read the later changes.
func (d *DB) isReplayCheaper(seq uint64) bool {
	d.logmu.RLock()
	defer d.logmu.RUnlock()
	offset, ok, err := d.recordOffset(seq + 1)
	return ok && err == nil && offset < (d.log.EndOffset()-offset)/replayedLogShareDivisor
}

// stateFromLaterChanges returns the state after change seq for reading. It makes the state from the current state, and
// from the log's part after the change. An entry that has not changed since then is not read. The caller must release
// the state's snapshot. The state is nil if the log does not allow this. The caller must then use stateAt.
func (d *DB) stateFromLaterChanges(ctx context.Context, seq uint64) (*state, error) {
	// Get the current state before the changes, because the changes may be newer than the state but must not be older.
	l, err := d.openListing(ctx, store.Filter{})
	if err != nil {
		return nil, err
	}
	st, err := d.undoLaterChanges(ctx, l, seq)
	if st == nil || err != nil {
		l.close()
	}
	return st, err
}

// undoLaterChanges returns the state after change seq. The listing contains the entries of the present state. The
// returned state uses the snapshot of the listing. It is nil if the log does not allow this.
func (d *DB) undoLaterChanges(ctx context.Context, l *entryListing, seq uint64) (*state, error) {
	later, ok, err := d.LaterChanges(ctx, seq)
	if err != nil || !ok {
		return nil, err
	}
	st := newState()
	st.base, st.hiddenRows = l.base, l.hiddenRows
	l.hideRows(later.ChangedIDs())
	if err := l.base.snapshotReadError(); err != nil {
		return nil, nil // Read the log from its start instead.
	}
	for _, e := range l.entriesNotInSnapshot {
		if !later.ChangedIDs().Has(e.ID) {
			st.changedEntriesByName[e.Name] = e
		}
	}
	entries, isComplete := later.EntriesAtStart(ctx)
	for old, err := range entries {
		if err != nil {
			return nil, err
		}
		st.changedEntriesByName[old.Name] = old.Entry
	}
	if !isComplete() {
		return nil, nil
	}
	byID := func(a, b *store.Entry) int { return cmp.Compare(a.ID, b.ID) }
	st.entriesNotInSnapshotByID = slices.SortedFunc(maps.Values(st.changedEntriesByName), byID)
	return st, nil
}

// hideRows hides the snapshot's rows of the entries with these IDs.
func (l *entryListing) hideRows(ids *idset.Set) {
	if ids.Len() < l.base.len()/singleReadShareDivisor {
		for id := range ids.All() {
			if row, ok := l.base.findRow(id); ok {
				l.hiddenRows.setBit(row)
			}
		}
		return
	}
	if l.base == nil {
		return
	}
	row := 0
	// Ignore the error, because the caller gets it from snapshotReadError.
	_ = l.base.tables.EachTablePage(sectionEntries, func(rows []byte) {
		for ; len(rows) > 0; rows, row = rows[keydir.RowSize[sectionEntries]:], row+1 {
			if ids.Has(binary.LittleEndian.Uint64(rows)) {
				l.hiddenRows.setBit(row)
			}
		}
	})
}

// readOnlyStateStore is a read-only store whose state never changes. It can be used after db was closed, because it
// keeps the files of its snapshot open. A compaction or a redaction makes the snapshot unreadable. The state is then
// read from the log. If the compaction has dropped it, the methods fail with ErrBusy. If db was closed, and it had
// opened the log's directory itself, the log cannot be opened any more, and the methods fail with ErrClosed.
type readOnlyStateStore struct {
	db  *DB
	seq uint64 // number of the last change in the state

	mu       sync.Mutex // guards the fields below
	st       *state
	isClosed bool
}

// openListing returns a listing of all entries. The caller must close it.
func (v *readOnlyStateStore) openListing() (*state, *entryListing, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.isClosed {
		return nil, nil, store.ErrClosed
	}
	return v.st, &entryListing{
		base:                 v.st.base.keepFilesOpen(),
		hiddenRows:           v.st.hiddenRows,
		entriesNotInSnapshot: v.st.entriesNotInSnapshotByID,
		lastSeq:              v.seq,
	}, nil
}

func (v *readOnlyStateStore) Get(ctx context.Context, name string) (store.Entry, error) {
	st, l, err := v.openListing()
	if err != nil {
		return store.Entry{}, err
	}
	defer l.close()
	e, err := st.getEntry(name)
	if st.snapshotReadError() == nil {
		return e, err
	}
	st, err = v.replaceUnreadableState()
	if err != nil {
		return store.Entry{}, err
	}
	return st.getEntry(name)
}

// replaceUnreadableState reads the state from the log, because its snapshot could not be read. It keeps the new state
// for the next calls.
func (v *readOnlyStateStore) replaceUnreadableState() (*state, error) {
	v.mu.Lock()
	st := v.st
	v.mu.Unlock()
	if st.base == nil {
		return st, nil // Another call has read the state from the log.
	}
	st, err := v.db.stateAtForReader(v.seq)
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.isClosed {
		v.st.base.release()
		v.st = st
	}
	return st, nil
}

func (v *readOnlyStateStore) Entries(ctx context.Context, f store.Filter) iter.Seq2[store.Entry, error] {
	return func(yield func(store.Entry, error) bool) {
		_, l, err := v.openListing()
		if err != nil {
			yield(store.Entry{}, err)
			return
		}
		defer l.close()
		l.excludeUnselectedRows(f)
		yieldListedEntries(ctx, l, f, v.replaceUnreadableState, yield)
	}
}

func (v *readOnlyStateStore) Apply(context.Context, ...store.Op) error {
	return fmt.Errorf("%w: this is how it was, not how it is", store.ErrReadOnly)
}

func (v *readOnlyStateStore) Close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.isClosed {
		v.isClosed = true
		v.st.base.release()
	}
	return nil
}

// Watch implements [store.Watcher]. It sends no events, because nothing changes.
func (v *readOnlyStateStore) Watch(func(store.Event)) (stop func()) { return func() {} }

// Refresh implements [store.Watcher]. It reads nothing, because nothing changes.
func (v *readOnlyStateStore) Refresh(context.Context) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.isClosed {
		return store.ErrClosed
	}
	return nil
}
