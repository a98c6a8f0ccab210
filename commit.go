// This file holds how the default store changes: changes are staged on top of
// the state, appended to the log in one piece, made durable, and only then
// shown and acknowledged. Goroutines that write at the same time share one
// sync.

package oxbow

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow/internal/wal"
)

// request is a change that waits to be committed.
type request struct {
	ctx   context.Context
	build func(g *stage) (*body, error)

	done chan struct{} // closed when seq and err are set
	seq  uint64
	err  error
}

// finish tells the caller how it went.
func (r *request) finish(seq uint64, err error) {
	r.seq, r.err = seq, err
	close(r.done)
}

func (r *request) finished() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
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

// commit makes one change durable and returns its number. Whoever gets the turn
// commits all that is waiting.
func (d *db) commit(ctx context.Context, build func(g *stage) (*body, error)) (uint64, error) {
	if len(opIDFrom(ctx)) > 64 {
		return 0, &InvalidError{Field: "op id", Value: clip(opIDFrom(ctx), 40), Reason: "is longer than 64 bytes"}
	}
	r := &request{ctx: ctx, build: build, done: make(chan struct{})}
	d.queued.Lock()
	d.queue = append(d.queue, r)
	d.queued.Unlock()

	// Either somebody commits it, or it is our turn to commit what waits.
	select {
	case <-r.done:
		return r.seq, r.err
	case d.turn <- struct{}{}:
		defer d.turn.Unlock()
	}
	if r.finished() {
		return r.seq, r.err
	}
	d.queued.Lock()
	batch := d.queue
	d.queue = nil
	d.queued.Unlock()

	err := d.locked(ctx, func() error { return d.commitAll(batch) })
	if ctx.Err() != nil && !r.finished() {
		// Only this caller gave up: the others get their turn.
		r.finish(0, ctx.Err())
		d.queued.Lock()
		d.queue = append(slices.DeleteFunc(batch, (*request).finished), d.queue...)
		d.queued.Unlock()
		return r.seq, r.err
	}
	for _, o := range batch {
		if !o.finished() {
			o.finish(0, err)
		}
	}
	return r.seq, r.err
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
	g := &stage{st: d.st, names: map[string]*Entry{}, gone: map[string]uint64{},
		nextID: d.st.nextID, seq: d.log.Seq() + 1, now: d.opts.Clock().UTC()}
	var drafts []wal.Draft
	var bodies []*body
	var staged []*request
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
		draft := wal.Draft{Type: typeChange, Time: g.now.UnixNano(), Urgent: onlyRemoves(v)}
		draft.Body, draft.Digest = encodeBody(v)
		if len(draft.Body) > wal.MaxBody {
			g.rollback()
			answer(r, 0, &InvalidError{Field: "change", Value: size(len(draft.Body)),
				Reason: "is more than the " + size(wal.MaxBody) + " that one change may hold; split it"})
			continue
		}
		g.keep(id)
		drafts, bodies, staged = append(drafts, draft), append(bodies, v), append(staged, r)
	}
	if len(drafts) == 0 {
		return nil
	}
	if d.log.Broken(wal.BreakEarlyShow) {
		d.mu.Lock()
		for i, v := range bodies {
			d.st.apply(d.log.Seq()+1+uint64(i), g.now, v)
		}
		d.mu.Unlock()
	}
	recs, err := d.log.Append(drafts...)
	if err != nil {
		return err // locked describes it
	}
	var deltas []Delta
	d.mu.Lock()
	for i, rec := range recs {
		d.offsets = append(d.offsets, rec.Offset)
		deltas = append(deltas, d.st.apply(rec.Seq, time.Unix(0, rec.Time).UTC(), bodies[i])...)
	}
	d.mu.Unlock()
	d.tell(deltas, false)
	for i, rec := range recs {
		staged[i].finish(rec.Seq, nil)
	}
	for _, tell := range later {
		tell()
	}
	if d.idle != nil {
		d.idle.Reset(d.opts.SealAfter)
	}
	return nil
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

	undo []func() // takes back the change being staged
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
	for _, fn := range slices.Backward(g.undo) {
		fn()
	}
	g.undo = g.undo[:0]
}

// keep takes the change that was just staged for good.
func (g *stage) keep(opID string) {
	if opID != "" {
		if g.opIDs == nil {
			g.opIDs = map[string]uint64{}
		}
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
	p := put{verb: verb, entry: e, prev: g.touched(e.Name)}
	g.set(e.Name, e)
	e.Version = g.seq
	id := g.nextID
	g.nextID = max(g.nextID, e.ID+1)
	g.undo = append(g.undo, func() { g.nextID = id })
	logged := *e
	logged.Version = 0 // given again when the change is applied
	p.entry = &logged
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
	oldGone := g.gone[name]
	g.undo = append(g.undo, func() {
		g.gone[name] = oldGone
		if had {
			g.names[name] = old
		} else {
			delete(g.names, name)
		}
	})
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
