// This file implements the crash campaign: it crashes the disk at every operation of a
// script, and examines every possible content of the disk after each crash.

package faults

import (
	"syscall"

	"github.com/oxbow-memory/oxbow/test/crashfs"
	"github.com/oxbow-memory/oxbow/test/torture/workload"
	"github.com/oxbow-memory/oxbow/vfs"
)

// CrashOptions are the options of the crash campaign. For zero fields, defaults apply.
type CrashOptions struct {
	Setup workload.Setup // deliberate faults of the disk
	Procs int            // number of processes, 1 or 2 (default 2)
	Deep  int            // one in this many images is crashed again during recovery; default 2000; negative: never
	Plain bool           // no script uses small free space or a lock file that loses its note
	Short bool           // all scripts use small free space and short texts, which tests more disks a second
}

// maxShortText is the maximum length, in bytes, of a text in scripts with the option Short.
const maxShortText = 300

// CrashTally counts the work of a campaign.
type CrashTally struct {
	Scripts         int
	StopPoints      int // operations at which the disk was stopped
	Images          int // possible disks after a crash
	Distinct        int // different images, by names and bytes, which were examined
	RecoveryCrashes int // images after a second crash, during recovery
	Kills           int // number of operations at which one process was killed while the second process continued
	FromSnapshot    int // stores that were opened from a snapshot
	Mixed           int // images in which the snapshot's pages came from several snapshots
}

// Add adds the counts of u.
func (t *CrashTally) Add(u CrashTally) {
	t.Scripts += u.Scripts
	t.StopPoints += u.StopPoints
	t.Images += u.Images
	t.Distinct += u.Distinct
	t.RecoveryCrashes += u.RecoveryCrashes
	t.Kills += u.Kills
	t.FromSnapshot += u.FromSnapshot
	t.Mixed += u.Mixed
}

// crashRun is the examination of one script.
type crashRun struct {
	opts      CrashOptions
	script    workload.Script
	setup     workload.Setup
	tally     CrashTally
	judge     *workload.Judge
	snapshots [][]byte // the latest few snapshots found in images
}

// Crash examines the script of a seed and returns the first violation, or nil. One seed in
// four selects a script for the log without a store, in which an append contains several
// records.
func Crash(seed uint64, o CrashOptions) (CrashTally, *Violation) {
	if o.Procs == 0 {
		o.Procs = 2
	}
	if o.Deep == 0 {
		o.Deep = 2000
	}
	if seed%4 == 2 {
		return crashLog(seed, o)
	}
	s := workload.NewScript(seed, o.Procs)
	if o.Short {
		s.CutTexts(maxShortText)
	}
	return crashScript(s, o)
}

// crashScript examines a script.
func crashScript(s workload.Script, o CrashOptions) (CrashTally, *Violation) {
	setup := setupForSeed(s.Seed, o)
	r := &crashRun{opts: o, script: s, setup: setup, judge: workload.NewJudge(s.Seed, setup)}
	r.tally.Scripts = 1
	v := r.examineAll()
	r.tally.Images = r.judge.Images
	r.tally.Distinct = r.judge.Distinct
	r.tally.FromSnapshot = r.judge.FromSnapshot
	if v != nil {
		v.Seed, v.Steps = s.Seed, s.Steps
	}
	return r.tally, v
}

// setupForSeed returns the setup for a seed. Most scripts get small images, so that many can be
// tried.
func setupForSeed(seed uint64, o CrashOptions) workload.Setup {
	setup := o.Setup
	setup.Snapshots = workload.SnapshotSeed(seed)
	if !o.Plain {
		setup.SmallSteps = o.Short || seed%16 != 7
		setup.NoNote = seed%8 < 5
	}
	return setup
}

func (r *crashRun) examineAll() *Violation {
	dry := workload.NewWorld(r.script, r.setup)
	dry.RecordsStates = true
	if err := dry.Run(); err != nil {
		return &Violation{Err: err}
	}
	last := dry.Disk.CountOps()
	for k := 1; k <= last+1; k++ {
		w := workload.NewWorld(r.script, r.setup)
		w.Disk.StopAt(k)
		if err := w.Run(); err != nil {
			return &Violation{Where: describeCrash(k, ""), Err: err}
		}
		w.Disk.Stop()
		r.tally.StopPoints++
		if v := r.examinePoint(w, dry.States, k); v != nil {
			return v
		}
		mayKill := r.script.Procs > 1 && k <= last
		if mayKill && !isInRanges(dry.InnerRanges, k) {
			if err := r.killAt(dry, k); err != nil {
				return &Violation{Where: describeCrash(k, "only process ended"), Err: err}
			}
		}
	}
	return nil
}

func isInRanges(spans []int, k int) bool {
	for i := 0; i+1 < len(spans); i += 2 {
		if k >= spans[i] && k <= spans[i+1] {
			return true
		}
	}
	return false
}

// examinePoint examines all images of a disk that has stopped at operation k.
func (r *crashRun) examinePoint(w *workload.World, states []*workload.State, k int) *Violation {
	allowed := workload.AllowedStates(states, w.AckedEvents)
	var bad *Violation
	w.Disk.EachSketch(func(im *crashfs.Sketch) bool {
		_, isFirst, err := r.judge.ExamineSketch(im, allowed)
		if err == nil && isFirst {
			err = r.examineNew(w, im, allowed)
		}
		if err != nil {
			bad = &Violation{Where: describeCrash(k, im.Label()), Err: err}
		}
		return err == nil
	})
	return bad
}

// examineNew examines an image that no earlier crash has left. It crashes the recovery of some of these images. If the
// image has a snapshot, it also examines the image with other snapshots.
func (r *crashRun) examineNew(w *workload.World, im *crashfs.Sketch, allowed []*workload.State) error {
	if r.mustCrashAgain(im) {
		if err := r.crashRecovery(im.Mem(), allowed, r.stepAfterCrash(w.AckedEvents, im.Sum(workload.IsLock))); err != nil {
			return err
		}
	}
	if im.Any(workload.IsSnapshot) {
		return r.examineMixed(im, allowed)
	}
	return nil
}

// killAt runs the script again, kills the process that performs operation k after this operation, and lets the other
// process continue. If the operation is a write, killAt then runs the script once more and kills the process after it
// has written half of the bytes. dry is the world after a run in which no process was killed.
func (r *crashRun) killAt(dry *workload.World, k int) error {
	op := dry.Disk.Log()[k-1]
	if err := r.killInWorld(workload.NewWorld(r.script, r.setup), dry, k); err != nil {
		return err
	}
	if op.Kind != crashfs.Write {
		return nil
	}
	w := workload.NewWorld(r.script, r.setup)
	w.Disk.Inject(crashfs.Fault{At: k, Kinds: crashfs.Write, Short: op.Len / 2, Err: syscall.EIO})
	return r.killInWorld(w, dry, k)
}

// killInWorld runs the script in the new world w, kills the process that performs operation k at this operation, and
// lets the other process continue. The memory must then be in a state that the run without a kill allows.
func (r *crashRun) killInWorld(w, dry *workload.World, k int) error {
	killed := dry.Disk.Log()[k-1].Proc - 1 // index of the process, because a disk counts its processes from 1
	other := 1 - killed                    // a world has the processes 0 and 1
	w.KillAt(killed, k)
	if err := w.Run(); err != nil {
		return err
	}
	r.tally.Kills++
	return w.ContinueAfterKill(other, workload.AllowedStates(dry.States, w.AckedEvents))
}

// newDisk returns a disk that contains the image.
func newDisk(img *vfs.Mem) *crashfs.Disk { return crashfs.New(img) }
