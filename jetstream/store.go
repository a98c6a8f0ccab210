// This file implements [oxbow.Store] and its history for a brain (a memory in the cluster).

package jetstream

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/remote/opjson"
	"github.com/oxbow-memory/oxbow/store/heads"
)

// Store is an open brain, which is a memory in the cluster. It implements [oxbow.Store].
type Store struct {
	brainReplica *brainReplica
	closed       atomic.Bool

	mu           sync.Mutex // guards the field below
	stopWatchers []func()
}

var _ interface {
	localStore
	oxbow.HeadViewer
} = (*Store)(nil)

// currentStore returns the replica's store after the replica has received all changes that were
// acknowledged before the call.
func (s *Store) currentStore(ctx context.Context) (localStore, error) {
	for {
		if s.closed.Load() {
			return nil, oxbow.ErrClosed
		}
		if err := s.brainReplica.catchUpForRead(ctx); err != nil {
			return nil, err
		}
		if v := s.brainReplica.readerStore.Load(); v != nil {
			return *v, nil
		}
		s.brainReplica.streamHeadComparedAt.Store(0)
	}
}

// withStore calls fn with the store of the local copy, and returns its results. If this store was closed during the
// call, because another store replaced it, withStore calls fn again with the new store.
func withStore[T any](ctx context.Context, s *Store, fn func(localStore) (T, error)) (T, error) {
	for {
		v, err := s.currentStore(ctx)
		if err != nil {
			var none T
			return none, err
		}
		t, err := fn(v)
		if !errors.Is(err, oxbow.ErrClosed) {
			return t, err
		}
	}
}

// eachElement calls listElements with the current local copy of the brain, and yields the elements that it returns,
// such as entries.
func eachElement[T any](
	ctx context.Context,
	s *Store,
	listElements func(localStore) iter.Seq2[T, error],
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		v, err := s.currentStore(ctx)
		if err != nil {
			var none T
			yield(none, err)
			return
		}
		listElements(v)(yield)
	}
}

// Get implements [oxbow.Store].
func (s *Store) Get(ctx context.Context, name string) (oxbow.Entry, error) {
	return withStore(ctx, s, func(v localStore) (oxbow.Entry, error) { return v.Get(ctx, name) })
}

// Entries implements [oxbow.Store].
func (s *Store) Entries(ctx context.Context, f oxbow.Filter) iter.Seq2[oxbow.Entry, error] {
	return eachElement(ctx, s, func(v localStore) iter.Seq2[oxbow.Entry, error] { return v.Entries(ctx, f) })
}

// Apply implements [oxbow.Store].
func (s *Store) Apply(ctx context.Context, ops ...oxbow.Op) error {
	_, err := s.Commit(ctx, ops...)
	return err
}

// Commit implements [oxbow.Committer]. The result is empty if the change was stored, but the replica failed before the
// change was applied to it.
func (s *Store) Commit(ctx context.Context, ops ...oxbow.Op) (oxbow.Change, error) {
	if err := s.checkOpen(ctx); err != nil || len(ops) == 0 {
		return oxbow.Change{}, err
	}
	q := &commitRequest{ops: ops}
	for _, op := range ops {
		if err := op.Check(); err != nil {
			return oxbow.Change{}, err
		}
		w, err := opjson.EncodeOp(op)
		if err != nil {
			return oxbow.Change{}, err
		}
		q.change.Ops = append(q.change.Ops, w)
		q.changedNames = append(q.changedNames, op.Target())
		switch op := op.(type) {
		case oxbow.Add:
			q.textBytes, q.needsOwnEnvelope = q.textBytes+len(op.Content), q.needsOwnEnvelope || op.UniqueAliases
		case oxbow.Update:
			q.textBytes, q.needsOwnEnvelope = q.textBytes+len(op.Content), q.needsOwnEnvelope || op.UniqueAliases
		}
	}
	return s.brainReplica.commit(ctx, q)
}

func (s *Store) checkOpen(ctx context.Context) error {
	if s.closed.Load() {
		return oxbow.ErrClosed
	}
	return ctx.Err()
}

// DryRun implements [oxbow.DryRunner].
func (s *Store) DryRun(ctx context.Context, ops ...oxbow.Op) error {
	_, err := withStore(ctx, s, func(v localStore) (struct{}, error) { return struct{}{}, v.DryRun(ctx, ops...) })
	return err
}

// Log implements [oxbow.Historian].
func (s *Store) Log(ctx context.Context) iter.Seq2[oxbow.Change, error] {
	return eachElement(ctx, s, func(v localStore) iter.Seq2[oxbow.Change, error] { return v.Log(ctx) })
}

// Versions implements [oxbow.Historian].
func (s *Store) Versions(ctx context.Context, name string) iter.Seq2[oxbow.Version, error] {
	return eachElement(ctx, s, func(v localStore) iter.Seq2[oxbow.Version, error] { return v.Versions(ctx, name) })
}

// AsOf implements [oxbow.Historian].
func (s *Store) AsOf(ctx context.Context, seq uint64) (oxbow.Store, error) {
	return withStore(ctx, s, func(v localStore) (oxbow.Store, error) { return v.AsOf(ctx, seq) })
}

// SeqAt implements [oxbow.Historian].
func (s *Store) SeqAt(ctx context.Context, t time.Time) (uint64, error) {
	return withStore(ctx, s, func(v localStore) (uint64, error) { return v.SeqAt(ctx, t) })
}

// Revert implements [oxbow.Historian].
func (s *Store) Revert(ctx context.Context, seqs ...uint64) (uint64, error) {
	if len(seqs) == 0 {
		return 0, &oxbow.InvalidError{Field: "change", Reason: "is missing: name the changes to undo"}
	}
	return s.commitRevertOrRestore(ctx, requestedChange{RevertedSeqs: slices.Clone(seqs)})
}

// Restore implements [oxbow.Historian].
func (s *Store) Restore(ctx context.Context, name string, seq uint64) (uint64, error) {
	return s.commitRevertOrRestore(ctx, requestedChange{RestoredVersion: &restoredVersion{Name: name, Seq: seq}})
}

// RestoreIf implements [oxbow.Historian].
func (s *Store) RestoreIf(ctx context.Context, name string, seq, version uint64) (uint64, error) {
	return s.commitRevertOrRestore(ctx, requestedChange{RestoredVersion: &restoredVersion{name, seq, &version}})
}

// commitRevertOrRestore commits a change that undoes changes or restores a version, and returns the number of the
// change. Such a change does not contain its effects. Each replica of the store computes the effects when it applies
// the change.
func (s *Store) commitRevertOrRestore(ctx context.Context, c requestedChange) (uint64, error) {
	if err := s.checkOpen(ctx); err != nil {
		return 0, err
	}
	if c.RestoredVersion != nil {
		if err := oxbow.CheckName(c.RestoredVersion.Name); err != nil {
			return 0, &oxbow.NameError{Name: c.RestoredVersion.Name, Err: oxbow.ErrNotFound}
		}
	}
	made, err := s.brainReplica.commit(ctx, &commitRequest{change: c, needsOwnEnvelope: true})
	return made.Seq, err
}

// Watch implements [oxbow.Watcher].
func (s *Store) Watch(fn func(oxbow.Event)) (stop func()) {
	stop = s.brainReplica.watchers.Add(fn)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopWatchers = append(s.stopWatchers, stop)
	return stop
}

// Refresh implements [oxbow.Watcher].
func (s *Store) Refresh(ctx context.Context) error {
	_, err := s.currentStore(ctx)
	return err
}

// Position implements [oxbow.Sequencer].
func (s *Store) Position(ctx context.Context) (oxbow.Position, error) {
	return withStore(ctx, s, func(v localStore) (oxbow.Position, error) { return v.Position(ctx) })
}

// Since implements [oxbow.Sequencer].
func (s *Store) Since(ctx context.Context, p oxbow.Position) iter.Seq2[oxbow.Delta, error] {
	return eachElement(ctx, s, func(v localStore) iter.Seq2[oxbow.Delta, error] { return v.Since(ctx, p) })
}

// ViewHeads implements [oxbow.HeadViewer] for the entries in the local copy of the brain.
func (s *Store) ViewHeads(
	ctx context.Context,
	keys, names []string,
	fn func(all iter.Seq2[oxbow.Head, error], read func(ids []uint64) ([]*oxbow.Entry, error)) error,
) (bool, error) {
	v, err := s.currentStore(ctx)
	if err != nil {
		return true, err
	}
	return true, heads.View(ctx, v, heads.Needs{Keys: keys, Names: names}, func(l heads.List) error {
		return fn(l.All, l.Read)
	})
}

// Check implements [oxbow.Checker]. It updates the local copy to the brain's last message in the stream, and then
// checks the file of this copy.
func (s *Store) Check(ctx context.Context) (oxbow.CheckReport, error) {
	if err := s.checkOpen(ctx); err != nil {
		return oxbow.CheckReport{}, err
	}
	if err := s.brainReplica.compareWithStreamHead(ctx); err != nil {
		return oxbow.CheckReport{}, err
	}
	return withStore(ctx, s, func(v localStore) (oxbow.CheckReport, error) { return v.Check(ctx) })
}

// Stats implements [oxbow.Counter].
func (s *Store) Stats(ctx context.Context) (oxbow.Stats, error) {
	return withStore(ctx, s, func(v localStore) (oxbow.Stats, error) { return v.Stats(ctx) })
}

// Lag describes how outdated a read may be. It is useful if Options.Announced is set, because reads then do not ask the
// servers.
type Lag struct {
	Attached bool          // the messages by which other processes announce changes are arriving
	Age      time.Duration // time since the local copy was last compared with the brain's last message in the stream
	Behind   bool          // another process has announced a change that was not read from the stream yet
}

// Lag returns how outdated a read would be now.
func (s *Store) Lag() Lag {
	r := s.brainReplica
	age := time.Duration(r.cluster.options.Clock().UnixNano() - r.streamHeadComparedAt.Load())
	return Lag{r.cluster.receivesInvalidations.Load(), age, r.announcedMessageSeq.Load() > r.lastReadSeq.Load()}
}

// Close implements [oxbow.Store].
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return oxbow.ErrClosed
	}
	s.mu.Lock()
	for _, stop := range s.stopWatchers {
		stop()
	}
	s.mu.Unlock()
	return s.brainReplica.cluster.releaseReplica(s.brainReplica)
}
