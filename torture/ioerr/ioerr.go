// This file holds the campaign: every operation of a script made to fail.

// Package ioerr makes the disk refuse or half do each operation of a script,
// once or from then on, and sees what the store makes of it.
package ioerr

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/torture/rig"
	"github.com/oxbow-memory/oxbow/torture/script"
	"github.com/oxbow-memory/oxbow/vfs/crashfs"
)

// Options of a campaign.
type Options struct {
	Setup  rig.Setup // faults put in on purpose
	Images int       // crash images looked at after each fault and at the end; default 24
}

// Tally is what a campaign has done.
type Tally struct {
	Scripts  int
	Faults   int // operations made to fail
	Images   int // crash images looked at
	Distinct int // of them, different in names or bytes, and examined
	Rescued  int // syncs that failed and whose change was acknowledged all the same
	Unknown  int // changes whose outcome was named unknown
}

// Add adds the numbers of u.
func (t *Tally) Add(u Tally) {
	t.Scripts += u.Scripts
	t.Faults += u.Faults
	t.Images += u.Images
	t.Distinct += u.Distinct
	t.Rescued += u.Rescued
	t.Unknown += u.Unknown
}

// Violation is what the contract does not allow.
type Violation struct {
	Seed  uint64
	Fault string
	Err   error
	Steps []script.Step
}

func (v *Violation) Error() string { return fmt.Sprintf("seed %d, %s: %v", v.Seed, v.Fault, v.Err) }

// Unwrap returns what was wrong.
func (v *Violation) Unwrap() error { return v.Err }

// Seed makes every operation of the script of that seed fail in every way, up
// to the first violation, nil for none.
func Seed(seed uint64, o Options) (Tally, *Violation) {
	if o.Images == 0 {
		o.Images = 24
	}
	s := script.New(seed, 2)
	var steps []script.Step
	for _, st := range s.Steps {
		// One step at a time: what is refused must be clear.
		if st.In != nil {
			steps = append(steps, *st.In)
		}
		st.In = nil
		steps = append(steps, st)
	}
	s.Steps = steps[:min(len(steps), 8)]
	setup := o.Setup
	setup.Small = true
	c := &campaign{o: o, s: s, setup: setup, tally: Tally{Scripts: 1}, judge: script.NewJudge(seed, setup)}
	tally := func() Tally {
		c.tally.Images, c.tally.Distinct = c.judge.Images, c.judge.Distinct
		return c.tally
	}
	bad := func(what string, err error) (Tally, *Violation) {
		return tally(), &Violation{seed, what, err, s.Steps}
	}
	dry := script.NewWorld(s, setup)
	dry.Record = true
	if err := dry.Run(); err != nil {
		return bad("without a fault", err)
	}
	for _, op := range dry.Disk.Log() {
		for _, f := range faults(op) {
			c.tally.Faults++
			if err := c.fault(f); err != nil {
				return bad(fmt.Sprintf("%v, %s", op, words(f)), err)
			}
		}
	}
	return tally(), nil
}

// faults returns the ways in which an operation is made to fail.
func faults(op crashfs.Op) []crashfs.Fault {
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

func words(f crashfs.Fault) string {
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

// campaign is one script under examination.
type campaign struct {
	o     Options
	s     script.Script
	setup rig.Setup
	tally Tally
	judge *script.Judge
}

// fault runs the script with that fault, and on after it is mended.
func (c *campaign) fault(f crashfs.Fault) error {
	w := script.NewWorld(c.s, c.setup)
	w.Disk.Inject(f)
	j := &judge{c: c, w: w, out: script.Outcomes{May: []*script.Model{{}}}}
	for i, st := range c.s.Steps {
		if err := j.step(st); err != nil {
			return fmt.Errorf("step %d (%v): %w", i+1, st, err)
		}
	}
	w.Disk.Mend()
	if err := j.mended(); err != nil {
		return fmt.Errorf("after the fault was mended: %w", err)
	}
	if err := j.images(); err != nil {
		return fmt.Errorf("a crash at the end: %w", err)
	}
	return j.closed()
}

// judge knows what may be.
type judge struct {
	c      *campaign
	w      *script.World
	out    script.Outcomes
	struck bool    // a fault has been seen at work
	failed [2]bool // the process was told of an unknown outcome
	rich   bool    // the images after the first fault were looked at
}

func (j *judge) step(st script.Step) error {
	undo := j.out.Undoable()
	from := j.w.Disk.Ops()
	seq, err := j.w.Try(st, undo)
	hit := false
	for _, op := range j.w.Disk.Log()[from:] {
		hit = hit || op.Err != nil
		if op.Kind == crashfs.Sync && op.Err != nil && err == nil {
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
		// Whoever made a change knows what was before it.
		if len(before) != len(next) || next[0].Seq() != before[0].Seq() {
			es, err := j.read(st.Proc)
			if err != nil {
				return err
			}
			fit := script.Fit(next, es)
			if len(fit) == 0 {
				return fmt.Errorf("acknowledged, but the process shows otherwise: %w", script.Differs(next, es))
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
		if st.Kind == script.Compact {
			for _, m := range j.out.May[:len(j.out.May):len(j.out.May)] {
				m = m.Clone()
				m.Compacted()
				j.out.May = append(j.out.May, m)
			}
		}
	default:
		// A process that was told of an unknown outcome changes no more, and
		// keeps the lock where it could not tell the others.
		excused := j.failed[st.Proc] && errors.Is(err, oxbow.ErrReadOnly) || j.failed[1-st.Proc] && errors.Is(err, oxbow.ErrBusy)
		if !hit && !expected(err, wants) && !excused {
			return fmt.Errorf("refused though no operation failed: %w", err)
		}
	}
	j.out.May = script.Distinct(j.out.May)
	// Reads go on, whatever happened, and show nothing that was refused.
	for i := range 2 {
		es, err := j.read(i)
		if err != nil {
			return fmt.Errorf("process %c: reads no more: %w", 'A'+rune(i), err)
		}
		if len(script.Fit(j.out.May, es)) == 0 {
			return fmt.Errorf("process %c shows what may not be: %w", 'A'+rune(i), script.Differs(j.out.May, es))
		}
	}
	if j.struck && !j.rich {
		j.rich = true
		if err := j.images(); err != nil {
			return fmt.Errorf("a crash after it: %w", err)
		}
	}
	return nil
}

func expected(err error, wants []error) bool {
	for _, want := range wants {
		if errors.Is(err, want) {
			return true
		}
	}
	return false
}

func (j *judge) read(i int) ([]oxbow.Entry, error) {
	m, err := j.w.Memory(i)
	if err != nil {
		return nil, err
	}
	return script.Collect(m)
}

// mended goes on after the fault is gone: at once in a process that was not
// told of an unknown outcome, after a restart in one that was.
func (j *judge) mended() error {
	step := func(i int) script.Step {
		return script.Step{Kind: script.Remember, Proc: i, Name: "mended", Text: fmt.Sprintf("by process %d", i)}
	}
	for i := range 2 {
		if !j.failed[i] {
			continue
		}
		// It may only work again when another process has made a new file.
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
			return fmt.Errorf("process %c: a change was not acknowledged, or %d outcomes are left", 'A'+rune(i), len(j.out.May))
		}
	}
	return nil
}

// images looks at disks that a crash may leave now.
func (j *judge) images() error {
	may := script.States(j.out.May)
	n := 0
	var bad error
	j.w.Disk.Sketches(func(im *crashfs.Sketch) bool {
		// The first images are the greatest losses and the least; of the others
		// some are taken, always the same.
		if n >= j.c.o.Images/2 && im.Sum(rig.IsLock)%8 != 0 {
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

// closed sees that nothing is held when all is closed.
func (j *judge) closed() error {
	if err := j.w.Close(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	for i := range 2 {
		if files, locks := j.w.FS(i).Open(); files != 0 || locks != 0 {
			return fmt.Errorf("process %c has %d files and %d locks open after its stores were closed", 'A'+rune(i), files, locks)
		}
	}
	return nil
}
