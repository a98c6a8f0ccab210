// The campaign with concurrent calls: goroutines on several openers of one disk,
// of which some processes end in flight. The calls must look as if each had
// happened at one moment between its beginning and its end.

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

// Sizes of one history.
const (
	processes = 3
	hands     = 2 // goroutines of a process
	calls     = 16
	names     = 3
)

// verdictTime bounds how long the checker looks at one history.
const verdictTime = 20 * time.Second

// LinearTally is what a campaign has done.
type LinearTally struct {
	Histories int
	Calls     int
	Pending   int // calls whose process was ended before they returned
	Busy      int // calls refused because the lock was not free in time
	Based     int // stores that were opened by a snapshot
}

// Add adds the numbers of u.
func (t *LinearTally) Add(u LinearTally) {
	t.Histories += u.Histories
	t.Calls += u.Calls
	t.Pending += u.Pending
	t.Busy += u.Busy
	t.Based += u.Based
}

// verb is what a call does to the register of a name.
type verb int

const (
	read    verb = iota
	write        // Remember: whatever was there
	add          // Add: where nothing was
	swap         // Update with If: where a certain content was
	remove       // Forget: where something was
	compact      // of the whole store; it is in no history
)

var verbNames = [...]string{"read", "write", "add", "swap", "remove", "compact"}

// input is a call. Every content that is written is written once, so that it
// says which version it is.
type input struct {
	verb verb
	name string
	old  string // of a swap
	text string
}

// output is what a call returned.
type output struct {
	text    string // of a read; "" when there is no entry
	done    bool   // the change was made
	unknown bool   // the process was ended: either may be
}

// register is a register that holds a content, "" for none.
var register = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byName := map[string][]porcupine.Operation{}
		for _, op := range history {
			name := op.Input.(input).name
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
		i := in.(input)
		o := out.(output)
		if i.verb == read {
			return o.unknown || o.text == have, have
		}
		can, then := true, i.text
		switch i.verb {
		case add:
			can = have == ""
		case swap:
			can = have == i.old && have != ""
		case remove:
			can, then = have != "", ""
		}
		if !can {
			return o.unknown || !o.done, have
		}
		return o.unknown || o.done, then
	},
	DescribeOperation: func(in, out any) string {
		i, o := in.(input), out.(output)
		return fmt.Sprintf("%s %s %q->%q = %+v", verbNames[i.verb], i.name, i.old, i.text, o)
	},
}

// linearRun is one history being made.
type linearRun struct {
	disk  *crashfs.Disk
	setup workload.Setup
	clock atomic.Int64 // orders the beginnings and ends of calls
	text  atomic.Int64
	mu    sync.Mutex // guards all below
	ops   []porcupine.Operation
	tally LinearTally
	err   error
}

// Linear makes the history of that seed and judges it. Two processes are ended
// while they work, and others take their place. The scheduler has its part in
// the history, so a seed does not repeat it exactly.
func Linear(seed uint64, setup workload.Setup) (LinearTally, error) {
	setup.Snapshots = workload.SnapshotSeed(seed)
	r := &linearRun{disk: crashfs.New(nil), setup: setup}
	r.tally.Histories = 1
	rnd := rand.New(rand.NewPCG(seed, 11))
	var wg sync.WaitGroup
	for p := range processes {
		kill := 0
		if p < 2 {
			kill = 10 + rnd.IntN(120)
		}
		seed := rnd.Uint64()
		wg.Go(func() { r.process(p, seed, kill) })
	}
	wg.Wait()
	r.last(seed)
	if r.err == nil {
		r.ops = settled(r.ops)
		switch porcupine.CheckOperationsTimeout(register, r.ops, verdictTime) {
		case porcupine.Illegal:
			r.err = fmt.Errorf("the history is not linearizable: %s", explain(r.ops))
		case porcupine.Unknown:
			r.err = fmt.Errorf("the checker did not come to an end in %v", verdictTime)
		}
	}
	if r.err != nil {
		return r.tally, fmt.Errorf("seed %d: %w", seed, r.err)
	}
	return r.tally, nil
}

// settled returns the history without the reads that saw, through the file, what
// another process was about to acknowledge. A change is in the file before the
// process that makes it shows it, so for that moment others may be ahead of it.
// What is promised is the rest: a change that was acknowledged before a read
// began is seen by it, and a change that a process saw of its own is not unseen.
// Some call must have written a value all the same.
func settled(ops []porcupine.Operation) []porcupine.Operation {
	process := func(op porcupine.Operation) int { return op.ClientId / hands }
	early := func(got porcupine.Operation) bool {
		return slices.ContainsFunc(ops, func(w porcupine.Operation) bool {
			in, out := w.Input.(input), got.Output.(output)
			wrote := (in.verb != remove && out.text == in.text) || (in.verb == remove && out.text == "")
			return in.verb != read && in.name == got.Input.(input).name && wrote && process(w) != process(got) &&
				w.Call < got.Return && w.Return > got.Return
		})
	}
	return slices.DeleteFunc(slices.Clone(ops), func(op porcupine.Operation) bool {
		return op.Input.(input).verb == read && early(op)
	})
}

// explain prints the calls about each name whose history alone is not
// linearizable, in the order in which they began; the checker's own picture
// needs a browser.
func explain(ops []porcupine.Operation) string {
	s := ""
	for _, part := range register.Partition(ops) {
		if porcupine.CheckOperations(register, part) {
			continue
		}
		slices.SortFunc(part, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
		for _, op := range part {
			s += fmt.Sprintf("\n  [%d,%d] %d: %s", op.Call, op.Return, op.ClientId, register.DescribeOperation(op.Input, op.Output))
		}
	}
	return s
}

// process opens the store and lets its goroutines work. When it is ended,
// another takes its place, once.
func (r *linearRun) process(p int, seed uint64, kill int) {
	for life := range 2 {
		proc := r.disk.Process()
		if life == 0 && kill > 0 {
			// Counted from now: all processes share the numbers.
			r.disk.KillAt(proc, r.disk.Ops()+kill)
		}
		var mu sync.Mutex // of the clock, guards now
		now := time.Unix(1776162225, 0)
		clock := func() time.Time { mu.Lock(); defer mu.Unlock(); now = now.Add(time.Millisecond); return now }
		opts := workload.Options(workload.NewFS(proc, r.setup), clock, &locked{r: rand.NewChaCha8([32]byte{byte(seed), byte(p), byte(life)})})
		opts.LockWait = 10 * time.Second
		if seed%2 == 1 {
			workload.CompactEarly(opts)
		}
		if seed%3 == 1 {
			workload.KeepSnapshotsOpen(opts)
		}
		m, err := oxbow.Open(workload.StoreFile, opts)
		if err != nil {
			if !ended(err) {
				r.fail(fmt.Errorf("open: %w", err))
				return
			}
			continue
		}
		if workload.FromSnapshot(m) {
			r.mu.Lock()
			r.tally.Based++
			r.mu.Unlock()
		}
		var dead atomic.Bool
		var wg sync.WaitGroup
		for h := range hands {
			rnd := rand.New(rand.NewPCG(seed, uint64(life*10+h)))
			id := (p*2+life)*hands + h
			wg.Go(func() {
				for range calls {
					if !r.call(proc, m, id, rnd) {
						dead.Store(true)
						return
					}
				}
			})
		}
		wg.Wait()
		if !dead.Load() {
			if err := m.Close(); err != nil && !ended(err) {
				r.fail(fmt.Errorf("close: %w", err))
			}
			return
		}
	}
}

// locked is a source of random bytes for several goroutines.
type locked struct {
	mu sync.Mutex
	r  *rand.ChaCha8
}

func (l *locked) Read(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.r.Read(b)
}

func ended(err error) bool { return errors.Is(err, crashfs.ErrKilled) }

func (r *linearRun) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = errors.Join(r.err, err)
}

// call makes one call and notes it. It reports whether the process lives.
func (r *linearRun) call(proc *crashfs.Process, m *oxbow.Memory, id int, rnd *rand.Rand) bool {
	ctx := context.Background()
	in := input{name: fmt.Sprintf("n%d", rnd.IntN(names)), text: fmt.Sprintf("text %d", r.text.Add(1))}
	switch n := rnd.IntN(20); {
	case n < 8:
		in.verb = read
	case n < 13:
		in.verb = write
	case n < 15:
		in.verb = add
	case n < 17:
		in.verb = swap
	case n < 19:
		in.verb = remove
	default:
		in.verb = compact
	}
	var version uint64
	if in.verb == swap {
		e, err := m.Get(ctx, in.name)
		if err != nil {
			in.verb = read // and the read that is noted is another one
		}
		in.old, version = e.Content, e.Version
	}
	var out output
	var err error
	begin := r.clock.Add(1)
	switch in.verb {
	case read:
		var e oxbow.Entry
		e, err = m.Get(ctx, in.name)
		if errors.Is(err, oxbow.ErrNotFound) {
			err = nil
		}
		out.text = e.Content
	case write:
		_, err = m.Remember(ctx, oxbow.Entry{Name: in.name, Content: in.text})
		out.done = err == nil
	case add:
		err = m.Apply(ctx, oxbow.Add{Name: in.name, Content: in.text})
		out.done, err = refused(err, oxbow.ErrExists)
	case swap:
		err = m.Apply(ctx, oxbow.Update{Name: in.name, Content: in.text, If: version})
		out.done, err = refused(err, oxbow.ErrConflict, oxbow.ErrNotFound)
	case remove:
		err = m.Forget(ctx, in.name)
		out.done, err = refused(err, oxbow.ErrNotFound)
	case compact:
		_, err = m.Store().(oxbow.Compactor).Compact(ctx, time.Unix(1<<40, 0), false)
	}
	end := r.clock.Add(1)
	// What a process says when it is dead, out of its memory alone, reaches no caller.
	if _, dead := proc.Stat("."); dead != nil && err == nil {
		err = dead
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	r.tally.Calls++
	switch {
	case ended(err):
		r.tally.Pending++
		out.unknown, end = true, 1<<60
	case errors.Is(err, oxbow.ErrBusy):
		r.tally.Busy++
		return true // it was not made
	case err != nil:
		r.err = errors.Join(r.err, fmt.Errorf("%s %s: %w", verbNames[in.verb], in.name, err))
		return false
	}
	// A read whose caller ended says nothing.
	if in.verb != compact && !(in.verb == read && out.unknown) {
		r.ops = append(r.ops, porcupine.Operation{ClientId: id, Input: in, Call: begin, Output: out, Return: end})
	}
	return !out.unknown
}

// refused reports whether a change was made, and the error that is none of
// those by which it is properly refused.
func refused(err error, proper ...error) (bool, error) {
	for _, p := range proper {
		if errors.Is(err, p) {
			return false, nil
		}
	}
	return err == nil, err
}

// last reads all names when all is over, from what is on the disk, and sees
// that the store is sound.
func (r *linearRun) last(seed uint64) {
	m, err := oxbow.Open(workload.StoreFile, workload.Options(workload.NewFS(r.disk.Process(), r.setup), time.Now, rand.NewChaCha8([32]byte{byte(seed)})))
	if err != nil {
		r.fail(fmt.Errorf("open at the end: %w", err))
		return
	}
	for i := range names {
		in := input{verb: read, name: fmt.Sprintf("n%d", i)}
		begin := r.clock.Add(1)
		e, err := m.Get(context.Background(), in.name)
		if err != nil && !errors.Is(err, oxbow.ErrNotFound) {
			r.fail(fmt.Errorf("read at the end: %w", err))
			return
		}
		r.ops = append(r.ops, porcupine.Operation{ClientId: 1000, Input: in, Call: begin, Output: output{text: e.Content}, Return: r.clock.Add(1)})
	}
	if _, err := m.Check(context.Background()); err != nil {
		r.fail(fmt.Errorf("check at the end: %w", err))
	}
	if err := m.Close(); err != nil {
		r.fail(fmt.Errorf("close at the end: %w", err))
	}
}
