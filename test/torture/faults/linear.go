// This file implements the concurrency campaign, in which goroutines use one disk through several
// processes, and some processes are killed in the middle of a call. The calls must be linearizable:
// each must appear to happen at one moment between its beginning and its end.

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

// Size of a history.
const (
	processCount         = 3
	goroutinesPerProcess = 2 // goroutines in a process
	callsPerGoroutine    = 16
	nameCount            = 3
)

// maxCheckTime limits how long the checker examines one history.
const maxCheckTime = 20 * time.Second

// LinearTally counts the work of a campaign.
type LinearTally struct {
	Histories    int
	Calls        int
	Pending      int // calls of a process that was killed before they returned
	Busy         int // calls refused because the lock was not available in time
	FromSnapshot int // stores that were opened from a snapshot
}

// Add adds the counts of u.
func (t *LinearTally) Add(u LinearTally) {
	t.Histories += u.Histories
	t.Calls += u.Calls
	t.Pending += u.Pending
	t.Busy += u.Busy
	t.FromSnapshot += u.FromSnapshot
}

// callVerb is the effect of a call on an entry, which the checker sees as a register.
type callVerb int

const (
	verbRead    callVerb = iota
	verbWrite            // Remember, whether or not there is an entry
	verbAdd              // Add, if there is no entry
	verbSwap             // Update with If, if the entry has a certain content
	verbRemove           // Forget, if there is an entry
	verbCompact          // compaction of the whole store; not part of the history
)

var verbNames = [...]string{"read", "write", "add", "swap", "remove", "compact"}

// callInput is a call. Each content is written only once, so that it identifies a version.
type callInput struct {
	verb    callVerb
	name    string
	oldText string // for a swap
	text    string
}

// callOutput is the result of a call.
type callOutput struct {
	text      string // result of a read, "" if there is no entry
	wasMade   bool   // the change was made
	isUnknown bool   // the process was killed, so the change may have been made or not
}

// registerModel is the checker's model of a register with a content, "" if there is no entry.
var registerModel = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byName := map[string][]porcupine.Operation{}
		for _, op := range history {
			name := op.Input.(callInput).name
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
		i := in.(callInput)
		o := out.(callOutput)
		if i.verb == verbRead {
			return o.isUnknown || o.text == have, have
		}
		can, then := true, i.text
		switch i.verb {
		case verbAdd:
			can = have == ""
		case verbSwap:
			can = have == i.oldText && have != ""
		case verbRemove:
			can, then = have != "", ""
		}
		if !can {
			return o.isUnknown || !o.wasMade, have
		}
		return o.isUnknown || o.wasMade, then
	},
	DescribeOperation: func(in, out any) string {
		i, o := in.(callInput), out.(callOutput)
		return fmt.Sprintf("%s %s %q->%q = %+v", verbNames[i.verb], i.name, i.oldText, i.text, o)
	},
}

// linearRun is a history that is being recorded.
type linearRun struct {
	disk  *crashfs.Disk
	setup workload.Setup
	clock atomic.Int64 // orders the beginnings and ends of calls
	text  atomic.Int64
	mu    sync.Mutex // guards the following fields
	ops   []porcupine.Operation
	tally LinearTally
	err   error
}

// Linear records the history of a seed and checks it. Two processes are killed while they
// work, and are replaced by others. The history also depends on the scheduler, so the same
// seed does not repeat it exactly.
func Linear(seed uint64, setup workload.Setup) (LinearTally, error) {
	setup.Snapshots = workload.SnapshotSeed(seed)
	r := &linearRun{disk: crashfs.New(nil), setup: setup}
	r.tally.Histories = 1
	rnd := rand.New(rand.NewPCG(seed, 11))
	var wg sync.WaitGroup
	for p := range processCount {
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
		r.ops = settledHistory(r.ops)
		switch porcupine.CheckOperationsTimeout(registerModel, r.ops, maxCheckTime) {
		case porcupine.Illegal:
			r.err = fmt.Errorf("the history is not linearizable: %s", explainHistory(r.ops))
		case porcupine.Unknown:
			r.err = fmt.Errorf("the checker did not come to an end in %v", maxCheckTime)
		}
	}
	if r.err != nil {
		return r.tally, fmt.Errorf("seed %d: %w", seed, r.err)
	}
	return r.tally, nil
}

// settledHistory returns the history without reads that were too early. A read is too early if it returns a change of
// another process that this process had not acknowledged yet. Such a read is correct, because a change is in the file
// slightly before the writing process reports it.
//
// The remaining history must still satisfy two guarantees: a read returns every change that was acknowledged before
// the read began, and a process never loses sight of its own change.
func settledHistory(ops []porcupine.Operation) []porcupine.Operation {
	process := func(op porcupine.Operation) int { return op.ClientId / goroutinesPerProcess }
	early := func(got porcupine.Operation) bool {
		return slices.ContainsFunc(ops, func(w porcupine.Operation) bool {
			in, out := w.Input.(callInput), got.Output.(callOutput)
			wrote := (in.verb != verbRemove && out.text == in.text) || (in.verb == verbRemove && out.text == "")
			return in.verb != verbRead && in.name == got.Input.(callInput).name && wrote && process(w) != process(got) &&
				w.Call < got.Return &&
				w.Return > got.Return
		})
	}
	return slices.DeleteFunc(slices.Clone(ops), func(op porcupine.Operation) bool {
		return op.Input.(callInput).verb == verbRead && early(op)
	})
}

// explainHistory lists the calls for each name with a history that is not linearizable, in the
// order in which they began. The checker's own output needs a browser.
func explainHistory(ops []porcupine.Operation) string {
	s := ""
	for _, part := range registerModel.Partition(ops) {
		if porcupine.CheckOperations(registerModel, part) {
			continue
		}
		slices.SortFunc(part, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
		for _, op := range part {
			s += fmt.Sprintf(
				"\n  [%d,%d] %d: %s",
				op.Call,
				op.Return,
				op.ClientId,
				registerModel.DescribeOperation(op.Input, op.Output),
			)
		}
	}
	return s
}

// runProcess opens the store and lets its goroutines work. A process that is killed is replaced by a
// new process, once.
func (r *linearRun) runProcess(p int, seed uint64, kill int) {
	for life := range 2 {
		proc := r.disk.Process()
		if life == 0 && kill > 0 {
			// Count from now, because all processes share the numbers.
			r.disk.KillAt(proc, r.disk.CountOps()+kill)
		}
		var mu sync.Mutex // guards now
		now := time.Unix(1776162225, 0)
		clock := func() time.Time { mu.Lock(); defer mu.Unlock(); now = now.Add(time.Millisecond); return now }
		opts := workload.Options(
			workload.NewFS(proc, r.setup),
			clock,
			&lockedReader{r: rand.NewChaCha8([32]byte{byte(seed), byte(p), byte(life)})},
		)
		opts.LockWait = 10 * time.Second
		if seed%2 == 1 {
			workload.CompactEarly(opts)
		}
		if seed%3 == 1 {
			workload.KeepSnapshotsOpen(opts)
		}
		m, err := oxbow.Open(workload.StoreFile, opts)
		if err != nil {
			if !isKilledError(err) {
				r.addError(fmt.Errorf("open: %w", err))
				return
			}
			continue
		}
		if workload.FromSnapshot(m) {
			r.mu.Lock()
			r.tally.FromSnapshot++
			r.mu.Unlock()
		}
		var dead atomic.Bool
		var wg sync.WaitGroup
		for h := range goroutinesPerProcess {
			rnd := rand.New(rand.NewPCG(seed, uint64(life*10+h)))
			id := (p*2+life)*goroutinesPerProcess + h
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

// lockedReader is a source of random bytes that several goroutines can use.
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

func (r *linearRun) addError(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = errors.Join(r.err, err)
}

// makeCall makes one call and records it. It reports whether the process is still alive.
func (r *linearRun) makeCall(proc *crashfs.Process, m *oxbow.Memory, id int, rnd *rand.Rand) bool {
	ctx := context.Background()
	in := callInput{name: fmt.Sprintf("n%d", rnd.IntN(nameCount)), text: fmt.Sprintf("text %d", r.text.Add(1))}
	switch n := rnd.IntN(20); {
	case n < 8:
		in.verb = verbRead
	case n < 13:
		in.verb = verbWrite
	case n < 15:
		in.verb = verbAdd
	case n < 17:
		in.verb = verbSwap
	case n < 19:
		in.verb = verbRemove
	default:
		in.verb = verbCompact
	}
	var version uint64
	if in.verb == verbSwap {
		e, err := m.Get(ctx, in.name)
		if err != nil {
			in.verb = verbRead // the read is recorded as a call of its own
		}
		in.oldText, version = e.Content, e.Version
	}
	var out callOutput
	var err error
	begin := r.clock.Add(1)
	switch in.verb {
	case verbRead:
		var e oxbow.Entry
		e, err = m.Get(ctx, in.name)
		if errors.Is(err, oxbow.ErrNotFound) {
			err = nil
		}
		out.text = e.Content
	case verbWrite:
		_, err = m.Remember(ctx, oxbow.Entry{Name: in.name, Content: in.text})
		out.wasMade = err == nil
	case verbAdd:
		err = m.Apply(ctx, oxbow.Add{Name: in.name, Content: in.text})
		out.wasMade, err = wasMade(err, oxbow.ErrExists)
	case verbSwap:
		err = m.Apply(ctx, oxbow.Update{Name: in.name, Content: in.text, If: version})
		out.wasMade, err = wasMade(err, oxbow.ErrConflict, oxbow.ErrNotFound)
	case verbRemove:
		err = m.Forget(ctx, in.name)
		out.wasMade, err = wasMade(err, oxbow.ErrNotFound)
	case verbCompact:
		_, err = m.Compact(ctx, oxbow.Compaction{Before: time.Unix(1<<40, 0)})
	}
	end := r.clock.Add(1)
	// A dead process may still answer from memory, but that answer reaches no caller.
	if _, dead := proc.Stat("."); dead != nil && err == nil {
		err = dead
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	r.tally.Calls++
	switch {
	case isKilledError(err):
		r.tally.Pending++
		out.isUnknown, end = true, 1<<60
	case errors.Is(err, oxbow.ErrBusy):
		r.tally.Busy++
		return true // the call changed nothing
	case err != nil:
		r.err = errors.Join(r.err, fmt.Errorf("%s %s: %w", verbNames[in.verb], in.name, err))
		return false
	}
	// A read of a killed process proves nothing.
	if in.verb != verbCompact && !(in.verb == verbRead && out.isUnknown) {
		r.ops = append(r.ops, porcupine.Operation{ClientId: id, Input: in, Call: begin, Output: out, Return: end})
	}
	return !out.isUnknown
}

// wasMade reports whether a change was made. It returns err unless err is one of the proper
// errors for a refusal.
func wasMade(err error, proper ...error) (bool, error) {
	for _, p := range proper {
		if errors.Is(err, p) {
			return false, nil
		}
	}
	return err == nil, err
}

// readFinalState reads all names from the disk at the end, and checks the store.
func (r *linearRun) readFinalState(seed uint64) {
	m, err := oxbow.Open(
		workload.StoreFile,
		workload.Options(workload.NewFS(r.disk.Process(), r.setup), time.Now, rand.NewChaCha8([32]byte{byte(seed)})),
	)
	if err != nil {
		r.addError(fmt.Errorf("open at the end: %w", err))
		return
	}
	for i := range nameCount {
		in := callInput{verb: verbRead, name: fmt.Sprintf("n%d", i)}
		begin := r.clock.Add(1)
		e, err := m.Get(context.Background(), in.name)
		if err != nil && !errors.Is(err, oxbow.ErrNotFound) {
			r.addError(fmt.Errorf("read at the end: %w", err))
			return
		}
		r.ops = append(
			r.ops,
			porcupine.Operation{ClientId: 1000, Input: in, Call: begin, Output: callOutput{text: e.Content},
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
