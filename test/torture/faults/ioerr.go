// This file implements the I/O error campaign: each operation of a script fails or is only
// half done, once or from then on.

package faults

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/test/crashfs"
	"github.com/oxbow-memory/oxbow/test/torture/workload"
)

// ErrorOptions are the options of the campaign.
type ErrorOptions struct {
	Setup  workload.Setup // deliberate faults of the disk
	Images int            // crash images examined after each fault and at the end (default 24)
}

// ErrorTally counts the work of a campaign.
type ErrorTally struct {
	Scripts  int
	Faults   int // operations that failed
	Images   int // crash images
	Distinct int // different images, by names and bytes, which were examined
	Rescued  int // failed syncs after which the change was nevertheless acknowledged
	Based    int // stores that were opened from a snapshot
	Unknown  int // changes with the error ErrUnknownOutcome
}

// Add adds the counts of u.
func (t *ErrorTally) Add(u ErrorTally) {
	t.Scripts += u.Scripts
	t.Faults += u.Faults
	t.Images += u.Images
	t.Distinct += u.Distinct
	t.Rescued += u.Rescued
	t.Unknown += u.Unknown
	t.Based += u.Based
}

// FindErrors makes every operation of a seed's script fail in every way and returns the first
// violation, or nil.
func FindErrors(seed uint64, o ErrorOptions) (ErrorTally, *Violation) {
	if o.Images == 0 {
		o.Images = 24
	}
	s := workload.New(seed, 2)
	var steps []workload.Step
	for _, st := range s.Steps {
		// Run one step at a time, so that it is clear which step was refused.
		if st.In != nil {
			steps = append(steps, *st.In)
		}
		st.In = nil
		steps = append(steps, st)
	}
	s.Steps = steps[:min(len(steps), 8)]
	setup := o.Setup
	setup.Small, setup.Snapshots = true, workload.SnapshotSeed(seed)
	c := &errorRun{o: o, s: s, setup: setup, tally: ErrorTally{Scripts: 1}, judge: workload.NewJudge(seed, setup)}
	tally := func() ErrorTally {
		c.tally.Images = c.judge.Images
		c.tally.Distinct = c.judge.Distinct
		c.tally.Based = c.judge.Based
		return c.tally
	}
	bad := func(what string, err error) (ErrorTally, *Violation) {
		return tally(), &Violation{Seed: seed, Where: what, Err: err, Steps: s.Steps}
	}
	dry := workload.NewWorld(s, setup)
	dry.Record = true
	if err := dry.Run(); err != nil {
		return bad("without a fault", err)
	}
	for _, op := range dry.Disk.Log() {
		for _, f := range possibleFaults(op) {
			c.tally.Faults++
			if err := c.fault(f); err != nil {
				return bad(fmt.Sprintf("%v, %s", op, describeFault(f)), err)
			}
		}
	}
	return tally(), nil
}

// possibleFaults returns the ways in which an operation can fail.
func possibleFaults(op crashfs.Op) []crashfs.Fault {
	var fs []crashfs.Fault
	for _, err := range []error{syscall.EIO, syscall.ENOSPC} {
		once := crashfs.Fault{At: op.N, Err: err}
		kind, all := once, once
		kind.Kinds, kind.Forever = op.Kind, true
		all.Forever = true
		fs = append(fs, once, kind, all)
		if op.Kind == crashfs.Write {
			short, shorts := once, kind
			short.Short, shorts.Short = op.Len/2, op.Len/2
			fs = append(fs, short, shorts)
		}
	}
	return append(fs, crashfs.Fault{At: op.N, Err: syscall.EIO, Done: true})
}

func describeFault(f crashfs.Fault) string {
	s := f.Err.Error()
	if f.Short > 0 {
		s += fmt.Sprintf(" after %d bytes", f.Short)
	}
	if f.Done {
		s += ", though it is done"
	}
	if f.Forever {
		s += ", from then on"
		if f.Kinds != 0 {
			s += " for all of its kind"
		}
	}
	return s
}

// errorRun is the examination of one script.
type errorRun struct {
	o     ErrorOptions
	s     workload.Script
	setup workload.Setup
	tally ErrorTally
	judge *workload.Judge
}

// fault runs the script with a fault, and continues after the fault is removed.
func (c *errorRun) fault(f crashfs.Fault) error {
	w := workload.NewWorld(c.s, c.setup)
	w.Disk.Inject(f)
	j := &errorJudge{c: c, w: w, out: workload.Outcomes{May: []*workload.Model{{}}}}
	for i, st := range c.s.Steps {
		if err := j.step(st); err != nil {
			return fmt.Errorf("step %d (%v): %w", i+1, st, err)
		}
	}
	w.Disk.Mend()
	if err := j.continueMended(); err != nil {
		return fmt.Errorf("after the fault was mended: %w", err)
	}
	if err := j.checkImages(); err != nil {
		return fmt.Errorf("a crash at the end: %w", err)
	}
	return j.checkClosed()
}

// errorJudge tracks the states that are allowed.
type errorJudge struct {
	c      *errorRun
	w      *workload.World
	out    workload.Outcomes
	struck bool    // the fault has occurred
	failed [2]bool // the process was told of an unknown outcome
	rich   bool    // the images after the first fault were examined
}

func (j *errorJudge) step(st workload.Step) error {
	undo := j.out.Undoable()
	from := j.w.Disk.CountOps()
	seq, err := j.w.Try(st, undo)
	hit := false
	for _, op := range j.w.Disk.Log()[from:] {
		hit = hit || op.Err != nil
		isFailedSync := op.Kind == crashfs.Sync && op.Err != nil
		if isFailedSync && err == nil {
			j.c.tally.Rescued++
		}
	}
	j.struck = j.struck || hit
	next, wants := j.out.After(j.w, st, undo, seq)
	switch {
	case err == nil:
		if len(next) == 0 {
			return fmt.Errorf("acknowledged, want %v", errors.Join(wants...))
		}
		before := j.out.May
		j.out.May = next
		// Only a process that read the last state may make the next change, so let it read
		// first.
		if len(before) != len(next) || next[0].Seq() != before[0].Seq() {
			es, err := j.readEntries(st.Proc)
			if err != nil {
				return err
			}
			fit := workload.Fit(next, es)
			if len(fit) == 0 {
				return fmt.Errorf(
					"acknowledged, but the process shows otherwise: %w",
					workload.CompareModels(next, es),
				)
			}
			j.out.May = fit
		}
	case errors.Is(err, oxbow.ErrUnknownOutcome):
		if !hit {
			return fmt.Errorf("no operation failed: %w", err)
		}
		j.c.tally.Unknown++
		j.failed[st.Proc] = true
		j.out.May = append(j.out.May, next...)
		if st.Kind == workload.Compact {
			for _, m := range j.out.May[:len(j.out.May):len(j.out.May)] {
				m = m.Clone()
				m.Compact()
				j.out.May = append(j.out.May, m)
			}
		}
	default:
		// A process that was told of an unknown outcome refuses further changes. If such a process
		// could not tell the other processes, it keeps the lock.
		excused := (j.failed[st.Proc] && errors.Is(err, oxbow.ErrReadOnly)) ||
			(j.failed[1-st.Proc] && errors.Is(err, oxbow.ErrBusy))
		if hit || excused {
			break
		}
		if !isExpected(err, wants) {
			return fmt.Errorf("refused though no operation failed: %w", err)
		}
	}
	j.out.May = workload.Distinct(j.out.May)
	// Reads must always work, and must not show refused changes.
	for i := range 2 {
		es, err := j.readEntries(i)
		if err != nil {
			return fmt.Errorf("process %c: reads no more: %w", 'A'+rune(i), err)
		}
		if len(workload.Fit(j.out.May, es)) == 0 {
			return fmt.Errorf(
				"process %c shows what may not be: %w",
				'A'+rune(i),
				workload.CompareModels(j.out.May, es),
			)
		}
	}
	if j.struck && !j.rich {
		j.rich = true
		if err := j.checkImages(); err != nil {
			return fmt.Errorf("a crash after it: %w", err)
		}
	}
	return nil
}

func isExpected(err error, wants []error) bool {
	for _, want := range wants {
		if errors.Is(err, want) {
			return true
		}
	}
	return false
}

func (j *errorJudge) readEntries(i int) ([]oxbow.Entry, error) {
	m, err := j.w.Memory(i)
	if err != nil {
		return nil, err
	}
	return workload.Collect(m)
}

// continueMended continues after the fault is removed: at once in a process that was not told of an
// unknown outcome, otherwise after a restart.
func (j *errorJudge) continueMended() error {
	step := func(i int) workload.Step {
		return workload.Step{Kind: workload.Remember, Proc: i, Name: "mended", Text: fmt.Sprintf("by process %d", i)}
	}
	for i := range 2 {
		if !j.failed[i] {
			continue
		}
		// This process may only work again after another process has created a new file.
		if err := j.step(step(i)); err != nil {
			return fmt.Errorf("process %c: %w", 'A'+rune(i), err)
		}
		if err := j.w.Restart(i); err != nil {
			return fmt.Errorf("process %c: open again: %w", 'A'+rune(i), err)
		}
	}
	j.failed = [2]bool{}
	for i := range 2 {
		before := j.out.May[0].Seq()
		if err := j.step(step(i)); err != nil {
			return fmt.Errorf("process %c: %w", 'A'+rune(i), err)
		}
		if len(j.out.May) != 1 || j.out.May[0].Seq() == before {
			return fmt.Errorf(
				"process %c: a change was not acknowledged, or %d outcomes are left",
				'A'+rune(i),
				len(j.out.May),
			)
		}
	}
	return nil
}

// checkImages examines possible disks after a crash at this moment.
func (j *errorJudge) checkImages() error {
	may := workload.ModelStates(j.out.May)
	n := 0
	var bad error
	j.w.Disk.EachSketch(func(im *crashfs.Sketch) bool {
		// The first images lose the most and the fewest writes. From the remaining images, take a
		// fixed selection.
		if n >= j.c.o.Images/2 && im.Sum(workload.IsLock)%8 != 0 {
			return true
		}
		n++
		if _, _, err := j.c.judge.Verdict(im, may); err != nil {
			bad = fmt.Errorf("(%s): %w", im.Label(), err)
			return false
		}
		return n < j.c.o.Images
	})
	return bad
}

// checkClosed returns an error if files or locks are still open after everything was closed.
func (j *errorJudge) checkClosed() error {
	if err := j.w.Close(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	for i := range 2 {
		if files, locks := j.w.FS(i).CountOpen(); files != 0 || locks != 0 {
			return fmt.Errorf(
				"process %c has %d files and %d locks open after its stores were closed",
				'A'+rune(i),
				files,
				locks,
			)
		}
	}
	return nil
}
