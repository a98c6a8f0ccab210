// This file holds how the default store changes: changes are staged on top of
// the state, appended to the log in one piece, made durable, and only then
// shown and acknowledged. Goroutines that write at the same time share one
// sync.

package oxbow

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oxbow-memory/oxbow/internal/text"
	"github.com/oxbow-memory/oxbow/internal/wal"
)

// Apply implements [Store].
func (d *db) Apply(ctx context.Context, ops ...Op) error {
	if err := d.ready(ctx); err != nil {
		return err
	}
	if len(ops) == 0 {
		return nil
	}
	for _, op := range ops {
		if err := CheckOp(op); err != nil {
			return err
		}
	}
	_, err := d.commit(ctx, func(g *stage) (*body, error) {
		v := new(body)
		for _, op := range ops {
			p, err := g.op(op)
			if err != nil {
				return nil, err
			}
			v.ops = append(v.ops, p)
		}
		return v, nil
	})
	return err
}

// errPanic is what those are told whose changes were to be made durable when
// the program panicked.
var errPanic = fmt.Errorf("%w: the program panicked meanwhile", ErrUnknownOutcome)

// commit makes one change durable and returns its number.
func (d *db) commit(ctx context.Context, build func(g *stage) (*body, error)) (uint64, error) {
	if len(opIDFrom(ctx)) > 64 {
		return 0, &InvalidError{Field: "op id", Value: text.Clip(opIDFrom(ctx), 40), Reason: "is longer than 64 bytes"}
	}
	r := newRequest(ctx, build)
	if !d.line.join(r) {
		<-r.wake
	}
	if !r.finished() {
		d.lead(r)
	}
	return r.seq, r.err
}

// lead commits all that is in the line, r among it.
func (d *db) lead(r *request) {
	d.turn.Lock()
	batch := d.line.take()
	err := errPanic
	defer func() {
		if err != nil && err == r.ctx.Err() && !r.finished() {
			// Only this caller gave up, and nothing was tried: the others get
			// their turn.
			r.finish(0, err)
		} else {
			for _, o := range batch {
				if !o.finished() {
					o.finish(0, err)
				}
			}
		}
		d.turn.Unlock()
		d.line.pass(batch)
	}()
	err = d.locked(r.ctx, func() error {
		err := d.commitAll(batch)
		if errors.Is(err, errSnapshot) { // nothing was written: the log says what the snapshot could not
			if err = d.reload(); err == nil {
				err = d.commitAll(slices.DeleteFunc(slices.Clone(batch), (*request).finished))
			}
		}
		return err
	})
}

// locked runs fn with the lock between processes and the log to itself, and
// everything read that others wrote. The caller has the turn.
func (d *db) locked(ctx context.Context, fn func() error) error {
	if err := d.ready(ctx); err != nil {
		return err
	}
	if err := d.log.Lock(ctx); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return d.describe(err)
	}
	d.logmu.Lock()
	defer d.logmu.Unlock()
	defer d.log.Unlock()
	if d.broken != nil {
		return d.broken
	}
	if err := d.catchUp(); err != nil {
		return err
	}
	d.appending.Store(true)
	defer d.appending.Store(false)
	return d.describe(fn())
}

// commitAll stages the requests, appends those that can be applied, and shows
// them. A request that cannot be applied does not hinder the others. But what it
// is told may rest on a change staged before it ("there is one already", "this
// was done before"), which nobody else can see yet and which may never come to
// be. So it is told when that change is durable.
func (d *db) commitAll(batch []*request) error {
	g := d.newStage()
	defer d.keepStage(g)
	drafts := make([]draft, 0, len(batch))
	var later []func()
	answer := func(r *request, seq uint64, err error) {
		if len(drafts) == 0 {
			r.finish(seq, err)
			return
		}
		later = append(later, func() { r.finish(seq, err) })
	}
	for _, r := range batch {
		id := opIDFrom(r.ctx)
		if seq, ok := g.seen(id); ok {
			answer(r, seq, nil)
			continue
		}
		v, err := g.try(r.build)
		if err := g.st.failed(); err != nil {
			return err
		}
		if err != nil {
			answer(r, 0, err)
			continue
		}
		v.opID, v.note, v.source = id, or(v.note, noteFrom(r.ctx)), d.source(r.ctx)
		f := draft{request: r, body: v}
		if v.size() > smallBody {
			// It may be more than a record can hold: this one is refused then,
			// and not those after it, which are staged on top.
			if f.encode(); len(f.enc.body) > wal.MaxBody {
				g.rollback()
				answer(r, 0, &InvalidError{Field: "change", Value: size(len(f.enc.body)),
					Reason: "is more than the " + size(wal.MaxBody) + " that one change may hold; split it"})
				continue
			}
		}
		g.keep(id)
		drafts = append(drafts, f)
	}
	if len(drafts) == 0 {
		return nil
	}
	for _, f := range drafts {
		for _, p := range f.body.ops {
			p.entry.Version = 0 // nobody asks the stage any more
		}
	}
	recs, err := d.append(drafts, g.now)
	if err != nil {
		return err // locked describes it
	}
	deltas := make([]Delta, 0, len(drafts))
	d.mu.Lock()
	for i, rec := range recs {
		d.offsets = append(d.offsets, rec.Offset)
		deltas = append(deltas, d.st.apply(rec.Seq, time.Unix(0, rec.Time).UTC(), drafts[i].body)...)
	}
	d.recent.add(d.position(), deltas)
	failed := d.st.failed()
	d.mu.Unlock()
	if d.publish(deltas); failed != nil {
		_ = d.reload() // its error is that of the next reader
	}
	for i, rec := range recs {
		drafts[i].request.finish(rec.Seq, nil)
	}
	for _, tell := range later {
		tell()
	}
	if d.idle != nil {
		d.idle.Reset(d.opts.SealAfter)
	}
	return nil
}

// draft is a change that was staged, on its way into the log.
type draft struct {
	request *request
	body    *body
	enc     *encoder // holds its bytes; nil before they were made
}

// smallBody is a size, in bytes by body.size, of which a record can hold many.
const smallBody = 1 << 20

// encoders are there to be used again. Large ones are not kept.
var encoders = sync.Pool{New: func() any { return new(encoder) }}

func (f *draft) encode() {
	if f.enc == nil {
		f.enc = encoders.Get().(*encoder)
		f.enc.encode(f.body)
	}
}

func (f *draft) release() {
	if f.enc != nil && cap(f.enc.body) <= 64<<10 {
		encoders.Put(f.enc)
	}
	f.enc = nil
}

// append makes the drafts durable.
func (d *db) append(drafts []draft, at time.Time) ([]wal.Record, error) {
	encodeAll(drafts)
	recs := make([]wal.Draft, len(drafts))
	for i := range drafts {
		f := &drafts[i]
		defer f.release()
		recs[i] = wal.Draft{Type: typeChange, Time: at.UnixNano(), Urgent: onlyRemoves(f.body),
			Body: f.enc.body, Digest: f.enc.digest}
	}
	return d.log.Append(recs...)
}

// encodeAll makes the bytes of all drafts, which is most of the work of a
// change (the hash is), and so with all processors where there are many.
func encodeAll(drafts []draft) {
	const few = 4 // by one processor: to wake another costs as much
	var next atomic.Int64
	work := func() {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(drafts) {
				return
			}
			drafts[i].encode()
		}
	}
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(drafts)/few) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
}

// source is who makes the change of that context.
func (d *db) source(ctx context.Context) Source {
	s, ok := SourceFrom(ctx)
	if !ok {
		s = d.opts.Source
	}
	s.Door = or(s.Door, d.opts.Source.Door)
	for _, p := range []*string{&s.Door, &s.Session, &s.Profile, &s.Ref, &s.Claimed.Client, &s.Claimed.Agent} {
		*p = text.Clip(*p, 200)
	}
	return s
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func onlyRemoves(v *body) bool {
	return !slices.ContainsFunc(v.ops, func(p put) bool { return p.verb != VerbRemove })
}
