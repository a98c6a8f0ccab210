// This file crashes the disk a second time, while a store recovers from the first crash.

package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/test/crashfs"
	"github.com/oxbow-memory/oxbow/test/torture/workload"
	"github.com/oxbow-memory/oxbow/vfs"
)

// stepAfterCrash returns the step that a caller makes after a crash. Usually it repeats the interrupted step with
// another text of the same length. The reason is that the crash may have left an incomplete record in the file. If the
// store did not remove this record, its end could become valid again behind a new record of the same length. For one in
// eight contents of the disk, the step is a compaction.
func (r *crashRun) stepAfterCrash(acknowledgedCount int, imageHash uint64) workload.Step {
	var steps []workload.Step
	for _, st := range r.script.Steps {
		if st.NestedStep != nil && st.Kind != workload.RevertStep {
			steps = append(steps, *st.NestedStep)
		}
		st.NestedStep = nil
		steps = append(steps, st)
	}
	st := workload.Step{Kind: workload.RememberStep, EntryName: "a", Content: "after the crash"}
	if imageHash>>32%8 == 0 {
		return workload.Step{Kind: workload.CompactStep}
	}
	if acknowledgedCount < len(steps) {
		switch s := steps[acknowledgedCount]; s.Kind {
		case workload.RememberStep:
			st.EntryName, st.Content = s.EntryName, differentTextOfSameLength(s.Content)
		case workload.BatchStep:
			st = workload.Step{Kind: workload.BatchStep, OpID: s.OpID}
			for _, op := range s.Ops {
				switch o := op.(type) {
				case oxbow.Add:
					o.Content = differentTextOfSameLength(o.Content)
					op = o
				case oxbow.Update:
					o.Content = differentTextOfSameLength(o.Content)
					op = o
				}
				st.Ops = append(st.Ops, op)
			}
		case workload.ForgetStep:
			st = workload.Step{Kind: workload.ForgetStep, EntryName: s.EntryName}
		}
	}
	return st
}

// differentTextOfSameLength returns s with each letter a to z replaced by the next letter, and z by a. The result has
// the same length as s. It differs from s if s contains such a letter.
func differentTextOfSameLength(s string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c < 'z':
			return c + 1
		case c == 'z':
			return 'a'
		}
		return c
	}, s)
}

// mustCrashAgain reports whether the disk is crashed again while it recovers from this content. This is more likely if
// the end of a record was written and its beginning was not, because such a record could become valid again.
func (r *crashRun) mustCrashAgain(im *crashfs.CrashContent) bool {
	if r.opts.ImagesPerRecoveryCrash <= 0 {
		return false
	}
	choice, n := im.HashFiles(workload.IsLockFile), uint64(r.opts.ImagesPerRecoveryCrash)
	if choice%n == 0 {
		return true
	}
	if choice%max(1, n/100) != 0 {
		return false
	}
	label := im.Label()
	return strings.Contains(label, "all but the first ") && !strings.Contains(label, ".lock")
}

// crashDuringRecovery tests a second crash, while a store recovers from a first crash. img is a possible disk content
// after the first crash, and allowedStates are the states that the store may have after the recovery.
// crashDuringRecovery opens the store and then runs the step st. It crashes the disk at each operation of the two, and
// checks all possible disk contents after this second crash.
func (r *crashRun) crashDuringRecovery(img *vfs.Mem, allowedStates []*workload.StoreState, st workload.Step) error {
	fail := func(k int, label string, err error) error {
		return fmt.Errorf("then, with %v, a second crash at operation %d (%s): %w", st, k, label, err)
	}
	tail, end, err := readTornTail(img, r.setup)
	if err != nil {
		return fmt.Errorf("look at the tail: %w", err)
	}
	dry := workload.ResumeWorld(newDisk(img), r.script, r.setup)
	dry.RecordsStates = true
	if err := dry.OpenInAllowedState(allowedStates); err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	if err := dry.RunStep(st); err != nil {
		return fmt.Errorf("recover, with %v: %w", st, err)
	}
	seen := map[uint64]bool{}
	for k := 1; k <= dry.Disk.CountOps()+1; k++ {
		w := workload.ResumeWorld(newDisk(img), r.script, r.setup)
		w.Disk.StopAt(k)
		if err := w.OpenInAllowedState(allowedStates); err == nil {
			// Ignore the error, because the second crash is intended. w.CompletedEvents counts the steps that
			// succeeded.
			_ = w.RunStep(st)
		}
		w.Disk.Stop()
		may := workload.StatesAllowedAfterCrash(dry.States, w.CompletedEvents)
		var bad error
		w.Disk.EachCrashContent(func(im *crashfs.CrashContent) bool {
			r.tally.RecoveryCrashes++
			_, _, err := r.judge.ExamineCrashContent(im, may)
			if sum := im.HashFiles(nil); err == nil && !seen[sum] {
				seen[sum] = true
				err = checkTornTail(im, tail, end)
			}
			if err != nil {
				bad = fail(k, im.Label(), err)
			}
			return err == nil
		})
		if bad != nil {
			return bad
		}
	}
	return nil
}

// readTornTail returns the bytes that an interrupted write has left after the end of the store file's valid records,
// and their offset. It returns nil if no such bytes exist.
func readTornTail(img *vfs.Mem, setup workload.StoreSetup) ([]byte, int64, error) {
	m, err := oxbow.Open(workload.StoreFile, &oxbow.Options{FS: workload.NewFS(img.Clone(), setup), ReadOnly: true})
	if err != nil {
		return nil, 0, err
	}
	stats, err := m.Stats(context.Background())
	err = errors.Join(err, m.Close())
	if err != nil {
		return nil, 0, err
	}
	b, err := vfs.ReadFile(img, workload.StoreFile, -1)
	if err != nil || int64(len(b)) <= stats.Used {
		return nil, 0, nil // The file does not exist, or it ends with the last valid record.
	}
	return bytes.TrimRight(b[stats.Used:], "\x00"), stats.Used, nil
}

// checkTornTail returns an error if the store has lost the bytes tail, which an interrupted write had left at
// tailOffset. After the recovery, these bytes must be at their original place, or in a file of their own.
func checkTornTail(crashContent *crashfs.CrashContent, tail []byte, tailOffset int64) error {
	if len(tail) == 0 {
		return nil
	}
	img := crashContent.BuildFileSystem()
	b, err := vfs.ReadFile(img, workload.StoreFile, -1)
	hasTail := err == nil && int64(len(b)) > tailOffset
	if hasTail && bytes.HasPrefix(b[tailOffset:], tail) {
		return nil
	}
	dir := workload.StoreFile + ".lost"
	es, err := img.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("a torn tail of %d bytes was cut off and not kept: %w", len(tail), err)
	}
	for _, e := range es {
		if b, err := vfs.ReadFile(img, dir+"/"+e.Name(), -1); err == nil && bytes.Equal(b, tail) {
			return nil
		}
	}
	return fmt.Errorf(
		"a torn tail of %d bytes was cut off and not kept: %d files in %s, none of them with its bytes",
		len(tail),
		len(es),
		dir,
	)
}
