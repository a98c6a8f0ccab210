// This file runs scripts: on a disk that may crash, with real stores, and with a clock and
// random numbers that are the same in each run.

package workload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/test/crashfs"
)

// State is the content of the store after an event. An event is a step that was done, was
// refused, or had nothing to do.
type State struct {
	Model   *Model
	Entries []oxbow.Entry // as returned by the store, including times
	Inner   bool          // the event happened in the middle of another step
	Busy    bool          // the step was refused because another process had the lock
}

// World is a script that runs on a disk.
type World struct {
	Script Script
	Disk   *crashfs.Disk
	Acked  int // number of completed events

	// Record makes the run compare each event with the model, and keep the states. Without
	// it, a run only performs the same operations.
	Record bool
	States []*State // the first is the state before all events
	InIn   []int    // ranges of operations in the middle of another step, as pairs of first and last

	setup      Setup
	procs      []*proc
	model      *Model
	clock      *clock
	rand       io.Reader
	last       *Step // last Batch with an op ID
	compacting bool  // the outer step of a nested step is a compaction

	killAt int // operation at which a process is killed, or 0
}

// proc is one process.
type proc struct {
	fs  *FS
	mem *oxbow.Memory // nil if not open
}

// clock runs mostly forward. Its fractions of a second have varying numbers of digits, as in
// real use.
type clock struct {
	r   *rand.Rand
	now time.Time
}

func (c *clock) tick() time.Time {
	step := time.Duration(1 + c.r.IntN(9))
	for range c.r.IntN(10) {
		step *= 10
	}
	if c.r.IntN(30) == 0 {
		step = -3 * step
	}
	c.now = c.now.Add(step)
	return c.now
}

// NewWorld returns the script at its beginning, on an empty disk.
func NewWorld(s Script, setup Setup) *World {
	w := &World{Script: s, Disk: crashfs.New(nil), setup: setup, model: &Model{}}
	w.clock = &clock{rand.New(rand.NewPCG(s.Seed, 2)), time.Unix(1776162225, 0)}
	w.rand = seededReader(s.Seed)
	for range s.Procs {
		w.procs = append(w.procs, &proc{fs: NewFS(w.Disk.Process(), setup)})
	}
	w.States = []*State{{Model: w.model}}
	return w
}

func seededReader(seed uint64) io.Reader {
	var key [32]byte
	for i := range 8 {
		key[i] = byte(seed >> (8 * i))
	}
	return rand.NewChaCha8(key)
}

// storeOptions returns the options of a store in this world.
func (w *World) storeOptions(p *proc) *oxbow.Options {
	return Options(p.fs, w.clock.tick, w.rand)
}

// Options returns options without waiting: a lock that another process holds is refused at
// once.
func Options(fsys *FS, clock func() time.Time, random io.Reader) *oxbow.Options {
	o := &oxbow.Options{FS: fsys, Clock: clock, Rand: random, LockWait: 1,
		Source: oxbow.Source{Door: "torture"}}
	step, reserve := fsys.FreeSpace()
	setOption(o, "freeStep", step)
	setOption(o, "freeReserve", reserve)
	if fsys.setup.Snapshots {
		KeepSnapshots(o)
	}
	return o
}

// KeepSnapshots makes each close after a change write the snapshot, and limits the cache to
// few entries.
func KeepSnapshots(o *oxbow.Options) {
	o.Cache = &oxbow.Cache{Bytes: 2 << 10}
	setOption(o, "snapshotLeast", 1)
}

// KeepSnapshotsOpen makes a store write the snapshot in the background after nearly each
// change.
func KeepSnapshotsOpen(o *oxbow.Options) { setOption(o, "tailLeast", 1) }

// CompactEarly makes a store compact itself after a few changes.
func CompactEarly(o *oxbow.Options) {
	o.KeepChanges = 3
	setOption(o, "compactLeast", 1)
}

// setOption sets an unexported field of the options that only tests use. It panics if the
// options no longer have the field.
func setOption(o *oxbow.Options, name string, n int64) {
	f := reflect.ValueOf(o).Elem().FieldByName(name)
	*(*int64)(f.Addr().UnsafePointer()) = n
}

// FromSnapshot reports whether the store was opened from a snapshot and still uses that snapshot.
func FromSnapshot(m *oxbow.Memory) bool {
	state := reflect.ValueOf(m.Store()).Elem().FieldByName("st").Elem()
	return !state.FieldByName("base").IsNil()
}

// Memory returns the open store of a process. It opens the store if necessary.
func (w *World) Memory(i int) (*oxbow.Memory, error) {
	p := w.procs[i]
	if p.mem == nil {
		m, err := oxbow.Open(StoreFile, w.storeOptions(p))
		if err != nil {
			return nil, err
		}
		p.mem = m
	}
	return p.mem, nil
}

// FS returns the file system of a process.
func (w *World) FS(i int) *FS { return w.procs[i].fs }

// Run does all steps, or stops when the disk stops or a process is killed. The error is a
// broken guarantee; a crash is not an error.
func (w *World) Run() error {
	for i := range w.procs {
		if _, err := w.Memory(i); err != nil {
			return w.unless(err)
		}
	}
	for i, st := range w.Script.Steps {
		if err := w.Step(st); err != nil {
			if over(err) {
				return nil
			}
			return fmt.Errorf("step %d (%v): %w", i+1, st, err)
		}
	}
	return nil
}

// over reports whether err is the error of a call of a dead process.
func over(err error) bool {
	return errors.Is(err, crashfs.ErrCrashed) || errors.Is(err, crashfs.ErrKilled)
}

// unless returns err, or nil if err was caused by a crash.
func (w *World) unless(err error) error {
	if over(err) {
		return nil
	}
	return err
}

// Step does one step, and the step nested in it.
func (w *World) Step(st Step) error {
	st = w.settle(st)
	if st.In == nil || st.Kind == Revert {
		return w.event(st, false)
	}
	fs := w.procs[st.Proc].fs
	calls := 0
	var inner error
	fired := false
	fs.Before = func() {
		calls++
		// Calls after a crash only belong to error handling.
		dead := w.Disk.HasCrashed() || (w.killAt > 0 && w.Disk.CountOps() >= w.killAt)
		if fired || dead {
			return
		}
		if calls != st.At {
			return
		}
		fired = true
		inner = w.between(st)
		if inner == nil {
			from := w.Disk.CountOps()
			w.compacting = st.Kind == Compact
			inner = w.event(*st.In, true)
			w.compacting = false
			w.InIn = append(w.InIn, from+1, w.Disk.CountOps())
		}
	}
	err := w.event(st, false)
	fs.Before = nil
	err = errors.Join(inner, err)
	if err != nil {
		return err
	}
	if !fired {
		return w.event(*st.In, false)
	}
	return nil
}

// settle sets the operations and the op ID of a Retry, which repeats the last batch. A batch in the middle of
// the Retry comes too late.
func (w *World) settle(st Step) Step {
	isOpen := st.Kind == Retry && st.OpID == ""
	if isOpen && w.last != nil {
		st.OpID, st.Ops = w.last.OpID, w.last.Ops
	}
	return st
}

// between lets the other process read in the middle of a step. The other process must see the state
// before or the state after the step.
func (w *World) between(st Step) error {
	if !w.Record {
		// A read may update the reader's state, so do it in every run.
		if m, err := w.Memory(st.In.Proc); err == nil {
			_, _ = collect(m)
		}
		return nil
	}
	m, err := w.Memory(st.In.Proc)
	if err != nil {
		return fmt.Errorf("a reader in the middle: %w", err)
	}
	es, err := collect(m)
	if err != nil {
		return fmt.Errorf("a reader in the middle: %w", err)
	}
	after := w.model.Clone()
	_ = w.expect(after, st)
	if d := w.model.describeDifference(es); d != "" && after.describeDifference(es) != "" {
		return fmt.Errorf("a reader in the middle sees neither what was nor what is to be: %s", d)
	}
	return nil
}

// event does one step and, if Record is set, compares it with the model.
func (w *World) event(st Step, inner bool) error {
	st = w.settle(st)
	if st.Kind == Batch && st.OpID != "" {
		w.last = &st
	}
	undo := w.model.Undoable()
	seq, err := w.call(st, undo)
	hasCrashed := err != nil && w.Disk.HasCrashed()
	if hasCrashed || over(err) {
		if err == nil {
			err = crashfs.ErrCrashed
		}
		return err
	}
	if !w.Record {
		// Update the model, because it determines what Revert undoes.
		if err == nil {
			w.follow(st, seq)
		}
		w.Acked++
		w.everybody(st, inner, func(int, []oxbow.Entry, error) error { return nil })
		return nil
	}
	var busy bool
	switch next := w.model.Clone(); {
	case errors.Is(err, oxbow.ErrBusy):
		if !inner {
			return fmt.Errorf("busy, and nobody has the lock: %w", err)
		}
		busy = true
	case w.compacting && st.Kind == Revert && errors.Is(err, oxbow.ErrNotFound):
		// The step looked for the change before it took the lock, and found that the running
		// compaction had already dropped the change.
		busy = true
	default:
		want := w.expectRevert(next, st, undo)
		if !errors.Is(err, want) {
			return fmt.Errorf("returned %v, want %v", err, want)
		}
		if err == nil {
			w.follow(st, seq)
		}
	}
	w.Acked++
	return w.record(st, inner, busy)
}

// call makes the call of a step. For a compaction, it returns the number of the change.
func (w *World) call(st Step, undo uint64) (uint64, error) {
	m, err := w.Memory(st.Proc)
	if err != nil {
		return 0, err
	}
	ctx := context.Background()
	switch st = w.settle(st); st.Kind {
	case Remember:
		_, err = m.Remember(ctx, oxbow.Entry{Name: st.Name, Content: st.Text})
	case Batch:
		err = m.Apply(oxbow.WithOpID(ctx, st.OpID), st.Ops...)
	case Forget:
		err = m.Forget(ctx, st.Name)
	case Revert:
		if undo != 0 {
			_, err = m.Revert(ctx, undo)
		}
	case Compact:
		before := time.Unix(1<<40, 0)
		if st.Half {
			before = w.clock.now.Add(-time.Millisecond)
		}
		rep, cerr := m.Compact(ctx, oxbow.Compaction{Before: before})
		return rep.Seq, cerr
	case Reopen:
		w.procs[st.Proc].mem = nil
		err = m.Close()
		if err == nil {
			_, err = w.Memory(st.Proc)
		}
	case Retry:
		if st.OpID != "" {
			err = m.Apply(oxbow.WithOpID(ctx, st.OpID), st.Ops...)
		}
	}
	return 0, err
}

// expect applies a step to a model and returns the error that the store should return.
func (w *World) expect(m *Model, st Step) error { return w.expectRevert(m, st, m.Undoable()) }

func (w *World) expectRevert(m *Model, st Step, undo uint64) error {
	switch st = w.settle(st); st.Kind {
	case Remember:
		return m.Remember(st.Name, st.Text)
	case Batch:
		return m.Apply(st.OpID, st.Ops...)
	case Forget:
		return m.Apply("", oxbow.Remove{Name: st.Name})
	case Revert:
		if undo != 0 {
			return m.Revert(undo)
		}
	case Retry:
		if st.OpID != "" {
			return m.Apply(st.OpID, st.Ops...)
		}
	}
	return nil
}

// follow applies an acknowledged step to the model.
func (w *World) follow(st Step, seq uint64) {
	if st.Kind == Compact {
		if seq != 0 {
			w.model = w.model.Clone()
			w.model.Compact()
		}
		return
	}
	next := w.model.Clone()
	// A step that changes nothing keeps the same model.
	if w.expect(next, st) == nil && next.seq != w.model.seq {
		w.model = next
	}
}

// everybody lets the processes read after an event, and calls fn with the entries that each process
// sees. After every second event, only the process that acted reads, so that the remaining
// processes have to catch up later. A read changes the state of a store, so all runs of a script
// read in the same way.
func (w *World) everybody(st Step, inner bool, fn func(i int, es []oxbow.Entry, err error) error) error {
	all := (uint64(w.Acked)+w.Script.Seed)%2 == 0
	for i, p := range w.procs {
		// In the middle of another step, its process must not be used.
		mayRead := i == st.Proc || (all && !inner)
		if p.mem == nil || !mayRead {
			continue
		}
		es, err := collect(p.mem)
		if err := fn(i, es, err); err != nil {
			return fmt.Errorf("process %c: %w", 'A'+rune(i), err)
		}
	}
	return nil
}

// record compares the results of reads with the model, and keeps them.
func (w *World) record(st Step, inner, busy bool) error {
	last := w.States[len(w.States)-1]
	s := &State{Model: w.model, Inner: inner, Busy: busy}
	// In the middle of another step, that step's record may be visible, unless the nested
	// step was done: then the outer step has not begun to write.
	lax := inner && last.Model == w.model
	err := w.everybody(st, inner, func(i int, es []oxbow.Entry, err error) error {
		if err != nil {
			return err
		}
		if i == st.Proc {
			s.Entries = es
		}
		if d := w.model.describeDifference(es); d != "" && !lax {
			return errors.New(d)
		}
		stats, err := w.procs[i].mem.Stats(context.Background())
		isWrong := !lax && stats.Last != w.model.seq
		if err == nil && isWrong {
			err = fmt.Errorf("it is at change %d, want %d", stats.Last, w.model.seq)
		}
		return err
	})
	if err != nil {
		return err
	}
	if busy || last.Model == w.model {
		s.Model, s.Entries = last.Model, last.Entries
	}
	w.States = append(w.States, s)
	return nil
}

// AllowedStates returns the states that a crash may leave after acked events: the state after
// these events, or that after the step in flight. acked is an index into the States of a
// recorded run of the same script.
func AllowedStates(states []*State, acked int) []*State {
	allowed := []*State{states[acked]}
	if acked+1 < len(states) {
		next := states[acked+1]
		allowed = append(allowed, next)
		// If a nested step did nothing, the outer step may have been in flight before it.
		hasDoneNothing := next.Inner && next.Model == states[acked].Model
		if hasDoneNothing && acked+2 < len(states) {
			allowed = append(allowed, states[acked+2])
		}
	}
	return allowed
}

func collect(s oxbow.Store) ([]oxbow.Entry, error) {
	var es []oxbow.Entry
	for e, err := range s.Entries(context.Background(), oxbow.Filter{}) {
		if err != nil {
			return nil, err
		}
		es = append(es, e)
	}
	return es, nil
}

// describeDifference describes the first difference between the entries and the model, or returns "".
func (m *Model) describeDifference(got []oxbow.Entry) string {
	want := m.Entries()
	for i, e := range got {
		if i >= len(want) {
			return fmt.Sprintf("it has entry %q (version %d), which is not to be there", e.Name, e.Version)
		}
		if w := want[i]; !alike(&e, &w) {
			return fmt.Sprintf("entry %d is %s, want %s", i, describe(&e), describe(&w))
		}
	}
	if len(got) < len(want) {
		return fmt.Sprintf("it lacks entry %s", describe(&want[len(got)]))
	}
	return ""
}

// alike compares the fields that the model contains.
func alike(a, b *oxbow.Entry) bool {
	return a.ID == b.ID && a.Name == b.Name && a.Kind == b.Kind && a.Version == b.Version && a.Content == b.Content &&
		slices.Equal(a.Aliases, b.Aliases) && slices.Equal(a.Labels, b.Labels)
}

func describe(e *oxbow.Entry) string {
	return fmt.Sprintf("%q #%d version %d %v %v %.20q", e.Name, e.ID, e.Version, e.Aliases, e.Labels, e.Content)
}
