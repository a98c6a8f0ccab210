// This file tests crashes. It runs a script of store operations and stops the simulated disk at each disk operation.
// Then it examines each content that the disk may have after the crash.

package faults

import (
	"syscall"

	"github.com/oxbow-memory/oxbow/test/crashfs"
	"github.com/oxbow-memory/oxbow/test/torture/workload"
	"github.com/oxbow-memory/oxbow/vfs"
)

// CrashOptions are the options of the test that lets a simulated disk crash. A zero field means the default.
type CrashOptions struct {
	// faults of the simulated disk, such as a sync without effect, which the tests must notice
	Setup        workload.StoreSetup
	ProcessCount int // number of processes, 1 or 2 (0 means 2)
	// After a crash, the content of the disk (an image) is recovered. For one in this many images, the disk crashes
	// again during the recovery. 0 means 2000, and a negative number means none.
	ImagesPerRecoveryCrash int
	// No script of operations uses a store file that grows in small steps, or a lock file that loses its content.
	UsesPlainDisk bool
	// All scripts use a small free space and short texts, so that more possible disk contents are tested in the same
	// time.
	UsesShortTexts bool
}

// maxShortTextBytes is the maximum length, in bytes, of a text in scripts with the option UsesShortTexts.
const maxShortTextBytes = 300

// CrashTally contains the counts of a campaign's tests.
type CrashTally struct {
	ScriptsRun            int
	DiskStopPoints        int // number of operations at which the disk was stopped
	PossibleDiskContents  int // number of possible disk contents after a crash
	DistinctCrashContents int // number of different disk contents after a crash, all of which were examined
	// number of disk contents for which a second crash, during the recovery from the first crash, was examined
	RecoveryCrashes   int
	Kills             int // number of operations at which one process was killed while a second process continued
	OpensFromSnapshot int // number of stores that were opened from a snapshot
	// number of disk contents that were tested with a snapshot file that combines parts from several snapshots
	MixedSnapshotContents int
}

// Add adds the counts in other to t.
func (t *CrashTally) Add(other CrashTally) {
	t.ScriptsRun += other.ScriptsRun
	t.DiskStopPoints += other.DiskStopPoints
	t.PossibleDiskContents += other.PossibleDiskContents
	t.DistinctCrashContents += other.DistinctCrashContents
	t.RecoveryCrashes += other.RecoveryCrashes
	t.Kills += other.Kills
	t.OpensFromSnapshot += other.OpensFromSnapshot
	t.MixedSnapshotContents += other.MixedSnapshotContents
}

// crashRun examines one script.
type crashRun struct {
	opts      CrashOptions
	script    workload.Script
	setup     workload.StoreSetup
	tally     CrashTally
	judge     *workload.CrashJudge
	snapshots [][]byte // the snapshot files that were found most recently in disk contents after a crash
}

// FindCrashViolation examines the script of a seed. It returns the first violation, or nil. For one seed in four,
// the script uses the log without a store, so that one append contains several records.
func FindCrashViolation(seed uint64, o CrashOptions) (CrashTally, *Violation) {
	if o.ProcessCount == 0 {
		o.ProcessCount = 2
	}
	if o.ImagesPerRecoveryCrash == 0 {
		o.ImagesPerRecoveryCrash = 2000
	}
	if seed%4 == 2 {
		return testLogCrashes(seed, o)
	}
	s := workload.NewScript(seed, o.ProcessCount)
	if o.UsesShortTexts {
		s.ShortenTexts(maxShortTextBytes)
	}
	return testScriptCrashes(s, o)
}

// testScriptCrashes runs a script of changes to a store and examines every disk content that a crash at any point may
// leave. It returns the counts of the tests, and the first violation of a guarantee of the store, or nil.
func testScriptCrashes(s workload.Script, o CrashOptions) (CrashTally, *Violation) {
	setup := newStoreSetup(s.Seed, o)
	r := &crashRun{opts: o, script: s, setup: setup, judge: workload.NewJudge(s.Seed, setup)}
	r.tally.ScriptsRun = 1
	v := r.examineAllStopPoints()
	r.tally.PossibleDiskContents = r.judge.ImageCount
	r.tally.DistinctCrashContents = r.judge.ExaminedImages
	r.tally.OpensFromSnapshot = r.judge.OpensFromSnapshot
	if v != nil {
		v.Seed, v.Steps = s.Seed, s.Steps
	}
	return r.tally, v
}

// newStoreSetup returns the setup of the store for a seed. In most scripts, the store's file grows in small steps, so
// that disks are small and many possible disk contents can be tested.
func newStoreSetup(seed uint64, o CrashOptions) workload.StoreSetup {
	setup := o.Setup
	setup.SnapshotOnClose = workload.ScriptWritesSnapshots(seed)
	if !o.UsesPlainDisk {
		setup.FileGrowsInSmallSteps = o.UsesShortTexts || seed%16 != 7
		setup.DiscardsLockContent = seed%8 < 5
	}
	return setup
}

func (r *crashRun) examineAllStopPoints() *Violation {
	dry := workload.NewWorld(r.script, r.setup)
	dry.RecordsStates = true
	if err := dry.RunSteps(); err != nil {
		return &Violation{Err: err}
	}
	last := dry.Disk.CountOps()
	for k := 1; k <= last+1; k++ {
		w := workload.NewWorld(r.script, r.setup)
		w.Disk.StopAt(k)
		if err := w.RunSteps(); err != nil {
			return &Violation{Trigger: describeCrash(k, ""), Err: err}
		}
		w.Disk.Stop()
		r.tally.DiskStopPoints++
		if v := r.examineStopPoint(w, dry.States, k); v != nil {
			return v
		}
		mayKill := r.script.ProcessCount > 1 && k <= last
		if mayKill && !isOpInRanges(dry.NestedStepDiskOpRanges, k) {
			if err := r.runWithKillAt(dry, k); err != nil {
				return &Violation{Trigger: describeCrash(k, "only process ended"), Err: err}
			}
		}
	}
	return nil
}

func isOpInRanges(rangeBounds []int, opNumber int) bool {
	for i := 0; i+1 < len(rangeBounds); i += 2 {
		if opNumber >= rangeBounds[i] && opNumber <= rangeBounds[i+1] {
			return true
		}
	}
	return false
}

// examineStopPoint examines a crash during the disk operation opNumber. It opens a store from each content that the
// disk may have after the crash. The store must be in one of the states that are allowed after the crash, which the
// list states contains. examineStopPoint returns the first violation, or nil.
func (r *crashRun) examineStopPoint(w *workload.World, states []*workload.StoreState, opNumber int) *Violation {
	allowed := workload.StatesAllowedAfterCrash(states, w.CompletedEvents)
	var bad *Violation
	w.Disk.EachCrashContent(func(im *crashfs.CrashContent) bool {
		_, isFirst, err := r.judge.ExamineCrashContent(im, allowed)
		if err == nil && isFirst {
			err = r.examineNewImage(w, im, allowed)
		}
		if err != nil {
			bad = &Violation{Trigger: describeCrash(opNumber, im.Label()), Err: err}
		}
		return err == nil
	})
	return bad
}

// examineNewImage tests the recovery from im, a disk content after a crash that was not found before. The caller has
// already examined the store in im. examineNewImage makes two further tests:
//   - If r.mustCrashAgain selects im, the disk crashes a second time, during the recovery.
//   - If im has a snapshot file, some contents with other snapshots in place of this file are tested.
func (r *crashRun) examineNewImage(w *workload.World, im *crashfs.CrashContent, allowed []*workload.StoreState) error {
	if r.mustCrashAgain(im) {
		if err := r.crashDuringRecovery(im.BuildFileSystem(), allowed, r.stepAfterCrash(w.CompletedEvents, im.HashFiles(workload.IsLockFile))); err != nil {
			return err
		}
	}
	if im.AnyName(workload.IsSnapshotFile) {
		return r.examineMixedSnapshots(im, allowed)
	}
	return nil
}

// runWithKillAt runs the script, which has two processes, on a new disk. The process that performs disk operation
// opNumber is killed after this operation, and the remaining process continues. If the operation is a write,
// runWithKillAt runs the script once more and kills the process in the middle of the write. dryWorld contains the disk
// and the log of a run without a kill.
func (r *crashRun) runWithKillAt(dryWorld *workload.World, opNumber int) error {
	op := dryWorld.Disk.Log()[opNumber-1]
	if err := r.killInWorld(workload.NewWorld(r.script, r.setup), dryWorld, opNumber); err != nil {
		return err
	}
	if op.Kind != crashfs.OpWrite {
		return nil
	}
	w := workload.NewWorld(r.script, r.setup)
	w.Disk.Inject(
		crashfs.OpFault{FirstOpNumber: opNumber, Kinds: crashfs.OpWrite, WrittenBytes: op.Len / 2, Err: syscall.EIO},
	)
	return r.killInWorld(w, dryWorld, opNumber)
}

// killInWorld runs the script on the new simulated disk of w, and kills the process that performs the disk operation
// opNumber. The second process continues. dryWorld contains the results of a run without a kill. After the kill, the
// store must be in the state that it had in that run after the completed steps, or after the step in progress.
func (r *crashRun) killInWorld(w, dryWorld *workload.World, opNumber int) error {
	// The simulated disk numbers its processes from 1, but the script numbers them from 0.
	killed := dryWorld.Disk.Log()[opNumber-1].ProcessNumber - 1
	other := 1 - killed // A script has two processes with the numbers 0 and 1.
	w.KillProcessAt(killed, opNumber)
	if err := w.RunSteps(); err != nil {
		return err
	}
	r.tally.Kills++
	return w.ContinueAfterKill(other, workload.StatesAllowedAfterCrash(dryWorld.States, w.CompletedEvents))
}

// newDisk returns a simulated disk with the files in img.
func newDisk(img *vfs.Mem) *crashfs.Disk { return crashfs.New(img) }
