// This file implements group commit. Concurrent changes are staged on top of the state, appended to the log together,
// and synced once. Only then are they visible and acknowledged.

package logstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/internal/screening/screen"
	"github.com/oxbow-memory/oxbow/store"
)

// Apply implements [store.Store].
func (d *DB) Apply(ctx context.Context, ops ...store.Op) error {
	if err := d.checkOps(ctx, ops); err != nil || len(ops) == 0 {
		return err
	}
	return d.commitChange(ctx, stageOps(ops)).err
}

// Commit implements [store.Committer].
func (d *DB) Commit(ctx context.Context, ops ...store.Op) (store.Change, error) {
	if err := d.checkOps(ctx, ops); err != nil || len(ops) == 0 {
		return store.Change{}, err
	}
	r := d.commitChange(ctx, stageOps(ops))
	if r.err != nil {
		return store.Change{}, r.err
	}
	if r.writtenBody != nil {
		return decodeChange(r.seq, r.chainHash, r.writtenBody), nil
	}
	// An earlier call with the same op ID has made the change.
	rec, v, ok, err := d.readChangeRecord(r.seq)
	if !ok || err != nil {
		// Return no error, because the change with the number r.seq was made even if reading its log record fails.
		return store.Change{Seq: r.seq}, nil
	}
	return decodeChange(r.seq, rec.ChainHash, v), nil
}

// checkOps returns an error if the store is closed or read-only, if ctx is done, or if one of the ops is invalid. An
// invalid op cannot be applied to any store.
func (d *DB) checkOps(ctx context.Context, ops []store.Op) error {
	err := d.checkOpenAndContext(ctx)
	for _, op := range ops {
		if err != nil {
			break
		}
		err = op.Check()
	}
	return err
}

// DryRun implements [store.DryRunner]. It also fails if the change would be too large for a record.
func (d *DB) DryRun(ctx context.Context, ops ...store.Op) error {
	for _, op := range ops {
		if err := op.Check(); err != nil {
			return err
		}
	}
	var v *recordBody
	var err error
	if rerr := d.withState(ctx, func(st *state) {
		g := &commitBatch{stagedByName: map[string]*store.Entry{}, removedNames: map[string]uint64{}, st: st,
			nextEntryID: st.nextEntryID,
			changeTime:  d.opts.Clock().UTC()}
		v, err = stageOps(ops)(g)
	}); rerr != nil || err != nil {
		return cmp.Or(rerr, err)
	}
	f := stagedChange{body: v}
	defer f.releaseEncodedBody()
	return f.checkSize()
}

// errBatchPanicked is the error of each request in a batch during which the program panicked.
var errBatchPanicked = fmt.Errorf("%w: the program panicked meanwhile", store.ErrUnknownOutcome)

// commitChange makes a change durable. stageChange stages the change in a batch. The returned request is finished: it
// has the number of the change, or an error.
func (d *DB) commitChange(ctx context.Context, stageChange func(g *commitBatch) (*recordBody, error)) *commitRequest {
	r := newCommitRequest(ctx, stageChange)
	if len(store.OpIDFrom(ctx)) > 64 {
		r.finishRequest(0, &store.InvalidError{
			Field:  "op id",
			Value:  text.TruncateWithEllipsis(store.OpIDFrom(ctx), 40),
			Reason: "is longer than 64 bytes",
		})
		return r
	}
	d.checkpointer.countCall()
	if !d.queue.enqueue(r) {
		<-r.wake
	}
	if r.isFinished() {
		return r
	}
	// This caller commits all waiting change requests, including its own.
	d.writerMu.Lock()
	batch := d.queue.takeAllRequests()
	err := errBatchPanicked
	defer func() {
		isCanceled := err != nil && err == ctx.Err()
		if isCanceled && !r.isFinished() {
			// Nothing was written, so only the canceled request fails.
			r.finishRequest(0, err)
		} else {
			for _, o := range batch {
				if !o.isFinished() {
					o.finishRequest(0, err)
				}
			}
		}
		d.writerMu.Unlock()
		d.queue.passLeadership(batch)
	}()
	err = d.withLock(ctx, func() error {
		err := d.commitRequests(batch)
		// The commit wrote nothing, because the snapshot is damaged. Read the state from the log again.
		if errors.Is(err, errUnusableSnapshot) {
			err = d.reload()
			if err == nil {
				err = d.commitRequests(slices.DeleteFunc(slices.Clone(batch), (*commitRequest).isFinished))
			}
		}
		return err
	})
	return r
}

// withExclusiveLock is like withLock, but also waits until no other goroutine of this process writes.
func (d *DB) withExclusiveLock(ctx context.Context, fn func() error) error {
	d.writerMu.Lock()
	defer d.writerMu.Unlock()
	return d.withLock(ctx, fn)
}

// withLock calls fn while it holds the lock that keeps other processes from writing, and has exclusive access to the
// log. Before it calls fn, it reads the changes that other processes have made. The caller must hold writerMu.
func (d *DB) withLock(ctx context.Context, fn func() error) error {
	if err := d.checkOpenAndContext(ctx); err != nil {
		return err
	}
	if err := d.log.Lock(ctx); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return d.convertWALError(err)
	}
	d.readNewRecordsMu.Lock()
	d.logmu.Lock()
	defer d.logmu.Unlock()
	defer d.log.Unlock()
	defer d.isAppending.Store(false)
	if err := d.readChangesBeforeAppend(); err != nil {
		return err
	}
	return d.convertWALError(fn())
}

// readChangesBeforeAppend reads the changes that other processes have made. It is called before this process appends a
// change. The caller must hold readNewRecordsMu, and readChangesBeforeAppend releases it. If there is no error, it sets
// d.isAppending to true. This means that all changes in the log have been read, and that no other goroutine appends
// until the append ends.
func (d *DB) readChangesBeforeAppend() error {
	defer d.readNewRecordsMu.Unlock()
	if d.brokenErr != nil {
		return d.brokenErr
	}
	_, err := d.log.PollChanges()
	if err == nil && d.log.HaveReadBytesChanged() {
		err = d.reload()
	}
	if err == nil {
		err = d.applyOtherProcessChanges()
	}
	d.isAppending.Store(err == nil)
	return err
}

// commitRequests stages the requests of a batch, appends the valid changes, and makes them visible. An invalid request
// does not affect the requests after it. A request may be invalid because of an earlier change in the batch, for
// example because both use the same name. Such a request gets its error only after the earlier change is durable,
// because the earlier change may still fail.
func (d *DB) commitRequests(batch []*commitRequest) error {
	g := d.newBatch()
	defer d.keepBatchForReuse(g)
	// A log record cannot contain a time outside of the years 1678 to 2262.
	if isClampedTime(clampedNanoseconds(g.changeTime)) {
		return &store.InvalidError{
			Field:  "clock",
			Value:  g.changeTime.Format(time.RFC3339),
			Reason: "is not of the years 1678 to 2262",
		}
	}
	drafts, later, err := d.stageRequests(g, batch)
	if err != nil || len(drafts) == 0 {
		return err
	}
	recs, err := d.appendDrafts(drafts, g.changeTime)
	if err != nil {
		return err // The caller, withLock, converts the error from package wal to one of package store.
	}
	d.applyDurableChanges(recs, drafts)
	for i, rec := range recs {
		r := drafts[i].request
		r.writtenBody, r.chainHash = drafts[i].body, rec.ChainHash
		r.finishRequest(rec.Seq, nil)
	}
	for _, finish := range later {
		finish()
	}
	if d.sealTimer != nil {
		d.sealTimer.Reset(d.opts.DelayBeforeSeal)
	}
	d.onChangeByThisProcess()
	return nil
}

// stageRequests prepares the requested changes, and returns the changes to append to the log. A request adds no change
// if it fails, or if an earlier change has the same op ID.
//
// A request that adds no change is finished at once, unless an earlier request of the batch has added a change. In that
// case, the request's result may depend on a change that is not durable yet. Therefore stageRequests appends a function
// to deferredFinishFuncs, and the caller must call this function when the changes are durable. stageRequests returns an
// error only if the snapshot cannot be read.
func (d *DB) stageRequests(
	g *commitBatch,
	requests []*commitRequest,
) (stagedChanges []stagedChange, deferredFinishFuncs []func(), err error) {
	stagedChanges = make([]stagedChange, 0, len(requests))
	answer := func(r *commitRequest, seq uint64, err error) {
		if len(stagedChanges) == 0 {
			r.finishRequest(seq, err)
			return
		}
		deferredFinishFuncs = append(deferredFinishFuncs, func() { r.finishRequest(seq, err) })
	}
	for _, r := range requests {
		id := store.OpIDFrom(r.ctx)
		if seq, err := g.changeWithOpID(id); seq != 0 || err != nil {
			answer(r, seq, err)
			continue
		}
		v, err := r.stageChange(g)
		if err := g.st.snapshotReadError(); err != nil {
			return nil, nil, err
		}
		if err != nil {
			g.rollbackChange()
			answer(r, 0, err)
			continue
		}
		v.opID = id
		v.note = withoutSecrets(cmp.Or(v.note, store.NoteFrom(r.ctx)))
		v.source = d.sourceForChange(r.ctx)
		v.source = sourceWithoutSecrets(v.source)
		f := stagedChange{request: r, body: v}
		if err := f.checkSize(); err != nil {
			// Remove only the failed change from the batch. Later requests are staged after the changes before it.
			g.rollbackChange()
			answer(r, 0, err)
			continue
		}
		g.completeStagedChange(id)
		stagedChanges = append(stagedChanges, f)
	}
	return stagedChanges, deferredFinishFuncs, nil
}

// withoutSecrets returns a change's note without passwords and keys. A note may repeat a secret from the call, for
// example in a label, a path or a name. Each note passes through this function, whichever interface made the change.
// The user is not asked, because a note is useful without the secret.
func withoutSecrets(note string) string {
	if note == "" {
		return ""
	}
	// CleanText replaces each secret by a mark. A nil cleaner has no key for computing tags, which show that two marks
	// replace the same secret. A note does not need such tags.
	var cleaner *screen.SecretCleaner
	return cleaner.CleanText(note)
}

// sourceWithoutSecrets returns a source without passwords and keys. They may occur in the path of an imported file or
// in the name that a client claims.
func sourceWithoutSecrets(s store.Source) store.Source {
	for _, text := range sourceFields(&s) {
		*text = withoutSecrets(*text)
	}
	return s
}

// applyDurableChanges is called when changes have become durable in the log. It applies these changes to the state in
// memory, and sends them to the watchers. recs and stagedChanges contain the changes.
func (d *DB) applyDurableChanges(recs []wal.Record, stagedChanges []stagedChange) {
	deltas := make([]store.Delta, 0, len(stagedChanges))
	d.mu.Lock()
	for i, rec := range recs {
		d.changeOffsets = append(d.changeOffsets, rec.FileOffset)
		deltas = append(
			deltas,
			d.st.applyChange(rec.Seq, time.Unix(0, rec.TimeUnixNano).UTC(), stagedChanges[i].body)...)
	}
	d.recentDeltas.addDeltaStep(d.currentPosition(), deltas)
	failed := d.st.snapshotReadError()
	d.mu.Unlock()
	d.publishDeltas(deltas)
	if failed != nil {
		_ = d.reload() // Ignore the error, because the next reader gets the same error.
	}
}

// stagedChange is a staged change that will be appended to the log.
type stagedChange struct {
	request     *commitRequest
	body        *recordBody
	encodedBody *bodyEncoder // encoded form of the change in body, or nil if it was not needed yet
}

// maxEstimatedChangeBytes is the maximum estimated size, in bytes, of a change that is not encoded to check its exact
// size. The estimate is not exact, but a change with at most this estimated size always fits into a record.
const maxEstimatedChangeBytes = 1 << 20

// checkSize returns an error if the change is too large for a record.
func (f *stagedChange) checkSize() error {
	if f.body.encodedSize() <= maxEstimatedChangeBytes {
		return nil
	}
	f.encodedBody = encodeBody(f.body)
	if len(f.encodedBody.body) <= wal.MaxBody {
		return nil
	}
	return &store.InvalidError{Field: "change", Value: text.FormatBytes(int64(len(f.encodedBody.body))),
		Reason: "is more than the " + text.FormatBytes(wal.MaxBody) + " that one change may hold; split it"}
}

// releaseEncodedBody lets later changes reuse the memory of the encoded change.
func (f *stagedChange) releaseEncodedBody() {
	if f.encodedBody != nil {
		f.encodedBody.release()
		f.encodedBody = nil
	}
}

// appendDrafts appends the staged changes to the log, all with the same time. The returned records are durable, one for
// each change.
func (d *DB) appendDrafts(drafts []stagedChange, appendTime time.Time) ([]wal.Record, error) {
	for i := range drafts {
		for _, p := range drafts[i].body.ops {
			// Do not store the version in the entry, because it equals the change's number, which is in the record. The
			// version was needed only while the changes were prepared.
			p.entry.Version = 0
		}
	}
	// Encode in parallel, because the hash makes encoding the largest part of the work.
	inParallel(len(drafts), func(i int) {
		if f := &drafts[i]; f.encodedBody == nil {
			f.encodedBody = encodeBody(f.body)
		}
	})
	recs := make([]wal.Payload, len(drafts))
	for i := range drafts {
		f := &drafts[i]
		defer f.releaseEncodedBody()
		recs[i] = wal.Payload{
			Type:         recordTypeChange,
			TimeUnixNano: appendTime.UnixNano(),
			IsUrgent:     hasOnlyRemovals(f.body),
			Body:         f.encodedBody.body,
			Digest:       f.encodedBody.digest,
		}
		f.body.setWriteMetadata(d.log.LastSeq()+1+uint64(i), time.Unix(0, appendTime.UnixNano()).UTC())
	}
	return d.log.AppendWhile(d.onAppend(draftEntries(drafts)), recs...)
}

// draftEntries yields the entries that the staged changes add or change. It does not yield removed entries.
func draftEntries(drafts []stagedChange) iter.Seq[*store.Entry] {
	return func(yield func(*store.Entry) bool) {
		for i := range drafts {
			for _, p := range drafts[i].body.ops {
				if p.verb != store.VerbRemove && !yield(p.entry) {
					return
				}
			}
		}
	}
}

// inParallel calls do with each number from 0 to n-1. If n is large, it uses all processors.
func inParallel(n int, do func(i int)) {
	// Starting a goroutine costs as much as this number of calls. Up to this number, one goroutine makes all calls.
	const few = 4
	var next atomic.Int64
	work := func() {
		for {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			do(i)
		}
	}
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n/few) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
}

// sourceForChange returns the source to record for changes that are made with this context. Without a source in the
// context, it is the source from the store's options. Each text of the source is truncated to 200 bytes.
func (d *DB) sourceForChange(ctx context.Context) store.Source {
	s, ok := store.SourceFrom(ctx)
	if !ok {
		s = d.opts.Source
	}
	s.Door = cmp.Or(s.Door, d.opts.Source.Door)
	for _, p := range []*string{&s.Door, &s.Session, &s.Profile, &s.Ref, &s.Claimed.Client, &s.Claimed.Agent} {
		*p = text.TruncateWithEllipsis(*p, 200)
	}
	return s
}

func hasOnlyRemovals(v *recordBody) bool {
	return !slices.ContainsFunc(v.ops, func(p loggedOp) bool { return p.verb != store.VerbRemove })
}

// newBatch returns a batch without changes. The changes that are added to the batch will follow the current state d.st.
// The caller must hold writerMu.
func (d *DB) newBatch() *commitBatch {
	g := d.reusableBatch
	d.reusableBatch = nil
	if g == nil {
		g = &commitBatch{
			stagedByName: map[string]*store.Entry{},
			removedNames: map[string]uint64{},
			opIDs:        map[string]opIDWithChange{},
		}
	}
	g.st = d.st
	g.nextEntryID = d.st.nextEntryID
	g.seq = d.log.LastSeq() + 1
	g.changeTime = d.opts.Clock().UTC()
	return g
}

// keepBatchForReuse keeps the batch so that the next commit can reuse its memory, unless the batch is large.
func (d *DB) keepBatchForReuse(g *commitBatch) {
	if max(len(g.stagedByName), len(g.removedNames), len(g.opIDs), cap(g.rollbackSteps)) > 128 {
		return
	}
	clear(g.stagedByName)
	clear(g.removedNames)
	clear(g.opIDs)
	clear(g.rollbackSteps[:cap(g.rollbackSteps)])
	g.rollbackSteps = g.rollbackSteps[:0]
	g.st = nil
	d.reusableBatch = g
}
