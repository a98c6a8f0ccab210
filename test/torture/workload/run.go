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

// StoreState is the content of the store after an event. An event is the end of a step of the test script. The step
// was executed, was refused, or had nothing to do.
type StoreState struct {
	Model    *StoreModel
	Entries  []oxbow.Entry // entries of the store as the store returned them, including times
	IsNested bool          // the step was executed in the middle of another process's step
	IsBusy   bool          // the step was refused because another process had the lock
}

// World contains the processes, the disk and the clock with which a test script is executed.
type World struct {
	Script          Script
	Disk            *crashfs.Disk
	CompletedEvents int // number of ended steps of the test script, including refused steps

	// RecordsStates makes RunStep compare the store with the expected content after each step, and record the state.
	// Otherwise, the steps are only executed.
	RecordsStates bool
	States        []*StoreState // recorded states of the store (the first is the state before the first step)
	// ranges of disk operations by steps that were nested in another step, as pairs with the first and the last
	// operation
	NestedStepDiskOpRanges []int

	setup         StoreSetup
	processes     []*storeProcess
	model         *StoreModel
	clock         *scriptClock
	rand          io.Reader
	lastBatchStep *Step // last step of the kind BatchStep that has an op ID
	isCompacting  bool  // the present step is nested in a compaction by another process

	killOpNumber int // operation at which a process is killed (0 if none is)
}

// storeProcess is a simulated process that uses the tested store.
type storeProcess struct {
	fs     *HookedFS
	memory *oxbow.Memory // nil if the memory is not open
}

// scriptClock is a clock whose time usually moves forward and sometimes backward. As in real use, its fractional
// seconds have different numbers of digits.
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

// NewWorld returns a World (processes, disk and clock for a test script) with an empty disk. No step of the script has
// been executed.
func NewWorld(s Script, setup StoreSetup) *World {
	w := &World{Script: s, Disk: crashfs.New(nil), setup: setup, model: &StoreModel{}}
	w.clock = &scriptClock{rand.New(rand.NewPCG(s.Seed, 2)), time.Unix(1776162225, 0)}
	w.rand = seededReader(s.Seed)
	for range s.ProcessCount {
		w.processes = append(w.processes, &storeProcess{fs: NewFS(w.Disk.StartProcess(), setup)})
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

// storeOptions returns the options with which a process opens the store, with the clock and the random numbers of this
// World.
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
		EnableSnapshotOnClose(o)
	}
	return o
}

// EnableSnapshotOnClose changes the options so that closing the store after a change writes the snapshot. It also
// limits the cache to a few entries.
func EnableSnapshotOnClose(o *oxbow.Options) {
	o.Cache = &oxbow.Cache{Bytes: 2 << 10}
	setTestOption(o, "snapshotLeast", 1)
}

// WriteSnapshotsOften changes the options so that the store writes the snapshot in the background after almost every
// change.
func WriteSnapshotsOften(o *oxbow.Options) { setTestOption(o, "tailLeast", 1) }

// EnableFrequentCompaction changes the options so that the store compacts itself after a few changes.
func EnableFrequentCompaction(o *oxbow.Options) {
	o.KeepChanges = 3
	setTestOption(o, "compactLeast", 1)
}

// setTestOption sets an unexported field of the options to value. Only tests set this field. If the options do not have
// the field, setTestOption panics.
func setTestOption(o *oxbow.Options, fieldName string, value int64) {
	f := reflect.ValueOf(o).Elem().FieldByName(fieldName)
	*(*int64)(f.Addr().UnsafePointer()) = value
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

// isDeadProcessError reports whether the error was returned because the process was killed, or because the machine
// crashed.
func isDeadProcessError(err error) bool {
	return errors.Is(err, crashfs.ErrCrashed) || errors.Is(err, crashfs.ErrKilled)
}

// ignoreCrash returns nil if err says that the process was killed or that the machine crashed. Otherwise it returns
// err.
func (w *World) ignoreCrash(err error) error {
	if isDeadProcessError(err) {
		return nil
	}
	return err
}

// RunStep executes a step of the test script. If the step has a NestedStep, another process executes the nested step in
// the middle of the step: before the file system call with the number NestedStepFSCallNumber. If the step makes fewer
// calls, the nested step is executed after the step. The NestedStep of a RevertStep is not executed.
func (w *World) RunStep(st Step) error {
	st = w.resolveRetryStep(st)
	if st.NestedStep == nil || st.Kind == RevertStep {
		return w.runStep(st, false)
	}
	fs := w.processes[st.Process].fs
	calls := 0
	var inner error
	fired := false
	fs.BeforeCall = func() {
		calls++
		// After a crash or a kill, the step only handles errors, so do not run the nested step then.
		dead := w.Disk.HasCrashed() || (w.killOpNumber > 0 && w.Disk.CountOps() >= w.killOpNumber)
		if fired || dead {
			return
		}
		if calls != st.NestedStepFSCallNumber {
			return
		}
		fired = true
		inner = w.checkReadDuringStep(st)
		if inner == nil {
			from := w.Disk.CountOps()
			w.isCompacting = st.Kind == CompactStep
			inner = w.runStep(*st.NestedStep, true)
			w.isCompacting = false
			w.NestedStepDiskOpRanges = append(w.NestedStepDiskOpRanges, from+1, w.Disk.CountOps())
		}
	}
	err := w.runStep(st, false)
	fs.BeforeCall = nil
	err = errors.Join(inner, err)
	if err != nil {
		return err
	}
	if !fired {
		return w.runStep(*st.NestedStep, false)
	}
	return nil
}

// resolveRetryStep returns the step that is really executed for st. A RetryStep without an op ID gets the ops and the
// op ID of the last batch. All other steps are returned unchanged. This includes a RetryStep that already has an op ID,
// so that it stays the same even if another process executes a batch in the middle of it.
func (w *World) resolveRetryStep(st Step) Step {
	isOpen := st.Kind == RetryStep && st.OpID == ""
	if isOpen && w.lastBatchStep != nil {
		st.OpID, st.Ops = w.lastBatchStep.OpID, w.lastBatchStep.Ops
	}
	return st
}

// checkReadDuringStep reads all entries in the middle of the step st, through the process st.NestedStep.Process, which
// does not run st. If RecordsStates is set, the entries must be those before the step or those after it. Otherwise
// checkReadDuringStep returns an error.
func (w *World) checkReadDuringStep(st Step) error {
	if !w.RecordsStates {
		// Read in every run, because a read may change the data that the reading process has in memory.
		if m, err := w.OpenedMemory(st.NestedStep.Process); err == nil {
			_, _ = collectEntries(m)
		}
		return nil
	}
	m, err := w.OpenedMemory(st.NestedStep.Process)
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

// runStep executes a step of the test script. isNested is true for a step inside another process's step. If
// RecordsStates is set, runStep compares the store with its expected content (the model).
func (w *World) runStep(st Step, isNested bool) error {
	st = w.resolveRetryStep(st)
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
		// Update the expected content, because it determines which change a later RevertStep undoes.
		if err == nil {
			w.applyAcknowledgedStep(st, seq)
		}
		w.CompletedEvents++
		w.readByAllProcesses(st, isNested, func(int, []oxbow.Entry, error) error { return nil })
		return nil
	}
	var busy bool
	switch next := w.model.Clone(); {
	case errors.Is(err, oxbow.ErrBusy):
		if !isNested {
			return fmt.Errorf("busy, and nobody has the lock: %w", err)
		}
		busy = true
	case w.isCompacting && st.Kind == RevertStep && errors.Is(err, oxbow.ErrNotFound):
		// Treat the step as refused. A RevertStep looks for the change to undo before it acquires the lock. In this
		// case, a compaction in another process has dropped this change meanwhile.
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
	return w.recordState(st, isNested, busy)
}

// callStore calls the store as the step says. For a compaction, it returns the number of the change.
func (w *World) callStore(st Step, undoneSeq uint64) (uint64, error) {
	m, err := w.OpenedMemory(st.Process)
	if err != nil {
		return 0, err
	}
	ctx := context.Background()
	switch st = w.resolveRetryStep(st); st.Kind {
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
		if st.KeepsNewerHistoryHalf {
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

// expectedError executes the step st in the model m, which contains the expected content of the store. It returns the
// error that the store should return for this step.
func (w *World) expectedError(m *StoreModel, st Step) error {
	return w.expectedRevertError(m, st, m.LastUndoableSeq())
}

func (w *World) expectedRevertError(m *StoreModel, st Step, undoneSeq uint64) error {
	switch st = w.resolveRetryStep(st); st.Kind {
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

// applyAcknowledgedStep updates the expected content of the store (w.model), after the store has executed a step
// successfully.
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

// readByAllProcesses lets processes read the store after the step st, and calls fn with the entries that each process
// reads. After about half of the steps, only the process that executed the step reads. The others then have several
// changes to read at once later, which is also tested. The step's number and the script's seed decide this, because all
// runs of a script must read at the same steps: a read changes the memory of a process.
func (w *World) readByAllProcesses(st Step, isNested bool, fn func(i int, es []oxbow.Entry, err error) error) error {
	all := (uint64(w.CompletedEvents)+w.Script.Seed)%2 == 0
	for i, p := range w.processes {
		// If the step was nested, another process is still in the middle of its own step and cannot read now.
		mayRead := i == st.Process || (all && !isNested)
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

// recordState compares the entries that processes read after a step with the expected content (w.model). It appends
// the content to w.States.
func (w *World) recordState(st Step, isNested, isBusy bool) error {
	last := w.States[len(w.States)-1]
	s := &StoreState{Model: w.model, IsNested: isNested, IsBusy: isBusy}
	// If isNested is set, one process executed st while another process was in the middle of its own step. If st has
	// changed nothing, the process in the middle of its step may already have made its change, so the entries cannot be
	// compared with w.model. If st has made a change, the other process cannot have made its own change yet, so the
	// entries can be compared.
	lax := isNested && last.Model == w.model
	err := w.readByAllProcesses(st, isNested, func(i int, es []oxbow.Entry, err error) error {
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

// StatesAllowedAfterCrash returns the contents that a store may have after a crash, when completedEvents steps had
// ended. These are the content after these steps, and the content after the step in progress. states was recorded in
// another run of the same test script.
func StatesAllowedAfterCrash(states []*StoreState, completedEvents int) []*StoreState {
	allowed := []*StoreState{states[completedEvents]}
	if completedEvents+1 < len(states) {
		next := states[completedEvents+1]
		allowed = append(allowed, next)
		// next may describe a nested step, which one process executes in the middle of another process's step. If the
		// nested step changed nothing, the crash may have interrupted the process in the middle of its step instead.
		// The content after this process's step is the next element of states, so allow it too.
		hasDoneNothing := next.IsNested && next.Model == states[completedEvents].Model
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

// describeDifference describes the first difference between two lists of entries. The argument got contains the entries
// that were read, and m.Entries returns the entries that the store should contain. describeDifference returns "" if
// there is no difference.
func (m *StoreModel) describeDifference(got []oxbow.Entry) string {
	want := m.Entries()
	for i, e := range got {
		if i >= len(want) {
			return fmt.Sprintf("it has entry %q (version %d), which is not to be there", e.Name, e.Version)
		}
		if w := want[i]; !hasSameModelFields(&e, &w) {
			return fmt.Sprintf("entry %d is %s, want %s", i, describeEntry(&e), describeEntry(&w))
		}
	}
	if len(got) < len(want) {
		return fmt.Sprintf("it lacks entry %s", describeEntry(&want[len(got)]))
	}
	return ""
}

// hasSameModelFields reports whether two entries agree in all fields that a StoreModel contains. It ignores times and
// sources.
func hasSameModelFields(a, b *oxbow.Entry) bool {
	return a.ID == b.ID && a.Name == b.Name && a.Kind == b.Kind && a.Version == b.Version && a.Content == b.Content &&
		slices.Equal(a.Aliases, b.Aliases) && slices.Equal(a.Labels, b.Labels)
}

func describeEntry(e *oxbow.Entry) string {
	return fmt.Sprintf("%q #%d version %d %v %v %.20q", e.Name, e.ID, e.Version, e.Aliases, e.Labels, e.Content)
}
