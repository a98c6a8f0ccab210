// This file holds how the default store changes: changes are staged on top of
// the state, appended to the log in one piece, made durable, and only then
// shown and acknowledged. Goroutines that write at the same time share one
// sync.

package oxbow

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oxbow-memory/oxbow/internal/wal"
)

// request is a change that waits to be committed.
type request struct {
	ctx   context.Context
	build func(g *stage) (*body, error)

	// wake tells its caller that it is finished, or else that it is the
	// caller's turn to commit. It holds one word, so that nobody waits to send.
	wake chan struct{}
	done bool // seq and err are set
	seq  uint64
	err  error
}

func newRequest(ctx context.Context, build func(g *stage) (*body, error)) *request {
	return &request{ctx: ctx, build: build, wake: make(chan struct{}, 1)}
}

// finish tells the caller how it went.
func (r *request) finish(seq uint64, err error) {
	r.seq, r.err, r.done = seq, err, true
	r.wake <- struct{}{}
}

func (r *request) finished() bool { return r.done }

// line is where requests wait. The first to come to an empty line commits all
// that is waiting, and then names who does so next.
type line struct {
	mu      sync.Mutex // guards all below
	waiting []*request
	led     bool // somebody commits, or was told to
	last    int  // how many were committed together last
}

// join puts the request in the line and reports whether it is its caller's turn
// to commit.
func (q *line) join(r *request) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, r)
	lead := !q.led
	q.led = true
	return lead
}

// take empties the line.
func (q *line) take() []*request {
	q.mu.Lock()
	last := q.last
	q.mu.Unlock()
	if last > 1 {
		// Those who were told together are just now coming back with their next
		// change: let them, or this batch is one change and the next all others.
		runtime.Gosched()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	batch := q.waiting
	q.waiting, q.last = nil, len(batch)
	return batch
}

// pass puts back those of a batch that are not finished, and lets the first in
// the line go on.
func (q *line) pass(batch []*request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if batch = slices.DeleteFunc(batch, (*request).finished); len(batch) > 0 {
		q.waiting = append(batch, q.waiting...)
	}
	if q.led = len(q.waiting) > 0; q.led {
		q.waiting[0].wake <- struct{}{}
	}
}

// baton is a lock that can be waited for beside other things.
type baton chan struct{}

func newBaton() baton { return make(baton, 1) }

func (b baton) Lock()   { b <- struct{}{} }
func (b baton) Unlock() { <-b }
func (b baton) TryLock() bool {
	select {
	case b <- struct{}{}:
		return true
	default:
		return false
	}
}

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
		return 0, &InvalidError{Field: "op id", Value: clip(opIDFrom(ctx), 40), Reason: "is longer than 64 bytes"}
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
	err = d.locked(r.ctx, func() error { return d.commitAll(batch) })
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
	if err := d.wholeLocked(); err != nil {
		return err
	}
	if !d.log.Broken(wal.BreakCatchUp) {
		if err := d.catchUp(); err != nil {
			return err
		}
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
		if len(drafts) == 0 || d.log.Broken(wal.BreakEarlyAnswer) {
			r.finish(seq, err)
			return
		}
		later = append(later, func() { r.finish(seq, err) })
	}
	for _, r := range batch {
		id := opIDFrom(r.ctx)
		if seq, ok := g.seen(id); ok && !d.log.Broken(wal.BreakDedupe) {
			answer(r, seq, nil)
			continue
		}
		v, err := g.try(r.build)
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
	if d.log.Broken(wal.BreakEarlyShow) {
		d.mu.Lock()
		for i, f := range drafts {
			d.st.apply(d.log.Seq()+1+uint64(i), g.now, f.body)
		}
		d.mu.Unlock()
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
	d.mu.Unlock()
	d.tell(deltas, false)
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
		*p = clip(*p, 200)
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

// stage is a state with changes on top that are not durable yet.
type stage struct {
	st     *state
	names  map[string]*Entry // staged entries; nil: staged as removed
	gone   map[string]uint64
	opIDs  map[string]uint64
	nextID uint64
	seq    uint64 // the number that the change being staged will get
	now    time.Time

	undo []undoStep // takes back the change being staged
}

// undoStep is what the stage said of a name before.
type undoStep struct {
	name   string
	entry  *Entry
	staged bool // else the stage did not have the name
	gone   uint64
	nextID uint64
}

// newStage returns a stage with nothing on top of the state. The caller has the
// turn.
func (d *db) newStage() *stage {
	g := d.spare
	if d.spare = nil; g == nil {
		g = &stage{names: map[string]*Entry{}, gone: map[string]uint64{}, opIDs: map[string]uint64{}}
	}
	g.st, g.nextID, g.seq, g.now = d.st, d.st.nextID, d.log.Seq()+1, d.opts.Clock().UTC()
	return g
}

// keepStage keeps a stage for the next commit, unless it has become large.
func (d *db) keepStage(g *stage) {
	if max(len(g.names), len(g.gone), len(g.opIDs), cap(g.undo)) > 128 {
		return
	}
	clear(g.names)
	clear(g.gone)
	clear(g.opIDs)
	clear(g.undo[:cap(g.undo)])
	g.st = nil
	d.spare = g
}

// try stages one change, all of it or nothing.
func (g *stage) try(build func(g *stage) (*body, error)) (*body, error) {
	g.undo = g.undo[:0]
	v, err := build(g)
	if err != nil {
		g.rollback()
	}
	return v, err
}

func (g *stage) rollback() {
	for _, u := range slices.Backward(g.undo) {
		g.gone[u.name], g.nextID = u.gone, u.nextID
		if u.staged {
			g.names[u.name] = u.entry
		} else {
			delete(g.names, u.name)
		}
	}
	g.undo = g.undo[:0]
}

// keep takes the change that was just staged for good.
func (g *stage) keep(opID string) {
	if opID != "" {
		g.opIDs[opID] = g.seq
	}
	g.seq++
}

func (g *stage) seen(opID string) (uint64, bool) {
	if opID == "" {
		return 0, false
	}
	if seq, ok := g.opIDs[opID]; ok {
		return seq, true
	}
	seq, ok := g.st.opIDs[opID]
	return seq, ok
}

// get returns the entry of that name, nil when there is none.
func (g *stage) get(name string) *Entry {
	if e, ok := g.names[name]; ok {
		return e
	}
	return g.st.names[name]
}

// touched returns the last change that touched the name.
func (g *stage) touched(name string) uint64 {
	if e, ok := g.names[name]; ok {
		if e != nil {
			return e.Version
		}
		return g.gone[name]
	}
	return g.st.touched(name)
}

// put stages an entry, as the change being staged leaves it.
func (g *stage) put(verb Verb, e *Entry) put {
	p := put{verb: verb, prev: g.touched(e.Name), entry: e}
	g.set(e.Name, e)
	e.Version = g.seq // until the change is applied, which gives it again
	g.nextID = max(g.nextID, e.ID+1)
	return p
}

// drop stages the removal of an entry.
func (g *stage) drop(e *Entry) put {
	p := put{verb: VerbRemove, prev: g.touched(e.Name), entry: &Entry{ID: e.ID, Name: e.Name, Kind: e.Kind}}
	g.set(e.Name, nil)
	return p
}

func (g *stage) set(name string, e *Entry) {
	old, had := g.names[name]
	g.undo = append(g.undo, undoStep{name: name, entry: old, staged: had, gone: g.gone[name], nextID: g.nextID})
	g.names[name] = e
	if e == nil {
		g.gone[name] = g.seq
	}
}

// op stages one change of the seam.
func (g *stage) op(op Op) (put, error) {
	name := OpName(op)
	old := g.get(name)
	if add, ok := op.(Add); ok {
		if old != nil {
			return put{}, &NameError{name, ErrExists}
		}
		created := add.Created.UTC().Round(0)
		if add.Created.IsZero() {
			created = g.now
		}
		return g.put(VerbAdd, &Entry{ID: g.nextID, Name: name, Kind: add.Kind, Content: add.Content,
			Aliases: slices.Clone(add.Aliases), Labels: SortLabels(add.Labels), Created: created}), nil
	}
	if old == nil {
		return put{}, &NameError{name, ErrNotFound}
	}
	e := old.Clone()
	var want uint64
	var verb Verb
	switch op := op.(type) {
	case Update:
		want, verb = op.If, VerbUpdate
		e.Content, e.Aliases, e.Labels = op.Content, slices.Clone(op.Aliases), SortLabels(op.Labels)
	case Alias:
		want, verb = op.If, VerbAlias
		e.Aliases = slices.Clone(op.Aliases)
	case Relabel:
		want, verb = op.If, VerbLabel
		e.Labels = SortLabels(op.Labels)
	case Remove:
		want, verb = op.If, VerbRemove
	default:
		panic(fmt.Sprintf("oxbow: op %T outside the sealed set", op))
	}
	if want != 0 && want != old.Version {
		return put{}, &ConflictError{Name: name, Want: want, Have: old.Version}
	}
	if verb == VerbRemove {
		return g.drop(old), nil
	}
	return g.put(verb, &e), nil
}
