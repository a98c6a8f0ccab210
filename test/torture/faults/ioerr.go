// This file tests I/O errors. In each run of a store operation script, one disk operation fails, or is done only in
// part. In some runs, all following operations fail in the same way.

package faults

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/test/crashfs"
	"github.com/oxbow-memory/oxbow/test/torture/workload"
)

// DiskErrorOptions are the options of the test that lets disk operations fail.
type DiskErrorOptions struct {
	Setup workload.StoreSetup // faults that are put into the disk on purpose
	// number of possible disk contents that are examined after each I/O error and at the end (0 means 24). A possible
	// disk content is what the disk may contain after a crash.
	ImagesPerError int
}

// DiskErrorTally counts the failures that the test of failing disk operations has caused, and the results.
type DiskErrorTally struct {
	Scripts                 int
	Faults                  int // number of operations that the simulated disk let fail on purpose
	PossibleImages          int // number of possible disk contents after a crash
	DistinctDiskContents    int // number of different disk contents after a crash, all of which were examined
	FailedSyncsAcknowledged int // number of failed syncs after which the change was acknowledged nevertheless
	OpensFromSnapshot       int // number of stores that were opened from a snapshot
	UnknownOutcomeChanges   int // number of changes with the error ErrUnknownOutcome
}

// Add adds the counts in u to t.
func (t *DiskErrorTally) Add(u DiskErrorTally) {
	t.Scripts += u.Scripts
	t.Faults += u.Faults
	t.PossibleImages += u.PossibleImages
	t.DistinctDiskContents += u.DistinctDiskContents
	t.FailedSyncsAcknowledged += u.FailedSyncsAcknowledged
	t.UnknownOutcomeChanges += u.UnknownOutcomeChanges
	t.OpensFromSnapshot += u.OpensFromSnapshot
}

// FindErrors makes the script of store operations for a seed, and runs the script's first steps many times. In each
// run, one disk operation fails in one way. There is a run for each disk operation and each way in which the operation
// can fail. FindErrors returns the first broken guarantee of the store, or nil.
func FindErrors(seed uint64, o DiskErrorOptions) (DiskErrorTally, *Violation) {
	if o.ImagesPerError == 0 {
		o.ImagesPerError = 24
	}
	s := workload.NewScript(seed, 2)
	var steps []workload.Step
	for _, st := range s.Steps {
		// Run one step of the script at a time, because only then is it known which step failed.
		if st.NestedStep != nil {
			steps = append(steps, *st.NestedStep)
		}
		st.NestedStep = nil
		steps = append(steps, st)
	}
	s.Steps = steps[:min(len(steps), 8)]
	setup := o.Setup
	setup.FileGrowsInSmallSteps, setup.SnapshotOnClose = true, workload.ScriptWritesSnapshots(seed)
	c := &diskErrorRun{
		opts:   o,
		script: s,
		setup:  setup,
		tally:  DiskErrorTally{Scripts: 1},
		judge:  workload.NewJudge(seed, setup),
	}
	tally := func() DiskErrorTally {
		c.tally.PossibleImages = c.judge.ImageCount
		c.tally.DistinctDiskContents = c.judge.ExaminedImages
		c.tally.OpensFromSnapshot = c.judge.OpensFromSnapshot
		return c.tally
	}
	bad := func(what string, err error) (DiskErrorTally, *Violation) {
		return tally(), &Violation{Seed: seed, Trigger: what, Err: err, Steps: s.Steps}
	}
	dry := workload.NewWorld(s, setup)
	dry.RecordsStates = true
	if err := dry.RunSteps(); err != nil {
		return bad("without a fault", err)
	}
	for _, op := range dry.Disk.Log() {
		for _, f := range possibleFaults(op) {
			c.tally.Faults++
			if err := c.runWithFault(f); err != nil {
				return bad(fmt.Sprintf("%v, %s", op, describeFault(f)), err)
			}
		}
	}
	return tally(), nil
}

// possibleFaults returns the ways in which the operation op can fail: with each error, once or permanently. A write can
// also fail after half of its bytes.
func possibleFaults(op crashfs.Op) []crashfs.OpFault {
	var fs []crashfs.OpFault
	for _, err := range []error{syscall.EIO, syscall.ENOSPC} {
		once := crashfs.OpFault{FirstOpNumber: op.Number, Err: err}
		kind, all := once, once
		kind.Kinds, kind.IsPermanent = op.Kind, true
		all.IsPermanent = true
		fs = append(fs, once, kind, all)
		if op.Kind == crashfs.OpWrite {
			short, shorts := once, kind
			short.WrittenBytes, shorts.WrittenBytes = op.Len/2, op.Len/2
			fs = append(fs, short, shorts)
		}
	}
	return append(fs, crashfs.OpFault{FirstOpNumber: op.Number, Err: syscall.EIO, Done: true})
}

func describeFault(f crashfs.OpFault) string {
	s := f.Err.Error()
	if f.WrittenBytes > 0 {
		s += fmt.Sprintf(" after %d bytes", f.WrittenBytes)
	}
	if f.Done {
		s += ", though it is done"
	}
	if f.IsPermanent {
		s += ", from then on"
		if f.Kinds != 0 {
			s += " for all of its kind"
		}
	}
	return s
}

// diskErrorRun runs one script of store operations and lets disk operations fail.
type diskErrorRun struct {
	opts   DiskErrorOptions
	script workload.Script
	setup  workload.StoreSetup
	tally  DiskErrorTally
	judge  *workload.CrashJudge
}

// runWithFault runs the script with the fault f of the disk. Then it removes the fault, and checks that the store can
// still be used.
func (c *diskErrorRun) runWithFault(f crashfs.OpFault) error {
	w := workload.NewWorld(c.script, c.setup)
	w.Disk.Inject(f)
	j := &diskErrorJudge{
		judgedRun:      c,
		world:          w,
		possibleStates: workload.PossibleOutcomes{PossibleStores: []*workload.StoreModel{{}}},
	}
	for i, st := range c.script.Steps {
		if err := j.runStep(st); err != nil {
			return fmt.Errorf("step %d (%v): %w", i+1, st, err)
		}
	}
	w.Disk.Mend()
	if err := j.continueAfterFault(); err != nil {
		return fmt.Errorf("after the fault was mended: %w", err)
	}
	if err := j.checkCrashContents(); err != nil {
		return fmt.Errorf("a crash at the end: %w", err)
	}
	return j.checkFilesAndLocksClosed()
}

// diskErrorJudge keeps track of the states in which the store may be after failed disk operations.
type diskErrorJudge struct {
	judgedRun        *diskErrorRun
	world            *workload.World
	possibleStates   workload.PossibleOutcomes
	hasFaultOccurred bool // The disk operation that was to fail has failed.
	// For each of the two processes, whether it has received an error which says that a change's outcome is unknown.
	hasUnknownOutcome [2]bool
	// The possible disk contents after a crash were examined once since the first failed operation.
	hasCheckedCrashContents bool
}

func (j *diskErrorJudge) runStep(st workload.Step) error {
	undo := j.possibleStates.LastUndoableSeq()
	from := j.world.Disk.CountOps()
	seq, err := j.world.DoStepWithoutNestedStep(st, undo)
	hit := false
	for _, op := range j.world.Disk.Log()[from:] {
		hit = hit || op.Err != nil
		isFailedSync := op.Kind == crashfs.OpSync && op.Err != nil
		if isFailedSync && err == nil {
			j.judgedRun.tally.FailedSyncsAcknowledged++
		}
	}
	j.hasFaultOccurred = j.hasFaultOccurred || hit
	next, wants := j.possibleStates.ApplyStep(j.world, st, undo, seq)
	switch {
	case err == nil:
		if len(next) == 0 {
			return fmt.Errorf("acknowledged, want %v", errors.Join(wants...))
		}
		before := j.possibleStates.PossibleStores
		j.possibleStates.PossibleStores = next
		// Read the entries in the process that made the change, to find out which of the possible states is the real
		// one. This process knows the newest state, because otherwise it could not have made the change.
		if len(before) != len(next) || next[0].LastSeq() != before[0].LastSeq() {
			es, err := j.readEntries(st.Process)
			if err != nil {
				return err
			}
			fit := workload.FilterModelsByEntries(next, es)
			if len(fit) == 0 {
				return fmt.Errorf(
					"acknowledged, but the process shows otherwise: %w",
					workload.DescribeMismatches(next, es),
				)
			}
			j.possibleStates.PossibleStores = fit
		}
	case errors.Is(err, oxbow.ErrUnknownOutcome):
		if !hit {
			return fmt.Errorf("no operation failed: %w", err)
		}
		j.judgedRun.tally.UnknownOutcomeChanges++
		j.hasUnknownOutcome[st.Process] = true
		j.possibleStates.PossibleStores = append(j.possibleStates.PossibleStores, next...)
		if st.Kind == workload.CompactStep {
			for _, m := range j.possibleStates.PossibleStores[:len(j.possibleStates.PossibleStores):len(j.possibleStates.PossibleStores)] {
				m = m.Clone()
				m.RecordCompaction()
				j.possibleStates.PossibleStores = append(j.possibleStates.PossibleStores, m)
			}
		}
	default:
		// A process that received an error about an unknown outcome refuses all further changes. Such a process also
		// keeps the lock if it could not inform the other process. Then the other process cannot make changes either.
		excused := (j.hasUnknownOutcome[st.Process] && errors.Is(err, oxbow.ErrReadOnly)) ||
			(j.hasUnknownOutcome[1-st.Process] && errors.Is(err, oxbow.ErrBusy))
		if hit || excused {
			break
		}
		if !isExpected(err, wants) {
			return fmt.Errorf("refused though no operation failed: %w", err)
		}
	}
	j.possibleStates.PossibleStores = workload.DistinctModels(j.possibleStates.PossibleStores)
	// Reading entries must always succeed in both processes, and must not show changes that were refused.
	for i := range 2 {
		es, err := j.readEntries(i)
		if err != nil {
			return fmt.Errorf("process %c: reads no more: %w", 'A'+rune(i), err)
		}
		if len(workload.FilterModelsByEntries(j.possibleStates.PossibleStores, es)) == 0 {
			return fmt.Errorf(
				"process %c shows what may not be: %w",
				'A'+rune(i),
				workload.DescribeMismatches(j.possibleStates.PossibleStores, es),
			)
		}
	}
	if j.hasFaultOccurred && !j.hasCheckedCrashContents {
		j.hasCheckedCrashContents = true
		if err := j.checkCrashContents(); err != nil {
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

func (j *diskErrorJudge) readEntries(processIndex int) ([]oxbow.Entry, error) {
	m, err := j.world.OpenedMemory(processIndex)
	if err != nil {
		return nil, err
	}
	return workload.CollectEntries(m)
}

// continueAfterFault checks that both processes can make changes again when no more disk operations fail. A process
// that received an error about an unknown outcome must open the store again first.
func (j *diskErrorJudge) continueAfterFault() error {
	step := func(i int) workload.Step {
		return workload.Step{
			Kind:      workload.RememberStep,
			Process:   i,
			EntryName: "mended",
			Content:   fmt.Sprintf("by process %d", i),
		}
	}
	for i := range 2 {
		if !j.hasUnknownOutcome[i] {
			continue
		}
		// This process refuses the change, unless the other process has created a new file of the store meanwhile.
		// runStep accepts both.
		if err := j.runStep(step(i)); err != nil {
			return fmt.Errorf("process %c: %w", 'A'+rune(i), err)
		}
		if err := j.world.ReopenStore(i); err != nil {
			return fmt.Errorf("process %c: open again: %w", 'A'+rune(i), err)
		}
	}
	j.hasUnknownOutcome = [2]bool{}
	for i := range 2 {
		before := j.possibleStates.PossibleStores[0].LastSeq()
		if err := j.runStep(step(i)); err != nil {
			return fmt.Errorf("process %c: %w", 'A'+rune(i), err)
		}
		if len(j.possibleStates.PossibleStores) != 1 || j.possibleStates.PossibleStores[0].LastSeq() == before {
			return fmt.Errorf(
				"process %c: a change was not acknowledged, or %d outcomes are left",
				'A'+rune(i),
				len(j.possibleStates.PossibleStores),
			)
		}
	}
	return nil
}

// checkCrashContents examines disk contents that are possible if the machine crashed now. It returns an error for the
// first disk content that does not match the possible states of the stores.
func (j *diskErrorJudge) checkCrashContents() error {
	may := workload.StatesFromModels(j.possibleStates.PossibleStores)
	n := 0
	var bad error
	j.world.Disk.EachCrashContent(func(im *crashfs.CrashContent) bool {
		// The first contents that the disk yields are the most important, because they include the contents that lose
		// the fewest writes and the contents that lose the most writes. Therefore examine the first ImagesPerError/2
		// contents. The later contents are too many, so examine only about every eighth content, selected by the hash
		// of the files.
		if n >= j.judgedRun.opts.ImagesPerError/2 && im.HashFiles(workload.IsLockFile)%8 != 0 {
			return true
		}
		n++
		if _, _, err := j.judgedRun.judge.ExamineCrashContent(im, may); err != nil {
			bad = fmt.Errorf("(%s): %w", im.Label(), err)
			return false
		}
		return n < j.judgedRun.opts.ImagesPerError
	})
	return bad
}

// checkFilesAndLocksClosed returns an error if a file or a lock is still open after everything was closed.
func (j *diskErrorJudge) checkFilesAndLocksClosed() error {
	if err := j.world.Close(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	for i := range 2 {
		if files, locks := j.world.ProcessFS(i).CountOpenHandles(); files != 0 || locks != 0 {
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
