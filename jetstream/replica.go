// This file implements a brain's replica, a local store to which the envelopes of the stream are
// applied in order.

package jetstream

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/subscribers"
)

// localStore is the interface of the replica's store.
type localStore interface {
	oxbow.Historian
	oxbow.Committer
	oxbow.Watcher
	oxbow.Sequencer
	oxbow.Counter
	oxbow.DryRunner
	oxbow.Checker
}

// replica is a brain in this process. All handles of the brain share the replica.
//
// Equal envelopes create equal files, because the identity of the log and the time, source and op
// ID of each change come from the envelopes. Therefore numbers, versions and chain are the same on
// every node.
type replica struct {
	cluster     *Cluster
	brain       brainInfo
	files       brainFiles
	handles     int           // guarded by Cluster.mu
	filesClosed chan struct{} // closed when the files are closed; nil while handles exist; guarded by Cluster.mu

	watchers subscribers.List[oxbow.Event]
	rounds   sharedRounds
	queue    commitQueue

	readerStore  atomic.Pointer[localStore] // the store, for readers (nil if it is not open)
	clock        atomic.Int64               // time of the envelope that is being applied
	seq          atomic.Uint64              // copy of at.Seq, for readers
	announcedSeq atomic.Uint64              // sequence of the last message that an invalidation announced
	// time of the last comparison with the head, in nanoseconds of Options.Clock; 0 forces a
	// comparison
	confirmedAt atomic.Int64

	mu       sync.Mutex // guards all following fields, so that envelopes are applied one at a time
	mem      *oxbow.Memory
	store    localStore
	at       cachedPlace
	last     uint64    // number of the last change in the file
	head     string    // chain of the file at that change
	lastSum  chainHash // hash of the last message's body (zero if no message was read)
	sumSize  int
	flight   *flight // the envelope that this process is publishing, or nil
	isClosed bool
}

// flight is an envelope that is being published.
type flight struct {
	id        string
	n         uint64
	changes   int
	isApplied bool
	isLost    bool // a snapshot may contain the envelope, but is too new to list its ID
	made      []oxbow.Change
	errs      []error // errors of its changes (nil if the envelope was applied with a snapshot)
}

// errDiverged reports that a replica contradicts its stream.
var errDiverged = errors.New("the local copy differs from the stream")

// damageError returns an error about the stream that matches [oxbow.ErrCorrupt].
func (r *replica) damageError(format string, args ...any) error {
	return fmt.Errorf(
		"%w: brain %s in stream %s: %s",
		oxbow.ErrCorrupt,
		r.brain.Name,
		r.brain.stream(),
		fmt.Sprintf(format, args...),
	)
}

// openFiles opens the files of the replica. If the files are missing or cannot be used, the replica starts with empty
// files.
func (r *replica) openFiles(ctx context.Context) error {
	p, ok := r.files.readPlace()
	ok = ok && p.Cluster == r.cluster.dir.id
	if ok {
		err := r.openStore()
		if err == nil {
			err = r.checkPlace(ctx, p)
		}
		if err == nil {
			r.setPlace(p)
			return r.files.writePlace(r.unsyncedPlace())
		}
		r.closeStore()
	}
	if err := r.files.createDir(); err != nil {
		return err
	}
	r.setPlace(r.startPlace())
	return r.openStore()
}

// checkPlace returns an error if the file is not in the state that the place p describes.
func (r *replica) checkPlace(ctx context.Context, p cachedPlace) error {
	if r.last < p.Last {
		return errDiverged
	}
	if p.Clean {
		return nil
	}
	rep, err := r.store.Check(ctx)
	if err == nil && len(rep.Problems) > 0 {
		err = errDiverged
	}
	return err
}

// startPlace returns the place before the first envelope.
func (r *replica) startPlace() cachedPlace {
	return cachedPlace{
		Cluster: r.cluster.dir.id,
		Hash:    sha256.Sum256(fmt.Appendf(nil, "oxbow brain %s %s %d", r.cluster.dir.id, r.brain.Name, r.brain.Epoch)),
	}
}

// unsyncedPlace returns the current place, marked as not synced.
func (r *replica) unsyncedPlace() cachedPlace {
	p := r.at
	p.Clean = false
	return p
}

func (r *replica) setPlace(p cachedPlace) {
	r.at = p
	r.seq.Store(p.Seq)
}

func (r *replica) openStore() error {
	m, err := oxbow.Open(r.files.logPath(), &oxbow.Options{
		FS:    unsyncedFS{r.files.fsys},
		Clock: func() time.Time { return time.Unix(0, r.clock.Load()) },
		Rand:  newIdentity(r.cluster.dir.id, r.brain.Name, r.brain.Epoch),

		Cache: &oxbow.Cache{Bytes: r.cluster.opts.CacheBytes},
	})
	if err != nil {
		return err
	}
	s, ok := m.Store().(localStore)
	if !ok {
		return errors.Join(fmt.Errorf("%w: the local store lacks an interface", oxbow.ErrUnsupported), m.Close())
	}
	r.mem, r.store = m, s
	r.readerStore.Store(&s)
	s.Watch(func(e oxbow.Event) { r.watchers.Send(e) })
	return r.readLastChange()
}

// readLastChange reads the number and the chain of the file's last change.
func (r *replica) readLastChange() error {
	st, err := r.store.Stats(context.Background())
	if err == nil {
		r.last, r.head = st.Last, st.Head
	}
	return err
}

func (r *replica) closeStore() {
	if r.mem != nil {
		_ = r.mem.Close()
	}
	r.mem, r.store = nil, nil
	r.readerStore.Store(nil)
}

// rebuild starts again with an empty file. The caller must hold mu.
func (r *replica) rebuild() error {
	r.closeStore()
	if err := r.files.createDir(); err != nil {
		return err
	}
	r.setPlace(r.startPlace())
	err := r.openStore()
	r.watchers.Send(oxbow.Event{Reset: true})
	return err
}

// closeFiles writes the place and closes the files.
func (r *replica) closeFiles() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.isClosed = true
	if r.mem == nil {
		return nil
	}
	r.readerStore.Store(nil)
	err := r.mem.Close()
	r.mem, r.store = nil, nil
	if err == nil {
		err = r.files.syncLog()
	}
	if err != nil {
		return err
	}
	p := r.at
	p.Clean = true
	return r.files.writePlace(p)
}

// readMessage applies a message, unless it was applied before. The caller must hold mu.
func (r *replica) readMessage(ctx context.Context, m streamMessage) error {
	if m.Seq <= r.at.Seq {
		return nil
	}
	e, hash, err := decodeEnvelope(m.Data)
	if err != nil {
		return fmt.Errorf("message %d of stream %s: %w", m.Seq, r.brain.stream(), err)
	}
	return r.takeEnvelope(ctx, e, hash, m.Seq, len(m.Data))
}

// takeEnvelope applies an envelope and records it as the last message. The caller must hold mu.
func (r *replica) takeEnvelope(ctx context.Context, e *envelope, hash chainHash, seq uint64, size int) error {
	err := r.applyEnvelope(ctx, e, hash, seq, size)
	if err == nil {
		r.lastSum, r.sumSize = hash, size
	}
	return err
}

// applyEnvelope applies an envelope. The caller must hold mu.
func (r *replica) applyEnvelope(ctx context.Context, e *envelope, hash chainHash, seq uint64, size int) error {
	if e.Brain != r.brain.Name || e.Epoch != r.brain.Epoch {
		return r.damageError("message %d is of brain %s, epoch %d", seq, e.Brain, e.Epoch)
	}
	if e.Snapshot != nil {
		return r.applySnapshot(ctx, e, seq, size)
	}
	switch {
	case e.N != r.at.N+1:
		return r.damageError("message %d holds envelope %d where %d is expected", seq, e.N, r.at.N+1)
	case e.Prev != r.at.Hash:
		return r.damageError("envelope %d does not continue the chain", e.N)
	case e.Base > r.last, e.Base == r.last && e.State != "" && e.State != r.head:
		return fmt.Errorf("%w: brain %s before envelope %d", errDiverged, r.brain.Name, e.N)
	}
	r.clock.Store(e.Time)
	made, errs := make([]oxbow.Change, len(e.Changes)), make([]error, len(e.Changes))
	for i := range e.Changes {
		made[i].Seq = e.Base + 1 + uint64(i)
		if made[i].Seq <= r.last {
			continue // the change was applied before a crash, but after the place was last written
		}
		var decided bool
		made[i], decided, errs[i] = r.applyChange(&e.Changes[i])
		if errs[i] != nil && !decided {
			return errors.Join(errDiverged, fmt.Errorf("brain %s, envelope %d: %w", r.brain.Name, e.N, errs[i]))
		}
	}
	if err := r.readLastChange(); err != nil {
		return err
	}
	if f := r.flight; f != nil && f.id == e.ID {
		f.isApplied = true
		f.made = made
		f.errs = errs
	}
	r.advancePlace(e, hash, seq, size)
	return nil
}

// advancePlace updates the place after an envelope.
func (r *replica) advancePlace(e *envelope, hash chainHash, seq uint64, size int) {
	p := r.at
	p.Seq = seq
	p.N = e.N
	p.Hash = hash
	p.Time = e.Time
	p.Last = e.Base + uint64(len(e.Changes))
	if c := &e.Changes[0]; c.Ops == nil && r.last == e.Base {
		p.Last = e.Base // a refused revert does not use a number
	}
	p.Recent = append(p.Recent, e.ID)
	if len(p.Recent) >= 2*recentIDs {
		p.Recent = slices.Clone(p.Recent[len(p.Recent)-recentIDs:])
	}
	p.Tail += int64(size)
	p.Envs++
	r.setPlace(p)
	if p.Envs%512 == 0 {
		_ = r.files.writePlace(r.unsyncedPlace()) // ignore the error: the place only saves reading again
	}
}

// applyChange makes a change in the file and returns the change. For a revert or a restore, only
// the number is set. If decided is true, every replica has the same outcome, whether success or
// error.
func (r *replica) applyChange(c *brainChange) (made oxbow.Change, decided bool, err error) {
	ctx := c.makeContext()
	switch {
	case c.Revert != nil:
		made.Seq, err = r.store.Revert(ctx, c.Revert...)
	case c.Restore != nil && c.Restore.Version != nil:
		made.Seq, err = r.store.RestoreIf(ctx, c.Restore.Name, c.Restore.Seq, *c.Restore.Version)
	case c.Restore != nil:
		made.Seq, err = r.store.Restore(ctx, c.Restore.Name, c.Restore.Seq)
	default:
		var ops []oxbow.Op
		ops, err = c.decodeOps()
		if err == nil {
			made, err = r.store.Commit(ctx, ops...)
		}
		r.last++
		return made, false, err
	}
	if err == nil {
		r.last = max(r.last, made.Seq)
	}
	for _, e := range []error{oxbow.ErrConflict, oxbow.ErrNotFound, oxbow.ErrInvalid, oxbow.ErrUnsupported} {
		decided = decided || errors.Is(err, e)
	}
	return made, decided, err
}

// changeByOpID reports whether the file contains a change with an op ID, and returns the change. It
// returns an error if the ID belongs to a different call. To find out, it tries a change that is
// always invalid. This succeeds only if the store already has the op ID. The caller must hold mu.
func (r *replica) changeByOpID(opID string) (bool, oxbow.Change, error) {
	if opID == "" {
		return false, oxbow.Change{}, nil
	}
	made, err := r.store.Commit(oxbow.WithOpID(context.Background(), opID), oxbow.Remove{Name: "none", If: ^uint64(0)})
	if errors.Is(err, oxbow.ErrOpIDUsed) {
		return true, oxbow.Change{}, err
	}
	return err == nil, made, nil
}
