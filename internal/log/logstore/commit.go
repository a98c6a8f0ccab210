// This file implements group commit: changes are staged on top of the state, appended to
// the log together, and synced. Only then are they visible and acknowledged. Concurrent
// writers share a single sync.

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
		return decodeChange(r.seq, r.hash, r.writtenBody), nil
	}
	// An earlier call with the same op ID made the change.
	rec, v, ok, err := d.readRecord(r.seq)
	if !ok || err != nil {
		return store.Change{Seq: r.seq}, nil // return no error: the change was made, even if its record cannot be read
	}
	return decodeChange(r.seq, rec.Chain, v), nil
}

// checkOps returns an error if the store cannot be written to now, or if no store can apply one of the ops.
func (d *DB) checkOps(ctx context.Context, ops []store.Op) error {
	err := d.checkReady(ctx)
	for _, op := range ops {
		if err != nil {
			break
		}
		err = op.Check()
	}
	return err
}

// DryRun implements [store.DryRunner]. It also returns the error for a change that is too
// large for a record.
func (d *DB) DryRun(ctx context.Context, ops ...store.Op) error {
	for _, op := range ops {
		if err := op.Check(); err != nil {
			return err
		}
	}
	var v *recordBody
	var err error
	if rerr := d.withState(ctx, func(st *state) {
		g := &batch{stagedByName: map[string]*store.Entry{}, removedNames: map[string]uint64{}, st: st,
			nextID:     st.nextID,
			changeTime: d.opts.Clock().UTC()}
		v, err = stageOps(ops)(g)
	}); rerr != nil || err != nil {
		return cmp.Or(rerr, err)
	}
	f := draft{body: v}
	defer f.releaseEncoded()
	return f.checkSize()
}

// errBatchPanicked is the error of the requests in a batch that panicked.
var errBatchPanicked = fmt.Errorf("%w: the program panicked meanwhile", store.ErrUnknownOutcome)

// commitChange makes a change durable and returns its finished request, which has the error or the number of the
// change. build stages the change in a batch.
func (d *DB) commitChange(ctx context.Context, build func(g *batch) (*recordBody, error)) *commitRequest {
	r := newCommitRequest(ctx, build)
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
	// The caller is the leader and commits all queued requests, including its own.
	d.writerMu.Lock()
	batch := d.queue.takeAll()
	err := errBatchPanicked
	defer func() {
		isCanceled := err != nil && err == ctx.Err()
		if isCanceled && !r.isFinished() {
			// Nothing was tried, so only this canceled request fails.
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
		// nothing was written, so rebuild the state from the log instead of the damaged
		// snapshot
		if errors.Is(err, errSnapshot) {
			err = d.reload()
			if err == nil {
				err = d.commitRequests(slices.DeleteFunc(slices.Clone(batch), (*commitRequest).isFinished))
			}
		}
		return err
	})
	return r
}

// withExclusiveLock calls fn like withLock, while no other goroutine of this process writes.
func (d *DB) withExclusiveLock(ctx context.Context, fn func() error) error {
	d.writerMu.Lock()
	defer d.writerMu.Unlock()
	return d.withLock(ctx, fn)
}

// withLock calls fn with the lock between processes and with exclusive access to the log,
// after reading the changes of other processes. writerMu must be held.
func (d *DB) withLock(ctx context.Context, fn func() error) error {
	if err := d.checkReady(ctx); err != nil {
		return err
	}
	if err := d.log.Lock(ctx); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return d.describeError(err)
	}
	d.catchUpMu.Lock()
	d.logmu.Lock()
	defer d.logmu.Unlock()
	defer d.log.Unlock()
	defer d.isAppending.Store(false)
	if err := d.catchUpBeforeAppend(); err != nil {
		return err
	}
	return d.describeError(fn())
}

// catchUpBeforeAppend reads the changes of other processes. It releases catchUpMu, which must be
// held.
func (d *DB) catchUpBeforeAppend() error {
	defer d.catchUpMu.Unlock()
	if d.brokenErr != nil {
		return d.brokenErr
	}
	_, err := d.log.PollChanges()
	if err == nil && d.log.MayBeOverwritten() {
		err = d.reload()
	}
	if err == nil {
		err = d.catchUp()
	}
	d.isAppending.Store(err == nil)
	return err
}

// commitRequests stages the requests, appends the valid ones, and makes them visible. An invalid request
// does not affect later requests. Such a request may be invalid because of an earlier change in the
// batch, for example because that change uses the same name or the same op ID. Because the earlier
// change may never become durable, the error is returned only after that change is durable.
func (d *DB) commitRequests(batch []*commitRequest) error {
	g := d.newBatch()
	defer d.saveSpareBatch(g)
	if isClampedTime(clampedNanoseconds(g.changeTime)) { // a record cannot contain such a time
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
		return err // withLock describes the error
	}
	d.applyDurable(recs, drafts)
	for i, rec := range recs {
		r := drafts[i].request
		r.writtenBody, r.hash = drafts[i].body, rec.Chain
		r.finishRequest(rec.Seq, nil)
	}
	for _, finish := range later {
		finish()
	}
	if d.sealTimer != nil {
		d.sealTimer.Reset(d.opts.SealAfter)
	}
	d.onOwnChange()
	return nil
}

// stageRequests stages the requests, and returns the changes to append. A request that fails, or whose op ID was used
// before, has no change. If no change was staged before it, such a request is finished at once. Otherwise its result
// may depend on that change. Then finishLater contains a function that finishes it, which the caller must call when
// the changes are durable. If the snapshot cannot be read, stageRequests returns an error.
func (d *DB) stageRequests(g *batch, requests []*commitRequest) (drafts []draft, finishLater []func(), err error) {
	drafts = make([]draft, 0, len(requests))
	answer := func(r *commitRequest, seq uint64, err error) {
		if len(drafts) == 0 {
			r.finishRequest(seq, err)
			return
		}
		finishLater = append(finishLater, func() { r.finishRequest(seq, err) })
	}
	for _, r := range requests {
		id := store.OpIDFrom(r.ctx)
		if seq, err := g.changeWithOpID(id); seq != 0 || err != nil {
			answer(r, seq, err)
			continue
		}
		v, err := r.stageChange(g)
		if err := g.st.readError(); err != nil {
			return nil, nil, err
		}
		if err != nil {
			g.rollbackChange()
			answer(r, 0, err)
			continue
		}
		v.opID = id
		v.note = withoutSecrets(cmp.Or(v.note, store.NoteFrom(r.ctx)))
		v.source = d.changeSource(r.ctx)
		v.source = sourceWithoutSecrets(v.source)
		f := draft{request: r, body: v}
		if err := f.checkSize(); err != nil {
			// the remaining requests do not depend on the failed request and are staged normally
			g.rollbackChange()
			answer(r, 0, err)
			continue
		}
		g.completeChange(id)
		drafts = append(drafts, f)
	}
	return drafts, finishLater, nil
}

// withoutSecrets returns a change's note without passwords and keys. A note repeats words of the
// caller, such as a label, a path or an entry's name. The notes of all interfaces and verbs are
// written here. Secrets are removed without a question to the user, because a note is useful
// without them.
func withoutSecrets(note string) string {
	if note == "" {
		return ""
	}
	var cleaner *screen.Cleaner // a cleaner without a key, because marks in a note need no tags
	return cleaner.CleanText(note)
}

// sourceWithoutSecrets returns a source without passwords and keys. The path of an imported
// file or a name that a client claims may contain them.
func sourceWithoutSecrets(s store.Source) store.Source {
	for _, text := range sourceFields(&s) {
		*text = withoutSecrets(*text)
	}
	return s
}

// applyDurable applies durable changes to the state and publishes them.
func (d *DB) applyDurable(recs []wal.Record, drafts []draft) {
	deltas := make([]store.Delta, 0, len(drafts))
	d.mu.Lock()
	for i, rec := range recs {
		d.changeOffsets = append(d.changeOffsets, rec.Offset)
		deltas = append(deltas, d.st.applyChange(rec.Seq, time.Unix(0, rec.Time).UTC(), drafts[i].body)...)
	}
	d.recent.addStep(d.currentPosition(), deltas)
	failed := d.st.readError()
	d.mu.Unlock()
	d.publishDeltas(deltas)
	if failed != nil {
		_ = d.reload() // ignore the error, because the next reader gets the same error
	}
}

// draft is a change that was staged and will be appended to the log.
type draft struct {
	request *commitRequest
	body    *recordBody
	encoded *bodyEncoder // encoded bytes of the change, nil until they are needed
}

// alwaysFittingSize is a size in bytes, as estimated by body.size, that always fits into a record.
const alwaysFittingSize = 1 << 20

// checkSize returns an error if the change does not fit into a record.
func (f *draft) checkSize() error {
	if f.body.encodedSize() <= alwaysFittingSize {
		return nil
	}
	f.encoded = encodeBody(f.body)
	if len(f.encoded.body) <= wal.MaxBody {
		return nil
	}
	return &store.InvalidError{Field: "change", Value: text.FormatBytes(int64(len(f.encoded.body))),
		Reason: "is more than the " + text.FormatBytes(wal.MaxBody) + " that one change may hold; split it"}
}

// releaseEncoded makes the memory of the encoded bytes available to later changes.
func (f *draft) releaseEncoded() {
	if f.encoded != nil {
		f.encoded.release()
		f.encoded = nil
	}
}

// appendDrafts appends the drafts to the log, and returns their records, which are durable.
func (d *DB) appendDrafts(drafts []draft, appendTime time.Time) ([]wal.Record, error) {
	for i := range drafts {
		for _, p := range drafts[i].body.ops {
			p.entry.Version = 0 // the record contains the number, and the batch is no longer used
		}
	}
	// Encoding is most of the work for a change, because of the hash.
	inParallel(len(drafts), func(i int) {
		if f := &drafts[i]; f.encoded == nil {
			f.encoded = encodeBody(f.body)
		}
	})
	recs := make([]wal.Payload, len(drafts))
	for i := range drafts {
		f := &drafts[i]
		defer f.releaseEncoded()
		recs[i] = wal.Payload{Type: typeChange, Time: appendTime.UnixNano(), IsUrgent: hasOnlyRemovals(f.body),
			Body: f.encoded.body, Digest: f.encoded.digest}
		f.body.stampEntries(d.log.LastSeq()+1+uint64(i), time.Unix(0, appendTime.UnixNano()).UTC())
	}
	return d.log.AppendWhile(d.onAppend(entriesWritten(drafts)), recs...)
}

// entriesWritten yields the entries that the drafts write.
func entriesWritten(drafts []draft) iter.Seq[*store.Entry] {
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

// inParallel calls do with the numbers from 0 to n-1. If n is large, all processors share the work.
func inParallel(n int, do func(i int)) {
	// maximum number of calls that are made in one goroutine, because starting another goroutine
	// costs as much as the calls
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

// changeSource returns the source of changes made with the context.
func (d *DB) changeSource(ctx context.Context) store.Source {
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

// newBatch returns an empty batch on top of the state. writerMu must be held.
func (d *DB) newBatch() *batch {
	g := d.spareBatch
	d.spareBatch = nil
	if g == nil {
		g = &batch{
			stagedByName: map[string]*store.Entry{},
			removedNames: map[string]uint64{},
			opIDs:        map[string]seenOpID{},
		}
	}
	g.st = d.st
	g.nextID = d.st.nextID
	g.seq = d.log.LastSeq() + 1
	g.changeTime = d.opts.Clock().UTC()
	return g
}

// saveSpareBatch stores the batch for reuse by the next commit, unless the batch is large.
func (d *DB) saveSpareBatch(g *batch) {
	if max(len(g.stagedByName), len(g.removedNames), len(g.opIDs), cap(g.rollbackSteps)) > 128 {
		return
	}
	clear(g.stagedByName)
	clear(g.removedNames)
	clear(g.opIDs)
	clear(g.rollbackSteps[:cap(g.rollbackSteps)])
	g.rollbackSteps = g.rollbackSteps[:0]
	g.st = nil
	d.spareBatch = g
}
