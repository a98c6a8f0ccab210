// This file implements the concurrency campaign. Goroutines use one disk through several processes, and some processes
// are killed in the middle of a call. The calls must be linearizable: each call must seem to happen at one moment
// between the call's beginning and end.

package faults

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/test/crashfs"
	"github.com/oxbow-memory/oxbow/test/torture/workload"
)

// These numbers determine how many calls a history has. A history is the list of all calls with their times and
// results.
const (
	linearizabilityProcessCount = 3
	goroutinesPerProcess        = 2 // number of goroutines in each process
	callsPerGoroutine           = 16
	linearizabilityNameCount    = 3
)

// maxHistoryCheckTime is the maximum time for checking one recorded history of concurrent calls.
const maxHistoryCheckTime = 20 * time.Second

// LinearizabilityTally counts the histories, calls and stores that the test of concurrent calls has tested.
type LinearizabilityTally struct {
	Histories          int
	Calls              int
	CallsPendingAtKill int // number of calls that had not returned when the process that made them was killed
	CallsRefusedAsBusy int // number of calls that were refused because the lock was not available in time
	OpensFromSnapshot  int // number of stores that were opened from a snapshot
}

// Add adds the counts in u to t.
func (t *LinearizabilityTally) Add(u LinearizabilityTally) {
	t.Histories += u.Histories
	t.Calls += u.Calls
	t.CallsPendingAtKill += u.CallsPendingAtKill
	t.CallsRefusedAsBusy += u.CallsRefusedAsBusy
	t.OpensFromSnapshot += u.OpensFromSnapshot
}

// callKind is the action of a call on an entry. The checker of the history treats each entry as a variable that is
// read and written.
type callKind int

const (
	callReadEntry     callKind = iota
	callRememberEntry          // The call is [oxbow.Memory.Remember], which writes the entry whether or not it exists.
	callAddEntry               // The call is Add, which fails if the entry exists.
	// The call is Update with the field If, and fails if the entry lacks the expected content.
	callUpdateIfContent
	callForgetEntry // The call is Forget, which fails if the entry does not exist.
	// The call compacts the store. It is not recorded in the history, because it does not change an entry.
	callCompactStore
)

var verbNames = [...]string{"read", "write", "add", "swap", "remove", "compact"}

// recordedEntryCall describes a call that reads or changes an entry. Each call that writes uses a new content, so a
// content that is read shows which call wrote it.
type recordedEntryCall struct {
	verb    callKind
	name    string
	oldText string // content that the entry must have, for callUpdateIfContent
	text    string
}

// recordedCallResult is the result of a call.
type recordedCallResult struct {
	text              string // content that was read ("" if the entry does not exist)
	wasChangeAccepted bool   // The change was made.
	isOutcomeUnknown  bool   // The process was killed, so it is unknown whether the change was made.
}

// entryConsistencyModel tells the checker of the history how an entry must behave. If the entry does not exist, its
// content is "".
var entryConsistencyModel = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byName := map[string][]porcupine.Operation{}
		for _, op := range history {
			name := op.Input.(recordedEntryCall).name
			byName[name] = append(byName[name], op)
		}
		var parts [][]porcupine.Operation
		for _, part := range byName {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() any { return "" },
	Step: func(state, in, out any) (bool, any) {
		have := state.(string)
		i := in.(recordedEntryCall)
		o := out.(recordedCallResult)
		if i.verb == callReadEntry {
			return o.isOutcomeUnknown || o.text == have, have
		}
		can, then := true, i.text
		switch i.verb {
		case callAddEntry:
			can = have == ""
		case callUpdateIfContent:
			can = have == i.oldText && have != ""
		case callForgetEntry:
			can, then = have != "", ""
		}
		if !can {
			return o.isOutcomeUnknown || !o.wasChangeAccepted, have
		}
		return o.isOutcomeUnknown || o.wasChangeAccepted, then
	},
	DescribeOperation: func(in, out any) string {
		i, o := in.(recordedEntryCall), out.(recordedCallResult)
		return fmt.Sprintf("%s %s %q->%q = %+v", verbNames[i.verb], i.name, i.oldText, i.text, o)
	},
}

// linearizabilityRun records the history of one run.
type linearizabilityRun struct {
	disk  *crashfs.Disk
	setup workload.StoreSetup
	// Number of calls that began plus number that ended. This number is the time of these events in the history.
	clock             atomic.Int64
	newContentCounter atomic.Int64
	mu                sync.Mutex // mu guards the fields below.
	recordedCalls     []porcupine.Operation
	tally             LinearizabilityTally
	err               error
}

// CheckLinearHistory lets several processes call a store, records the history of the calls and checks it. The seed
// determines the calls. Two processes are killed during the test, and two new processes replace them. The history also
// depends on the scheduler of goroutines, so the same seed does not always give the same history.
func CheckLinearHistory(seed uint64, setup workload.StoreSetup) (LinearizabilityTally, error) {
	setup.SnapshotOnClose = workload.ScriptWritesSnapshots(seed)
	r := &linearizabilityRun{disk: crashfs.New(nil), setup: setup}
	r.tally.Histories = 1
	rnd := rand.New(rand.NewPCG(seed, 11))
	var wg sync.WaitGroup
	for p := range linearizabilityProcessCount {
		kill := 0
		if p < 2 {
			kill = 10 + rnd.IntN(120)
		}
		seed := rnd.Uint64()
		wg.Go(func() { r.runProcess(p, seed, kill) })
	}
	wg.Wait()
	r.readFinalState(seed)
	if r.err == nil {
		r.recordedCalls = historyWithoutEarlyReads(r.recordedCalls)
		switch porcupine.CheckOperationsTimeout(entryConsistencyModel, r.recordedCalls, maxHistoryCheckTime) {
		case porcupine.Illegal:
			r.err = fmt.Errorf("the history is not linearizable: %s", explainHistory(r.recordedCalls))
		case porcupine.Unknown:
			r.err = fmt.Errorf("the checker did not come to an end in %v", maxHistoryCheckTime)
		}
	}
	if r.err != nil {
		return r.tally, fmt.Errorf("seed %d: %w", seed, r.err)
	}
	return r.tally, nil
}

// historyWithoutEarlyReads returns the history ops without the early reads. An early read returns a change of another
// process before that process has acknowledged the change. An early read is not an error, because a change is in the
// file slightly before it is acknowledged.
//
// The caller checks the remaining calls for two guarantees. A read returns each change that was acknowledged before the
// read began. A process always sees its own changes.
func historyWithoutEarlyReads(ops []porcupine.Operation) []porcupine.Operation {
	process := func(op porcupine.Operation) int { return op.ClientId / goroutinesPerProcess }
	early := func(got porcupine.Operation) bool {
		return slices.ContainsFunc(ops, func(w porcupine.Operation) bool {
			in, out := w.Input.(recordedEntryCall), got.Output.(recordedCallResult)
			wrote := (in.verb != callForgetEntry && out.text == in.text) ||
				(in.verb == callForgetEntry && out.text == "")
			return in.verb != callReadEntry && in.name == got.Input.(recordedEntryCall).name && wrote &&
				process(w) != process(got) &&
				w.Call < got.Return &&
				w.Return > got.Return
		})
	}
	return slices.DeleteFunc(slices.Clone(ops), func(op porcupine.Operation) bool {
		return op.Input.(recordedEntryCall).verb == callReadEntry && early(op)
	})
}

// explainHistory lists the calls for each name whose history is not linearizable, in the order in which they began. It
// replaces the output of the checker, which needs a browser.
func explainHistory(ops []porcupine.Operation) string {
	s := ""
	for _, part := range entryConsistencyModel.Partition(ops) {
		if porcupine.CheckOperations(entryConsistencyModel, part) {
			continue
		}
		slices.SortFunc(part, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
		for _, op := range part {
			s += fmt.Sprintf(
				"\n  [%d,%d] %d: %s",
				op.Call,
				op.Return,
				op.ClientId,
				entryConsistencyModel.DescribeOperation(op.Input, op.Output),
			)
		}
	}
	return s
}

// runProcess opens the store, and starts the goroutines of one process, which make calls. If the process is killed,
// one new process continues in its place.
func (r *linearizabilityRun) runProcess(processNumber int, seed uint64, killAfterOps int) {
	for life := range 2 {
		proc := r.disk.StartProcess()
		if life == 0 && killAfterOps > 0 {
			// Add the number of operations so far, because the disk numbers the operations of all processes together.
			r.disk.KillAt(proc, r.disk.CountOps()+killAfterOps)
		}
		var mu sync.Mutex // mu guards now.
		now := time.Unix(1776162225, 0)
		clock := func() time.Time { mu.Lock(); defer mu.Unlock(); now = now.Add(time.Millisecond); return now }
		opts := workload.StoreOptions(
			workload.NewFS(proc, r.setup),
			clock,
			&lockedReader{r: rand.NewChaCha8([32]byte{byte(seed), byte(processNumber), byte(life)})},
		)
		opts.LockWait = 10 * time.Second
		if seed%2 == 1 {
			workload.EnableFrequentCompaction(opts)
		}
		if seed%3 == 1 {
			workload.WriteSnapshotsOften(opts)
		}
		m, err := oxbow.Open(workload.StoreFile, opts)
		if err != nil {
			if !isKilledError(err) {
				r.addError(fmt.Errorf("open: %w", err))
				return
			}
			continue
		}
		if workload.UsesSnapshot(m) {
			r.mu.Lock()
			r.tally.OpensFromSnapshot++
			r.mu.Unlock()
		}
		var dead atomic.Bool
		var wg sync.WaitGroup
		for h := range goroutinesPerProcess {
			rnd := rand.New(rand.NewPCG(seed, uint64(life*10+h)))
			id := (processNumber*2+life)*goroutinesPerProcess + h
			wg.Go(func() {
				for range callsPerGoroutine {
					if !r.makeCall(proc, m, id, rnd) {
						dead.Store(true)
						return
					}
				}
			})
		}
		wg.Wait()
		if !dead.Load() {
			if err := m.Close(); err != nil && !isKilledError(err) {
				r.addError(fmt.Errorf("close: %w", err))
			}
			return
		}
	}
}

// lockedReader is a source of random bytes for several goroutines.
type lockedReader struct {
	mu sync.Mutex
	r  *rand.ChaCha8
}

func (l *lockedReader) Read(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.r.Read(b)
}

func isKilledError(err error) bool { return errors.Is(err, crashfs.ErrKilled) }

func (r *linearizabilityRun) addError(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = errors.Join(r.err, err)
}

// makeCall makes a random call to the store and records it in the history. It returns false if the process was killed.
func (r *linearizabilityRun) makeCall(proc *crashfs.Process, m *oxbow.Memory, id int, rnd *rand.Rand) bool {
	ctx := context.Background()
	in := recordedEntryCall{
		name: fmt.Sprintf("n%d", rnd.IntN(linearizabilityNameCount)),
		text: fmt.Sprintf("text %d", r.newContentCounter.Add(1)),
	}
	switch n := rnd.IntN(20); {
	case n < 8:
		in.verb = callReadEntry
	case n < 13:
		in.verb = callRememberEntry
	case n < 15:
		in.verb = callAddEntry
	case n < 17:
		in.verb = callUpdateIfContent
	case n < 19:
		in.verb = callForgetEntry
	default:
		in.verb = callCompactStore
	}
	var version uint64
	if in.verb == callUpdateIfContent {
		e, err := m.Get(ctx, in.name)
		if err != nil {
			// The entry could not be read, so an update that expects its old content is impossible. Read the entry
			// instead, and record the read as a call of its own.
			in.verb = callReadEntry
		}
		in.oldText, version = e.Content, e.Version
	}
	var out recordedCallResult
	var err error
	begin := r.clock.Add(1)
	switch in.verb {
	case callReadEntry:
		var e oxbow.Entry
		e, err = m.Get(ctx, in.name)
		if errors.Is(err, oxbow.ErrNotFound) {
			err = nil
		}
		out.text = e.Content
	case callRememberEntry:
		_, err = m.Remember(ctx, oxbow.Entry{Name: in.name, Content: in.text})
		out.wasChangeAccepted = err == nil
	case callAddEntry:
		err = m.Apply(ctx, oxbow.Add{Name: in.name, Content: in.text})
		out.wasChangeAccepted, err = wasChangeMade(err, oxbow.ErrExists)
	case callUpdateIfContent:
		err = m.Apply(ctx, oxbow.Update{Name: in.name, Content: in.text, If: version})
		out.wasChangeAccepted, err = wasChangeMade(err, oxbow.ErrConflict, oxbow.ErrNotFound)
	case callForgetEntry:
		err = m.Forget(ctx, in.name)
		out.wasChangeAccepted, err = wasChangeMade(err, oxbow.ErrNotFound)
	case callCompactStore:
		_, err = m.Compact(ctx, oxbow.Compaction{Before: time.Unix(1<<40, 0)})
	}
	end := r.clock.Add(1)
	// In this simulation, a call by a killed process may still return a result from memory. In reality, no caller
	// would receive the result, so treat it as an error.
	if _, dead := proc.Stat("."); dead != nil && err == nil {
		err = dead
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	r.tally.Calls++
	switch {
	case isKilledError(err):
		r.tally.CallsPendingAtKill++
		out.isOutcomeUnknown, end = true, 1<<60
	case errors.Is(err, oxbow.ErrBusy):
		r.tally.CallsRefusedAsBusy++
		// The store was busy, so the call has changed nothing and is not recorded. The goroutine can continue.
		return true
	case err != nil:
		r.err = errors.Join(r.err, fmt.Errorf("%s %s: %w", verbNames[in.verb], in.name, err))
		return false
	}
	// Do not record a read by a process that was killed, because its result is unknown and it changes nothing.
	if in.verb != callCompactStore && !(in.verb == callReadEntry && out.isOutcomeUnknown) {
		r.recordedCalls = append(
			r.recordedCalls,
			porcupine.Operation{ClientId: id, Input: in, Call: begin, Output: out, Return: end},
		)
	}
	return !out.isOutcomeUnknown
}

// wasChangeMade reports whether a change was made. The errors in allowedErrors are the errors with which the store may
// refuse this change. For any other error, wasChangeMade returns the error.
func wasChangeMade(err error, allowedErrors ...error) (bool, error) {
	for _, p := range allowedErrors {
		if errors.Is(err, p) {
			return false, nil
		}
	}
	return err == nil, err
}

// readFinalState opens the store at the end of a run, and reads each name's entry from the disk. It adds these reads to
// the recorded calls, so that the linearizability check includes them. Then it checks the store. Errors are added to r.
func (r *linearizabilityRun) readFinalState(seed uint64) {
	m, err := oxbow.Open(
		workload.StoreFile,
		workload.StoreOptions(
			workload.NewFS(r.disk.StartProcess(), r.setup),
			time.Now,
			rand.NewChaCha8([32]byte{byte(seed)}),
		),
	)
	if err != nil {
		r.addError(fmt.Errorf("open at the end: %w", err))
		return
	}
	for i := range linearizabilityNameCount {
		in := recordedEntryCall{verb: callReadEntry, name: fmt.Sprintf("n%d", i)}
		begin := r.clock.Add(1)
		e, err := m.Get(context.Background(), in.name)
		if err != nil && !errors.Is(err, oxbow.ErrNotFound) {
			r.addError(fmt.Errorf("read at the end: %w", err))
			return
		}
		r.recordedCalls = append(
			r.recordedCalls,
			porcupine.Operation{ClientId: 1000, Input: in, Call: begin, Output: recordedCallResult{text: e.Content},
				Return: r.clock.Add(1)},
		)
	}
	if _, err := m.Check(context.Background()); err != nil {
		r.addError(fmt.Errorf("check at the end: %w", err))
	}
	if err := m.Close(); err != nil {
		r.addError(fmt.Errorf("close at the end: %w", err))
	}
}
