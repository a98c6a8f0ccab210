// This file implements a process's local copy of a brain (a memory in the cluster). The copy is a local store. The
// messages (envelopes) of the brain's stream are applied to it in order.

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

// localStore is the interface for the local store that contains a process's copy of a brain (a memory in the cluster).
type localStore interface {
	oxbow.Historian
	oxbow.Committer
	oxbow.Watcher
	oxbow.Sequencer
	oxbow.Counter
	oxbow.DryRunner
	oxbow.Checker
}

// brainReplica is the local copy of a brain in this process. All open Stores of the brain share the copy.
//
// All processes create equal files from equal messages (envelopes), because a file's identity, and the time, source
// and op ID of each change, come from the messages. Therefore numbers, versions and hashes are the same in every
// process.
type brainReplica struct {
	cluster        *Cluster
	directoryEntry brainDirectoryEntry
	files          brainFiles
	openStoreCount int           // number of open stores that use this local copy of the brain (guarded by Cluster.mu)
	filesClosed    chan struct{} // closed when the files are closed (nil while stores are open; guarded by Cluster.mu)

	watchers        subscribers.List[oxbow.Event]
	headComparisons sharedHeadComparisons
	commitQueue     commitQueue

	readerStore             atomic.Pointer[localStore] // the store, for readers (nil if it is not open)
	currentEnvelopeUnixNano atomic.Int64               // time in the message (envelope) that is being applied
	lastReadSeq             atomic.Uint64              // copy of position.LastReadSeq, which can be read without locking mu
	// sequence of the last message whose existence another process has announced
	announcedMessageSeq atomic.Uint64
	// time when the local copy was last compared with the brain's last message, in nanoseconds of Options.Clock (0
	// forces a comparison)
	streamHeadComparedAt atomic.Int64

	mu               sync.Mutex // guards all fields below, so that envelopes are applied one at a time
	memory           *oxbow.Memory
	store            localStore
	position         replicaPosition
	lastChangeNumber uint64    // number of the last change in the file
	fileChainHash    string    // hash that covers all changes in the file up to lastChangeNumber
	lastMessageHash  chainHash // hash of the last message's body (zero before the first message)
	lastMessageSize  int
	envelopeInFlight *inFlightEnvelope // message (envelope) that this process is publishing (may be nil)
	isClosed         bool
}

// inFlightEnvelope is a message with changes (an envelope) that this process is publishing.
type inFlightEnvelope struct {
	envelopeID     string
	envelopeNumber uint64
	changeCount    int
	isApplied      bool
	// It is unknown whether the stream contains this envelope. This process has read a snapshot, not the messages, and
	// the snapshot lists only the IDs of recent envelopes, which are all newer than this envelope.
	isOutcomeUnknown bool
	appliedChanges   []oxbow.Change
	// error for each change in the envelope (nil if a snapshot was read that already contains the changes)
	changeErrs []error
}

// errCopyDiverged reports that the file of a replica contradicts the stream.
var errCopyDiverged = errors.New("the local copy differs from the stream")

// damageError returns an error that says what is wrong with the brain (the memory) in its stream. The error matches
// [oxbow.ErrCorrupt].
func (r *brainReplica) damageError(format string, args ...any) error {
	return fmt.Errorf(
		"%w: brain %s in stream %s: %s",
		oxbow.ErrCorrupt,
		r.directoryEntry.Name,
		r.directoryEntry.streamName(),
		fmt.Sprintf(format, args...),
	)
}

// openFiles opens the files of the local copy and continues at the stored position in the stream. If the files are
// missing, damaged, or from another cluster, they are replaced by empty files.
func (r *brainReplica) openFiles(ctx context.Context) error {
	p, ok := r.files.readPosition()
	ok = ok && p.Cluster == r.cluster.directory.clusterID
	if ok {
		err := r.openStore()
		if err == nil {
			err = r.checkPosition(ctx, p)
		}
		if err == nil {
			r.setPosition(p)
			return r.files.writePosition(r.unsyncedPosition())
		}
		r.closeStore()
	}
	if err := r.files.createDir(); err != nil {
		return err
	}
	r.setPosition(r.initialPosition())
	return r.openStore()
}

// checkPosition returns an error if the brain's local file lacks changes up to p, the stored position in the stream. If
// p is not marked as synced, checkPosition also checks the whole file for damage.
func (r *brainReplica) checkPosition(ctx context.Context, p replicaPosition) error {
	if r.lastChangeNumber < p.LastChange {
		return errCopyDiverged
	}
	if p.IsSynced {
		return nil
	}
	rep, err := r.store.Check(ctx)
	if err == nil && len(rep.Problems) > 0 {
		err = errCopyDiverged
	}
	return err
}

// initialPosition returns the position in the stream before the brain's first message. Its chain hash depends on the
// cluster, the name and the epoch of the brain.
func (r *brainReplica) initialPosition() replicaPosition {
	return replicaPosition{
		Cluster: r.cluster.directory.clusterID,
		ChainHash: sha256.Sum256(
			fmt.Appendf(
				nil,
				"oxbow brain %s %s %d",
				r.cluster.directory.clusterID,
				r.directoryEntry.Name,
				r.directoryEntry.BrainEpoch,
			),
		),
	}
}

// unsyncedPosition returns a copy of r.position that is marked as not synced. If this copy is saved with the replica's
// file, the file is checked when it is opened after a crash.
func (r *brainReplica) unsyncedPosition() replicaPosition {
	p := r.position
	p.IsSynced = false
	return p
}

func (r *brainReplica) setPosition(p replicaPosition) {
	r.position = p
	r.lastReadSeq.Store(p.LastReadSeq)
}

func (r *brainReplica) openStore() error {
	m, err := oxbow.Open(r.files.logFilePath(), &oxbow.Options{
		FS:    unsyncedFS{r.files.fsys},
		Clock: func() time.Time { return time.Unix(0, r.currentEnvelopeUnixNano.Load()) },
		Rand: newLogFileRandomSource(
			r.cluster.directory.clusterID,
			r.directoryEntry.Name,
			r.directoryEntry.BrainEpoch,
		),

		Cache: &oxbow.Cache{Bytes: r.cluster.options.CacheBytes},
	})
	if err != nil {
		return err
	}
	s, ok := m.Store().(localStore)
	if !ok {
		return errors.Join(fmt.Errorf("%w: the local store lacks an interface", oxbow.ErrUnsupported), m.Close())
	}
	r.memory, r.store = m, s
	r.readerStore.Store(&s)
	s.Watch(func(e oxbow.Event) { r.watchers.Send(e) })
	return r.readLastChange()
}

// readLastChange reads the number of the last change in the brain's local file, and the hash that covers all changes
// up to this change.
func (r *brainReplica) readLastChange() error {
	st, err := r.store.Stats(context.Background())
	if err == nil {
		r.lastChangeNumber, r.fileChainHash = st.Last, st.Head
	}
	return err
}

func (r *brainReplica) closeStore() {
	if r.memory != nil {
		_ = r.memory.Close()
	}
	r.memory, r.store = nil, nil
	r.readerStore.Store(nil)
}

// restartWithEmptyFile replaces the local copy of the brain by an empty copy, so that all messages are read again from
// the start. It also tells the watchers with a reset event that everything may have changed. The caller must have
// locked mu.
func (r *brainReplica) restartWithEmptyFile() error {
	r.closeStore()
	if err := r.files.createDir(); err != nil {
		return err
	}
	r.setPosition(r.initialPosition())
	err := r.openStore()
	r.watchers.Send(oxbow.Event{Reset: true})
	return err
}

// closeFiles closes the files of the local copy and makes them durable. It also stores the position up to which the
// stream was read, so that the next start continues there.
func (r *brainReplica) closeFiles() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.isClosed = true
	if r.memory == nil {
		return nil
	}
	r.readerStore.Store(nil)
	err := r.memory.Close()
	r.memory, r.store = nil, nil
	if err == nil {
		err = r.files.syncLog()
	}
	if err != nil {
		return err
	}
	p := r.position
	p.IsSynced = true
	return r.files.writePosition(p)
}

// applyMessage applies a message, unless it was applied before. The caller must have locked mu.
func (r *brainReplica) applyMessage(ctx context.Context, m streamMessage) error {
	if m.Seq <= r.position.LastReadSeq {
		return nil
	}
	e, hash, err := decodeEnvelope(m.Data)
	if err != nil {
		return fmt.Errorf("message %d of stream %s: %w", m.Seq, r.directoryEntry.streamName(), err)
	}
	return r.applyAndRecordEnvelope(ctx, e, hash, m.Seq, len(m.Data))
}

// applyAndRecordEnvelope applies the changes of an envelope to the local store. Then it records that the envelope's
// message is the last message that was read. The caller must have locked mu.
func (r *brainReplica) applyAndRecordEnvelope(
	ctx context.Context,
	e *envelope,
	hash chainHash,
	seq uint64,
	size int,
) error {
	err := r.applyEnvelope(ctx, e, hash, seq, size)
	if err == nil {
		r.lastMessageHash, r.lastMessageSize = hash, size
	}
	return err
}

// applyEnvelope applies the changes or the snapshot in an envelope, a message of the brain's stream, to the local
// store. The caller must have locked mu.
func (r *brainReplica) applyEnvelope(ctx context.Context, e *envelope, hash chainHash, seq uint64, size int) error {
	if e.BrainName != r.directoryEntry.Name || e.BrainEpoch != r.directoryEntry.BrainEpoch {
		return r.damageError("message %d is of brain %s, epoch %d", seq, e.BrainName, e.BrainEpoch)
	}
	if e.Snapshot != nil {
		return r.applySnapshot(ctx, e, seq, size)
	}
	switch {
	case e.EnvelopeNumber != r.position.EnvelopeNumber+1:
		return r.damageError(
			"message %d holds envelope %d where %d is expected",
			seq,
			e.EnvelopeNumber,
			r.position.EnvelopeNumber+1,
		)
	case e.PrevChainHash != r.position.ChainHash:
		return r.damageError("envelope %d does not continue the chain", e.EnvelopeNumber)
	case e.LastChangeBefore > r.lastChangeNumber,
		e.LastChangeBefore == r.lastChangeNumber && e.FileChainHash != "" && e.FileChainHash != r.fileChainHash:
		return fmt.Errorf("%w: brain %s before envelope %d", errCopyDiverged, r.directoryEntry.Name, e.EnvelopeNumber)
	}
	r.currentEnvelopeUnixNano.Store(e.ChangeTime)
	made, errs := make([]oxbow.Change, len(e.Changes)), make([]error, len(e.Changes))
	for i := range e.Changes {
		made[i].Seq = e.LastChangeBefore + 1 + uint64(i)
		if made[i].Seq <= r.lastChangeNumber {
			// The file contains this change, but a crash happened before the new position in the stream was written.
			// Do not make the change twice.
			continue
		}
		var decided bool
		made[i], decided, errs[i] = r.applyRequestedChange(&e.Changes[i])
		if errs[i] != nil && !decided {
			return errors.Join(
				errCopyDiverged,
				fmt.Errorf("brain %s, envelope %d: %w", r.directoryEntry.Name, e.EnvelopeNumber, errs[i]),
			)
		}
	}
	if err := r.readLastChange(); err != nil {
		return err
	}
	if f := r.envelopeInFlight; f != nil && f.envelopeID == e.EnvelopeID {
		f.isApplied = true
		f.appliedChanges = made
		f.changeErrs = errs
	}
	r.advancePosition(e, hash, seq, size)
	return nil
}

// advancePosition updates the position up to which the local copy has read the stream, after the envelope e was
// applied. The arguments hash, seq and size are the chain hash, the sequence number and the size in bytes of the
// message with the envelope.
func (r *brainReplica) advancePosition(e *envelope, hash chainHash, seq uint64, size int) {
	p := r.position
	p.LastReadSeq = seq
	p.EnvelopeNumber = e.EnvelopeNumber
	p.ChainHash = hash
	p.EnvelopeTime = e.ChangeTime
	p.LastChange = e.LastChangeBefore + uint64(len(e.Changes))
	if c := &e.Changes[0]; c.Ops == nil && r.lastChangeNumber == e.LastChangeBefore {
		// The first change is a revert that was refused, so the number for a change was not used.
		p.LastChange = e.LastChangeBefore
	}
	p.RecentEnvelopeIDs = append(p.RecentEnvelopeIDs, e.EnvelopeID)
	if len(p.RecentEnvelopeIDs) >= 2*minRecentEnvelopeIDs {
		p.RecentEnvelopeIDs = slices.Clone(p.RecentEnvelopeIDs[len(p.RecentEnvelopeIDs)-minRecentEnvelopeIDs:])
	}
	p.BytesAfterSnapshot += int64(size)
	p.EnvelopesAfterSnapshot++
	r.setPosition(p)
	if p.EnvelopesAfterSnapshot%512 == 0 {
		// Ignore the error. If the position in the stream is not stored, the next start of the process only reads some
		// messages again.
		_ = r.files.writePosition(r.unsyncedPosition())
	}
}

// applyRequestedChange makes a change in the local copy of the memory and returns the change. For a revert or a
// restore, only the field Seq (the change's number) of appliedChange is set.
//
// The memory has copies in several processes. The result hasSameResultEverywhere tells whether a failed revert or
// restore fails in the same way in all copies, for example because the entry does not exist. For other errors, and for
// all other changes, hasSameResultEverywhere is false.
func (r *brainReplica) applyRequestedChange(
	c *requestedChange,
) (appliedChange oxbow.Change, hasSameResultEverywhere bool, err error) {
	ctx := c.contextForStore()
	switch {
	case c.RevertedSeqs != nil:
		appliedChange.Seq, err = r.store.Revert(ctx, c.RevertedSeqs...)
	case c.RestoredVersion != nil && c.RestoredVersion.Version != nil:
		appliedChange.Seq, err = r.store.RestoreIf(
			ctx,
			c.RestoredVersion.Name,
			c.RestoredVersion.Seq,
			*c.RestoredVersion.Version,
		)
	case c.RestoredVersion != nil:
		appliedChange.Seq, err = r.store.Restore(ctx, c.RestoredVersion.Name, c.RestoredVersion.Seq)
	default:
		var ops []oxbow.Op
		ops, err = c.decodeOps()
		if err == nil {
			appliedChange, err = r.store.Commit(ctx, ops...)
		}
		r.lastChangeNumber++
		return appliedChange, false, err
	}
	if err == nil {
		r.lastChangeNumber = max(r.lastChangeNumber, appliedChange.Seq)
	}
	for _, e := range []error{oxbow.ErrConflict, oxbow.ErrNotFound, oxbow.ErrInvalid, oxbow.ErrUnsupported} {
		hasSameResultEverywhere = hasSameResultEverywhere || errors.Is(err, e)
	}
	return appliedChange, hasSameResultEverywhere, err
}

// changeByOpID looks for a change with the op ID opID in the store. It returns true and the change if it finds one. If
// opID belongs to a different call, it returns true and an error that matches [oxbow.ErrOpIDUsed]. If opID is empty, it
// returns false. The caller must have locked mu.
//
// To find the change, changeByOpID sends the store an impossible change with the same op ID. The store answers with the
// existing change, or refuses the impossible change.
func (r *brainReplica) changeByOpID(opID string) (bool, oxbow.Change, error) {
	if opID == "" {
		return false, oxbow.Change{}, nil
	}
	made, err := r.store.Commit(oxbow.WithOpID(context.Background(), opID), oxbow.Remove{Name: "none", If: ^uint64(0)})
	if errors.Is(err, oxbow.ErrOpIDUsed) {
		return true, oxbow.Change{}, err
	}
	return err == nil, made, nil
}
