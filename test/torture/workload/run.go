// This file executes scripts with real stores, on a disk that may crash. The clock and the random numbers are the same
// in each run.

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

// State is the content of the store after an event. An event is a step that was done, was refused, or had nothing to
// do.
type State struct {
	Model   *Model
	Entries []oxbow.Entry // entries as the store returned them, including times
	Inner   bool          // the event happened in the middle of another step
	Busy    bool          // the step was refused because another process had the lock
}

// World is the environment in which a script is executed on a disk.
type World struct {
	Script      Script
	Disk        *crashfs.Disk
	AckedEvents int // number of events that have ended

	// RecordsStates makes a run compare the store with the model after each event, and record the states. Otherwise, a
	// run only executes the same operations.
	RecordsStates bool
	States        []*State // recorded states (the first is the state before all events)
	// ranges of operations in the middle of another step, as pairs of the first and the last operation
	InnerRanges []int

	setup        Setup
	procs        []*proc
	model        *Model
	clock        *clock
	rand         io.Reader
	lastBatch    *Step // last Batch that has an op ID
	isCompacting bool  // the step around the present nested step is a compaction

	killAtOp int // operation at which a process is killed (0 if none is)
}

// proc is a process.
type proc struct {
	fs     *FS
	memory *oxbow.Memory // nil if the memory is not open
}

// clock advances most of the time. As in real use, the fractions of its seconds have different numbers of digits.
type clock struct {
	r   *rand.Rand
	now time.Time
}

func (c *clock) nextTime() time.Time {
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

// NewWorld returns a world with an empty disk, in which the script has not begun.
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
	return Options(p.fs, w.clock.nextTime, w.rand)
}

// Options returns options with which a store does not wait for a lock. If another process has the lock, a change is
// refused immediately.
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

// KeepSnapshots changes the options so that closing the store after a change writes the snapshot. It also limits the
// cache to a few entries.
func KeepSnapshots(o *oxbow.Options) {
	o.Cache = &oxbow.Cache{Bytes: 2 << 10}
	setOption(o, "snapshotLeast", 1)
}

// KeepSnapshotsOpen changes the options so that the store writes the snapshot in the background after almost every
// change.
func KeepSnapshotsOpen(o *oxbow.Options) { setOption(o, "tailLeast", 1) }

// CompactEarly changes the options so that the store compacts itself after a few changes.
func CompactEarly(o *oxbow.Options) {
	o.KeepChanges = 3
	setOption(o, "compactLeast", 1)
}

// setOption sets an unexported field of the options that only tests use. If the options do not have the field, it
// panics.
func setOption(o *oxbow.Options, name string, n int64) {
	f := reflect.ValueOf(o).Elem().FieldByName(name)
	*(*int64)(f.Addr().UnsafePointer()) = n
}

// FromSnapshot reports whether the store was opened from a snapshot and still uses that snapshot.
func FromSnapshot(m *oxbow.Memory) bool {
	state := reflect.ValueOf(m.Store()).Elem().FieldByName("st").Elem()
	return !state.FieldByName("base").IsNil()
}

// Memory returns the memory of a process. If it is not open, Memory opens it.
func (w *World) Memory(i int) (*oxbow.Memory, error) {
	p := w.procs[i]
	if p.memory == nil {
		m, err := oxbow.Open(StoreFile, w.storeOptions(p))
		if err != nil {
			return nil, err
		}
		p.memory = m
	}
	return p.memory, nil
}

// FS returns the file system of a process.
func (w *World) FS(i int) *FS { return w.procs[i].fs }

// Run executes all steps. It stops early if the disk stops or a process is killed. It returns an error if a guarantee
// is violated, but not for a crash.
func (w *World) Run() error {
	for i := range w.procs {
		if _, err := w.Memory(i); err != nil {
			return w.ignoreCrash(err)
		}
	}
	for i, st := range w.Script.Steps {
		if err := w.Step(st); err != nil {
			if isDeadProcessError(err) {
				return nil
			}
			return fmt.Errorf("step %d (%v): %w", i+1, st, err)
		}
	}
	return nil
}

// isDeadProcessError reports whether the error was returned because the process was killed.
func isDeadProcessError(err error) bool {
	return errors.Is(err, crashfs.ErrCrashed) || errors.Is(err, crashfs.ErrKilled)
}

// ignoreCrash returns err, or nil if err was caused by a crash.
func (w *World) ignoreCrash(err error) error {
	if isDeadProcessError(err) {
		return nil
	}
	return err
}

// Step executes a step, including the step nested in it.
func (w *World) Step(st Step) error {
	st = w.resolveRetry(st)
	if st.Inner == nil || st.Kind == Revert {
		return w.doEvent(st, false)
	}
	fs := w.procs[st.Proc].fs
	calls := 0
	var inner error
	fired := false
	fs.Before = func() {
		calls++
		// Calls after a crash are only part of error handling.
		dead := w.Disk.HasCrashed() || (w.killAtOp > 0 && w.Disk.CountOps() >= w.killAtOp)
		if fired || dead {
			return
		}
		if calls != st.InnerAt {
			return
		}
		fired = true
		inner = w.readBetween(st)
		if inner == nil {
			from := w.Disk.CountOps()
			w.isCompacting = st.Kind == Compact
			inner = w.doEvent(*st.Inner, true)
			w.isCompacting = false
			w.InnerRanges = append(w.InnerRanges, from+1, w.Disk.CountOps())
		}
	}
	err := w.doEvent(st, false)
	fs.Before = nil
	err = errors.Join(inner, err)
	if err != nil {
		return err
	}
	if !fired {
		return w.doEvent(*st.Inner, false)
	}
	return nil
}

// resolveRetry sets the operations and the op ID of a Retry, which repeats the last batch. A batch that is nested in
// the Retry has no effect on it.
func (w *World) resolveRetry(st Step) Step {
	isOpen := st.Kind == Retry && st.OpID == ""
	if isOpen && w.lastBatch != nil {
		st.OpID, st.Ops = w.lastBatch.OpID, w.lastBatch.Ops
	}
	return st
}

// readBetween lets the other process read in the middle of a step. It must see the state before or after the step.
func (w *World) readBetween(st Step) error {
	if !w.RecordsStates {
		// Read in every run, because a read may change the state of the reader.
		if m, err := w.Memory(st.Inner.Proc); err == nil {
			_, _ = collect(m)
		}
		return nil
	}
	m, err := w.Memory(st.Inner.Proc)
	if err != nil {
		return fmt.Errorf("a reader in the middle: %w", err)
	}
	es, err := collect(m)
	if err != nil {
		return fmt.Errorf("a reader in the middle: %w", err)
	}
	after := w.model.Clone()
	_ = w.expectedError(after, st)
	if d := w.model.describeDifference(es); d != "" && after.describeDifference(es) != "" {
		return fmt.Errorf("a reader in the middle sees neither what was nor what is to be: %s", d)
	}
	return nil
}

// doEvent executes a step. If RecordsStates is set, it compares the outcome with the model.
func (w *World) doEvent(st Step, inner bool) error {
	st = w.resolveRetry(st)
	if st.Kind == Batch && st.OpID != "" {
		w.lastBatch = &st
	}
	undo := w.model.LastUndoable()
	seq, err := w.callStore(st, undo)
	hasCrashed := err != nil && w.Disk.HasCrashed()
	if hasCrashed || isDeadProcessError(err) {
		if err == nil {
			err = crashfs.ErrCrashed
		}
		return err
	}
	if !w.RecordsStates {
		// Update the model, because it determines what Revert undoes.
		if err == nil {
			w.applyAcked(st, seq)
		}
		w.AckedEvents++
		w.readByAll(st, inner, func(int, []oxbow.Entry, error) error { return nil })
		return nil
	}
	var busy bool
	switch next := w.model.Clone(); {
	case errors.Is(err, oxbow.ErrBusy):
		if !inner {
			return fmt.Errorf("busy, and nobody has the lock: %w", err)
		}
		busy = true
	case w.isCompacting && st.Kind == Revert && errors.Is(err, oxbow.ErrNotFound):
		// The step looked for the change before it acquired the lock, and found that the compaction in progress had
		// already dropped the change.
		busy = true
	default:
		want := w.expectedRevertError(next, st, undo)
		if !errors.Is(err, want) {
			return fmt.Errorf("returned %v, want %v", err, want)
		}
		if err == nil {
			w.applyAcked(st, seq)
		}
	}
	w.AckedEvents++
	return w.recordState(st, inner, busy)
}

// callStore calls the store as the step says. For a compaction, it returns the number of the change.
func (w *World) callStore(st Step, undo uint64) (uint64, error) {
	m, err := w.Memory(st.Proc)
	if err != nil {
		return 0, err
	}
	ctx := context.Background()
	switch st = w.resolveRetry(st); st.Kind {
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
		if st.KeepsHalf {
			before = w.clock.now.Add(-time.Millisecond)
		}
		rep, cerr := m.Compact(ctx, oxbow.Compaction{Before: before})
		return rep.Seq, cerr
	case Reopen:
		w.procs[st.Proc].memory = nil
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

// expectedError executes a step in a model, and returns the error that the store should return.
func (w *World) expectedError(m *Model, st Step) error {
	return w.expectedRevertError(m, st, m.LastUndoable())
}

func (w *World) expectedRevertError(m *Model, st Step, undo uint64) error {
	switch st = w.resolveRetry(st); st.Kind {
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

// applyAcked executes an acknowledged step in the model.
func (w *World) applyAcked(st Step, seq uint64) {
	if st.Kind == Compact {
		if seq != 0 {
			w.model = w.model.Clone()
			w.model.Compact()
		}
		return
	}
	next := w.model.Clone()
	// If the step changes nothing, keep the model.
	if w.expectedError(next, st) == nil && next.seq != w.model.seq {
		w.model = next
	}
}

// readByAll lets processes read after an event, and calls fn with the entries that each process sees. After every
// second event, only the process that acted reads, so that the others have to catch up later. A read changes the state
// of a store, so that all runs of a script must read in the same way.
func (w *World) readByAll(st Step, inner bool, fn func(i int, es []oxbow.Entry, err error) error) error {
	all := (uint64(w.AckedEvents)+w.Script.Seed)%2 == 0
	for i, p := range w.procs {
		// A process must not be used while it executes a step.
		mayRead := i == st.Proc || (all && !inner)
		if p.memory == nil || !mayRead {
			continue
		}
		es, err := collect(p.memory)
		if err := fn(i, es, err); err != nil {
			return fmt.Errorf("process %c: %w", 'A'+rune(i), err)
		}
	}
	return nil
}

// recordState compares the entries that processes read with the model, and records the state.
func (w *World) recordState(st Step, inner, busy bool) error {
	last := w.States[len(w.States)-1]
	s := &State{Model: w.model, Inner: inner, Busy: busy}
	// In the middle of another step, the record of that step may be visible already. This is not possible if the
	// nested step was done, because then the outer step has not begun to write.
	lax := inner && last.Model == w.model
	err := w.readByAll(st, inner, func(i int, es []oxbow.Entry, err error) error {
		if err != nil {
			return err
		}
		if i == st.Proc {
			s.Entries = es
		}
		if d := w.model.describeDifference(es); d != "" && !lax {
			return errors.New(d)
		}
		stats, err := w.procs[i].memory.Stats(context.Background())
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

// AllowedStates returns the states that a crash may leave after acked events: the state after these events, and the
// state after the step in progress. acked is an index in the states that another run of the same script recorded.
func AllowedStates(states []*State, acked int) []*State {
	allowed := []*State{states[acked]}
	if acked+1 < len(states) {
		next := states[acked+1]
		allowed = append(allowed, next)
		// If a nested step did nothing, the outer step may have been in progress before it.
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

// describeDifference describes the first difference between the entries and the model. It returns "" if there is none.
func (m *Model) describeDifference(got []oxbow.Entry) string {
	want := m.Entries()
	for i, e := range got {
		if i >= len(want) {
			return fmt.Sprintf("it has entry %q (version %d), which is not to be there", e.Name, e.Version)
		}
		if w := want[i]; !isSameInModel(&e, &w) {
			return fmt.Sprintf("entry %d is %s, want %s", i, describeEntry(&e), describeEntry(&w))
		}
	}
	if len(got) < len(want) {
		return fmt.Sprintf("it lacks entry %s", describeEntry(&want[len(got)]))
	}
	return ""
}

// isSameInModel compares two entries by the fields that the model contains.
func isSameInModel(a, b *oxbow.Entry) bool {
	return a.ID == b.ID && a.Name == b.Name && a.Kind == b.Kind && a.Version == b.Version && a.Content == b.Content &&
		slices.Equal(a.Aliases, b.Aliases) && slices.Equal(a.Labels, b.Labels)
}

func describeEntry(e *oxbow.Entry) string {
	return fmt.Sprintf("%q #%d version %d %v %v %.20q", e.Name, e.ID, e.Version, e.Aliases, e.Labels, e.Content)
}
