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

// StoreState is the content of the store after an event. An event is a step that was done, was refused, or had
// nothing to do.
type StoreState struct {
	Model   *StoreModel
	Entries []oxbow.Entry // entries as the store returned them, including times
	Inner   bool          // the event happened in the middle of another step
	Busy    bool          // the step was refused because another process had the lock
}

// World is the environment in which a script is executed on a disk.
type World struct {
	Script          Script
	Disk            *crashfs.Disk
	CompletedEvents int // number of events that have ended

	// RecordsStates makes a run compare the store with the model after each event, and record the states. Otherwise, a
	// run only executes the same operations.
	RecordsStates bool
	States        []*StoreState // recorded states (the first is the state before all events)
	// ranges of operations inside another step, as pairs with the first and the last operation
	InnerOpRanges []int

	setup         StoreSetup
	processes     []*storeProcess
	model         *StoreModel
	clock         *scriptClock
	rand          io.Reader
	lastBatchStep *Step // last Batch that has an op ID
	isCompacting  bool  // the step around the present nested step is a compaction

	killOperation int // operation at which a process is killed (0 if none is)
}

// storeProcess is a process.
type storeProcess struct {
	fs     *HookedFS
	memory *oxbow.Memory // nil if the memory is not open
}

// scriptClock advances most of the time. As in real use, its fractional seconds have different numbers of digits.
type scriptClock struct {
	r   *rand.Rand
	now time.Time
}

func (c *scriptClock) nextTime() time.Time {
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
func NewWorld(s Script, setup StoreSetup) *World {
	w := &World{Script: s, Disk: crashfs.New(nil), setup: setup, model: &StoreModel{}}
	w.clock = &scriptClock{rand.New(rand.NewPCG(s.Seed, 2)), time.Unix(1776162225, 0)}
	w.rand = seededReader(s.Seed)
	for range s.ProcessCount {
		w.processes = append(w.processes, &storeProcess{fs: NewFS(w.Disk.Process(), setup)})
	}
	w.States = []*StoreState{{Model: w.model}}
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
func (w *World) storeOptions(p *storeProcess) *oxbow.Options {
	return StoreOptions(p.fs, w.clock.nextTime, w.rand)
}

// StoreOptions returns options with which a store does not wait for a lock. If another process has the lock, a
// change is refused immediately.
func StoreOptions(fsys *HookedFS, clock func() time.Time, random io.Reader) *oxbow.Options {
	o := &oxbow.Options{FS: fsys, Clock: clock, Rand: random, LockWait: 1,
		Source: oxbow.Source{Door: "torture"}}
	step, reserve := fsys.FreeSpace()
	setTestOption(o, "freeStep", step)
	setTestOption(o, "freeReserve", reserve)
	if fsys.setup.SnapshotOnClose {
		WriteSnapshotOnClose(o)
	}
	return o
}

// WriteSnapshotOnClose changes the options so that closing the store after a change writes the snapshot. It also
// limits the cache to a few entries.
func WriteSnapshotOnClose(o *oxbow.Options) {
	o.Cache = &oxbow.Cache{Bytes: 2 << 10}
	setTestOption(o, "snapshotLeast", 1)
}

// WriteSnapshotsOften changes the options so that the store writes the snapshot in the background after almost every
// change.
func WriteSnapshotsOften(o *oxbow.Options) { setTestOption(o, "tailLeast", 1) }

// CompactAfterFewChanges changes the options so that the store compacts itself after a few changes.
func CompactAfterFewChanges(o *oxbow.Options) {
	o.KeepChanges = 3
	setTestOption(o, "compactLeast", 1)
}

// setTestOption sets an unexported field of the options that only tests use. If the options do not have the field, it
// panics.
func setTestOption(o *oxbow.Options, fieldName string, n int64) {
	f := reflect.ValueOf(o).Elem().FieldByName(fieldName)
	*(*int64)(f.Addr().UnsafePointer()) = n
}

// UsesSnapshot reports whether the store was opened from a snapshot and still uses that snapshot.
func UsesSnapshot(m *oxbow.Memory) bool {
	state := reflect.ValueOf(m.Store()).Elem().FieldByName("st").Elem()
	return !state.FieldByName("base").IsNil()
}

// OpenedMemory returns the memory of a process. A memory that is not open is opened first.
func (w *World) OpenedMemory(process int) (*oxbow.Memory, error) {
	p := w.processes[process]
	if p.memory == nil {
		m, err := oxbow.Open(StoreFile, w.storeOptions(p))
		if err != nil {
			return nil, err
		}
		p.memory = m
	}
	return p.memory, nil
}

// ProcessFS returns the file system of a process.
func (w *World) ProcessFS(process int) *HookedFS { return w.processes[process].fs }

// RunSteps executes all steps. It stops early if the disk stops or a process is killed. It returns an error if a
// guarantee is violated, but not for a crash.
func (w *World) RunSteps() error {
	for i := range w.processes {
		if _, err := w.OpenedMemory(i); err != nil {
			return w.ignoreCrash(err)
		}
	}
	for i, st := range w.Script.Steps {
		if err := w.RunStep(st); err != nil {
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

// RunStep executes a step, including the step nested in it.
func (w *World) RunStep(st Step) error {
	st = w.resolveRetry(st)
	if st.InnerStep == nil || st.Kind == RevertStep {
		return w.runEvent(st, false)
	}
	fs := w.processes[st.Process].fs
	calls := 0
	var inner error
	fired := false
	fs.BeforeCall = func() {
		calls++
		// Calls after a crash are only part of error handling.
		dead := w.Disk.HasCrashed() || (w.killOperation > 0 && w.Disk.CountOps() >= w.killOperation)
		if fired || dead {
			return
		}
		if calls != st.InnerBeforeCall {
			return
		}
		fired = true
		inner = w.readDuringStep(st)
		if inner == nil {
			from := w.Disk.CountOps()
			w.isCompacting = st.Kind == CompactStep
			inner = w.runEvent(*st.InnerStep, true)
			w.isCompacting = false
			w.InnerOpRanges = append(w.InnerOpRanges, from+1, w.Disk.CountOps())
		}
	}
	err := w.runEvent(st, false)
	fs.BeforeCall = nil
	err = errors.Join(inner, err)
	if err != nil {
		return err
	}
	if !fired {
		return w.runEvent(*st.InnerStep, false)
	}
	return nil
}

// resolveRetry sets the operations and the op ID of a Retry, which repeats the last batch. A batch that is nested in
// the Retry does not affect it.
func (w *World) resolveRetry(st Step) Step {
	isOpen := st.Kind == RetryStep && st.OpID == ""
	if isOpen && w.lastBatchStep != nil {
		st.OpID, st.Ops = w.lastBatchStep.OpID, w.lastBatchStep.Ops
	}
	return st
}

// readDuringStep lets the process that is not acting read in the middle of a step. It must see the state before or
// after the step.
func (w *World) readDuringStep(st Step) error {
	if !w.RecordsStates {
		// Read in every run, because a read may change the state of the reader.
		if m, err := w.OpenedMemory(st.InnerStep.Process); err == nil {
			_, _ = collectEntries(m)
		}
		return nil
	}
	m, err := w.OpenedMemory(st.InnerStep.Process)
	if err != nil {
		return fmt.Errorf("a reader in the middle: %w", err)
	}
	es, err := collectEntries(m)
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

// runEvent executes a step. If RecordsStates is set, it compares the outcome with the model.
func (w *World) runEvent(st Step, isInner bool) error {
	st = w.resolveRetry(st)
	if st.Kind == BatchStep && st.OpID != "" {
		w.lastBatchStep = &st
	}
	undo := w.model.LastUndoableSeq()
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
			w.applyAcknowledgedStep(st, seq)
		}
		w.CompletedEvents++
		w.readByAllProcesses(st, isInner, func(int, []oxbow.Entry, error) error { return nil })
		return nil
	}
	var busy bool
	switch next := w.model.Clone(); {
	case errors.Is(err, oxbow.ErrBusy):
		if !isInner {
			return fmt.Errorf("busy, and nobody has the lock: %w", err)
		}
		busy = true
	case w.isCompacting && st.Kind == RevertStep && errors.Is(err, oxbow.ErrNotFound):
		// The step looked for the change before it acquired the lock, and found that the compaction in progress had
		// already dropped the change.
		busy = true
	default:
		want := w.expectedRevertError(next, st, undo)
		if !errors.Is(err, want) {
			return fmt.Errorf("returned %v, want %v", err, want)
		}
		if err == nil {
			w.applyAcknowledgedStep(st, seq)
		}
	}
	w.CompletedEvents++
	return w.recordState(st, isInner, busy)
}

// callStore calls the store as the step says. For a compaction, it returns the number of the change.
func (w *World) callStore(st Step, undoneSeq uint64) (uint64, error) {
	m, err := w.OpenedMemory(st.Process)
	if err != nil {
		return 0, err
	}
	ctx := context.Background()
	switch st = w.resolveRetry(st); st.Kind {
	case RememberStep:
		_, err = m.Remember(ctx, oxbow.Entry{Name: st.EntryName, Content: st.Content})
	case BatchStep:
		err = m.Apply(oxbow.WithOpID(ctx, st.OpID), st.Ops...)
	case ForgetStep:
		err = m.Forget(ctx, st.EntryName)
	case RevertStep:
		if undoneSeq != 0 {
			_, err = m.Revert(ctx, undoneSeq)
		}
	case CompactStep:
		before := time.Unix(1<<40, 0)
		if st.KeepsHalf {
			before = w.clock.now.Add(-time.Millisecond)
		}
		rep, cerr := m.Compact(ctx, oxbow.Compaction{Before: before})
		return rep.Seq, cerr
	case ReopenStep:
		w.processes[st.Process].memory = nil
		err = m.Close()
		if err == nil {
			_, err = w.OpenedMemory(st.Process)
		}
	case RetryStep:
		if st.OpID != "" {
			err = m.Apply(oxbow.WithOpID(ctx, st.OpID), st.Ops...)
		}
	}
	return 0, err
}

// expectedError executes a step in a model, and returns the error that the store should return.
func (w *World) expectedError(m *StoreModel, st Step) error {
	return w.expectedRevertError(m, st, m.LastUndoableSeq())
}

func (w *World) expectedRevertError(m *StoreModel, st Step, undoneSeq uint64) error {
	switch st = w.resolveRetry(st); st.Kind {
	case RememberStep:
		return m.RememberEntry(st.EntryName, st.Content)
	case BatchStep:
		return m.ApplyOps(st.OpID, st.Ops...)
	case ForgetStep:
		return m.ApplyOps("", oxbow.Remove{Name: st.EntryName})
	case RevertStep:
		if undoneSeq != 0 {
			return m.UndoChange(undoneSeq)
		}
	case RetryStep:
		if st.OpID != "" {
			return m.ApplyOps(st.OpID, st.Ops...)
		}
	}
	return nil
}

// applyAcknowledgedStep executes an acknowledged step in the model.
func (w *World) applyAcknowledgedStep(st Step, seq uint64) {
	if st.Kind == CompactStep {
		if seq != 0 {
			w.model = w.model.Clone()
			w.model.RecordCompaction()
		}
		return
	}
	next := w.model.Clone()
	// If the step changes nothing, keep the model.
	if w.expectedError(next, st) == nil && next.seq != w.model.seq {
		w.model = next
	}
}

// readByAllProcesses lets processes read after an event, and calls fn with the entries that each process sees. After
// every second event, only the process that acted reads, so that every idle process has to catch up later. A read
// changes a store's state, so that all runs of a script must read in the same way.
func (w *World) readByAllProcesses(st Step, isInner bool, fn func(i int, es []oxbow.Entry, err error) error) error {
	all := (uint64(w.CompletedEvents)+w.Script.Seed)%2 == 0
	for i, p := range w.processes {
		// A process must not be used while it executes a step.
		mayRead := i == st.Process || (all && !isInner)
		if p.memory == nil || !mayRead {
			continue
		}
		es, err := collectEntries(p.memory)
		if err := fn(i, es, err); err != nil {
			return fmt.Errorf("process %c: %w", 'A'+rune(i), err)
		}
	}
	return nil
}

// recordState compares the entries that processes read with the model, and records the state.
func (w *World) recordState(st Step, isInner, isBusy bool) error {
	last := w.States[len(w.States)-1]
	s := &StoreState{Model: w.model, Inner: isInner, Busy: isBusy}
	// In the middle of an outer step, its record may be visible already. This is not possible if the nested step was
	// done, because then the outer step has not begun to write.
	lax := isInner && last.Model == w.model
	err := w.readByAllProcesses(st, isInner, func(i int, es []oxbow.Entry, err error) error {
		if err != nil {
			return err
		}
		if i == st.Process {
			s.Entries = es
		}
		if d := w.model.describeDifference(es); d != "" && !lax {
			return errors.New(d)
		}
		stats, err := w.processes[i].memory.Stats(context.Background())
		isWrong := !lax && stats.Last != w.model.seq
		if err == nil && isWrong {
			err = fmt.Errorf("it is at change %d, want %d", stats.Last, w.model.seq)
		}
		return err
	})
	if err != nil {
		return err
	}
	if isBusy || last.Model == w.model {
		s.Model, s.Entries = last.Model, last.Entries
	}
	w.States = append(w.States, s)
	return nil
}

// AllowedStates returns the states that a crash may leave after acked events: the state after these events, and the
// state after the step in progress. completedEvents is an index in the states that another run of the same script
// recorded.
func AllowedStates(states []*StoreState, completedEvents int) []*StoreState {
	allowed := []*StoreState{states[completedEvents]}
	if completedEvents+1 < len(states) {
		next := states[completedEvents+1]
		allowed = append(allowed, next)
		// If a nested step did nothing, the outer step may have been in progress before it.
		hasDoneNothing := next.Inner && next.Model == states[completedEvents].Model
		if hasDoneNothing && completedEvents+2 < len(states) {
			allowed = append(allowed, states[completedEvents+2])
		}
	}
	return allowed
}

func collectEntries(s oxbow.Store) ([]oxbow.Entry, error) {
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
func (m *StoreModel) describeDifference(got []oxbow.Entry) string {
	want := m.Entries()
	for i, e := range got {
		if i >= len(want) {
			return fmt.Sprintf("it has entry %q (version %d), which is not to be there", e.Name, e.Version)
		}
		if w := want[i]; !isSameModelEntry(&e, &w) {
			return fmt.Sprintf("entry %d is %s, want %s", i, describeEntry(&e), describeEntry(&w))
		}
	}
	if len(got) < len(want) {
		return fmt.Sprintf("it lacks entry %s", describeEntry(&want[len(got)]))
	}
	return ""
}

// isSameModelEntry compares two entries by the fields that the model contains.
func isSameModelEntry(a, b *oxbow.Entry) bool {
	return a.ID == b.ID && a.Name == b.Name && a.Kind == b.Kind && a.Version == b.Version && a.Content == b.Content &&
		slices.Equal(a.Aliases, b.Aliases) && slices.Equal(a.Labels, b.Labels)
}

func describeEntry(e *oxbow.Entry) string {
	return fmt.Sprintf("%q #%d version %d %v %v %.20q", e.Name, e.ID, e.Version, e.Aliases, e.Labels, e.Content)
}
