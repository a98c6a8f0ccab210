//go:build unix

// This file lists deliberate faults in the disk or the library. For each fault, it specifies the torture test
// (campaign) that must notice the fault.

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/oxbow-memory/oxbow/test/torture/mutants"
	"github.com/oxbow-memory/oxbow/test/torture/procs"
)

// deliberateFault is a deliberate fault. The disk or the library does not give a certain guarantee.
type deliberateFault struct {
	title string
	// Name of a fault in the simulated disk, or "". For the campaign "procs", it is the name of a fault in files and
	// locks.
	diskFault  string
	mutantName string // name of a deliberately broken version of the library, or ""
	// campaign that must notice the fault: a key of campaignCommandLines, "procs", or the package and name of a test
	campaignThatMustNotice string
}

// campaignCommandLines contains the command lines of the torture tests (campaigns) that are repeated with different
// random seeds. Each test stops at the first violated guarantee.
var campaignCommandLines = map[string]string{
	"crash":         "crash --deep 300 --count 40",
	"crash --short": "crash --deep 300 --count 40 --short",
	"ioerr":         "ioerr --count 16",
	"flip":          "flip --count 1",
	"linear":        "linear --count 100",
}

// deliberateFaults contains all deliberate faults. The four values of an element are the title, the fault of the disk,
// the broken version of the library, and the campaign or test that must notice the fault. If the campaign "crash" must
// notice a fault, the shorter campaign "crash --short" must notice the fault as well. This is possible because most of
// the simulated disks contain only short texts in both campaigns.
var deliberateFaults = []deliberateFault{
	{"no sync after an append", "no-append-sync", "", "crash"},
	{"no sync after the cut of a torn tail", "no-cut-sync", "", "crash"},
	{"no sync of a new file", "no-new-sync", "", "crash"},
	{"no sync of a tail kept aside", "no-lost-sync", "", "crash"},
	{"no sync of the store's directory", "no-name-sync", "", "crash"},
	{"no sync of the directory of torn tails", "no-lost-name", "", "crash"},
	{"a sync acknowledged before it is done", "early-sync", "", "crash"},
	{"a lock that lets every process in", "no-lock", "", "crash"},
	{"a rename in two steps", "plain-rename", "", "crash"},
	{"a truncation that does nothing", "no-truncate", "", "crash"},
	{"a torn tail written over", "", "tail-written-over", "crash"},
	{"no catching up under the lock", "", "no-catch-up", "crash"},
	{"a replaced file not noticed", "", "replaced-file-unnoticed", "crash"},
	{"op ids ignored", "", "op-ids-ignored", "crash"},
	{"a record vouches for itself", "", "record-vouches-for-itself", "crash"},
	{"a new file renamed before it is synced", "", "new-file-not-synced", "crash"},
	{"a compaction that lacks what was written last", "", "compaction-without-the-last-writes", "linear"},

	{"a short write taken for done", "", "short-write-taken-for-done", "ioerr"},
	{"a failed sync tried again", "", "failed-sync-tried-again", "ioerr"},
	{"what others appended last taken for durable", "", "others-taken-for-durable", "ioerr"},
	{"a file replaced and not noted before", "", "replaced-without-note", "ioerr"},
	{"a change shown before it is durable", "", "shown-before-durable", "ioerr"},

	{"checksums not looked at", "", "checksum-ignored", "flip"},
	{"damage taken for a torn tail", "", "damage-taken-for-tail", "flip"},

	{"no catching up, goroutines", "", "no-catch-up", "linear"},
	{"a replaced file not noticed, goroutines", "", "replaced-file-unnoticed", "linear"},

	{"an old look at the tail believed", "", "old-look-believed", "./internal/log/wal TestTailAfterAnOldLook"},
	{"answered before it is durable", "", "answered-before-durable", logstoreTestPrefix + "TestAnswersWaitForTheSync"},

	{
		"a log read on from one record too far",
		"",
		"snapshot-one-record-too-far",
		logstoreTestPrefix + "TestSnapshotDamaged",
	},
	{
		"a snapshot's chain not compared",
		"",
		"snapshot-chain-not-compared",
		logstoreTestPrefix + "TestSnapshotOfAnotherHistory",
	},
	{"a snapshot's page not verified", "", "snapshot-page-not-verified", logstoreTestPrefix + "TestSnapshotDamaged"},
	{"removed names not in a snapshot", "", "snapshot-without-removed", logstoreTestPrefix + "TestSnapshotIsTheLog"},
	{
		"a snapshot left by a redaction",
		"",
		"snapshot-left-by-redaction",
		logstoreTestPrefix + "TestSnapshotAfterRedaction",
	},
	{
		"a redaction by another process taken for a compaction",
		"",
		"redaction-taken-for-compaction",
		". TestRedactedUnderAnIndex",
	},
	{"versions of before in the snapshot of a compaction", "", "compaction-lists-old-versions", logstoreTestPrefix +
		"TestCompactsItself"},
	{"a snapshot of records that were not synced", "", "snapshot-of-unsynced-records", logstoreTestPrefix +
		"TestSnapshotOfUnsyncedRecords"},

	{"damage taken for an older copy", "", "damage-taken-for-an-older-copy", recoveryTestCampaign},
	{"what was made of a damaged log left by its recovery", "", "recovery-leaves-derived-files", recoveryTestCampaign},
	{"a damaged log called busy", "", "equal-looks-not-believed", recoveryTestCampaign},
	{"a damaged commit mark passed over", "", "damaged-mark-passed-over", recoveryTestCampaign},
	{"a recovery without what a compaction kept", "", "recovery-without-the-base", recoveryTestCampaign},
	{
		"a compaction that puts all entries into one record",
		"",
		"base-of-large-records",
		logstoreTestPrefix + "TestBaseDamage",
	},
	{
		"what a first look finds called damage",
		"",
		"first-look-believed",
		logstoreTestPrefix + "TestCheckBesideWriters",
	},

	{"an edited file taken for unchanged", "", "edited-file-taken-for-unchanged", twoSidedEditTestCampaign},
	{"a changed entry taken for dumped", "", "changed-entry-taken-for-dumped", twoSidedEditTestCampaign},
	{"a conflict of a load not named", "", "conflict-not-named", twoSidedEditTestCampaign},
	{"an edit taken for a text that is saved", "", "edit-taken-for-saved", twoSidedEditTestCampaign},
	{"a change of the memory removed with the file", "", "change-removed-with-file", twoSidedEditTestCampaign},
	{"a dump over edits", "", "dump-over-edits", twoSidedEditTestCampaign},
	{"labels not compared by a load", "", "labels-not-compared", twoSidedEditTestCampaign},
	{
		"a file of the same size taken for known",
		"",
		"stamp-is-the-size",
		mdtreeTestPrefix + "TestUnchangedFilesAreNotRead",
	},
	{"a file from just now taken for known", "", "recent-file-known", mdtreeTestPrefix + "TestRecentFilesAreRead"},
	{
		"an entry that changes while it is dumped",
		"",
		"changed-entry-dumped",
		mdtreeTestPrefix + "TestDumpOfChangingStore",
	},
	{
		"an edit while files are staged not noticed",
		"",
		"staged-change-not-checked",
		mdtreeTestPrefix + "TestEditWhileWriting",
	},
	{
		"a dump that moves files before its commit",
		"",
		"dump-finished-before-commit",
		mdtreeTestPrefix + "TestCrashAnywhere",
	},
	{"a journal in team files followed", "", "foreign-journal-followed", "./internal/share/team TestForeignJournal"},

	{"no lock, processes", "no-lock", "", "procs"},
	{"no lock and no note, processes", "no-lock,no-note", "", "procs"},
	{"a lock of fcntl, processes", "fcntl-lock", "", "procs"},
	{"a lock of fcntl and no note, processes", "fcntl-lock,no-note", "", "procs"},
	{"no catching up, processes", "", "no-catch-up", "procs"},
	{"no catching up and no note, processes", "no-note", "no-catch-up", "procs"},
	{"a replaced file not noticed, processes", "", "replaced-file-unnoticed", "procs"},
	{"a replaced file not noticed and no note, processes", "no-note", "replaced-file-unnoticed", "procs"},
	{"op ids ignored, processes", "", "op-ids-ignored", "procs"},
}

// runMutants implements the command "mutants". It builds versions of the disk or the library with one deliberate fault
// each, which is called a sabotage or a mutant. It runs tests of the store with each version, and prints how many
// faults the tests did not notice. It returns the exit code of the program.
func runMutants(args []string, stdout, stderr io.Writer) int {
	fl := flag.NewFlagSet("mutants", flag.ContinueOnError)
	fl.SetOutput(stderr)
	short := fl.Bool(
		"short",
		false,
		"without procs, the long form of crash, and the library's own tests, which are built for each",
	)
	only := fl.String("run", "", "only sabotages whose name or campaign matches the `regexp`")
	workers := fl.Int("workers", runtime.GOMAXPROCS(0), "campaigns at the same time, but for procs")
	if err := fl.Parse(args); err != nil {
		return 2
	}
	re, err := regexp.Compile(*only)
	if err != nil {
		fmt.Fprintln(stderr, "torture:", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return runInScratchDir("mutants", stderr, func(dir string) (bool, error) {
		r, err := newDeliberateFaultRunner(dir, stdout)
		if err != nil {
			return false, err
		}
		for _, s := range listDeliberateFaults(*short) {
			if re.MatchString(s.title) || re.MatchString(s.campaignThatMustNotice) {
				r.pendingFaults = append(r.pendingFaults, s)
			}
		}
		start, all := time.Now(), len(r.pendingFaults)
		r.runAllSabotages(ctx, *workers)
		fmt.Fprintf(
			stdout,
			"mutants: %d sabotages, %d not noticed, %s\n",
			all,
			r.missedCount,
			time.Since(start).Round(time.Second),
		)
		return true, r.missedFaultsError(ctx)
	})
}

// recoveryTestCampaign is the value of deliberateFault.campaignThatMustNotice for a fault that the test of damaged
// memories must notice. This test is TestRecovery in the package test/torture/recovery.
const recoveryTestCampaign = "./test/torture/recovery TestRecovery"

// logstoreTestPrefix is the first part of the value of deliberateFault.campaignThatMustNotice if a test of package
// logstore must notice the fault. The name of the test follows the prefix.
const logstoreTestPrefix = "./internal/log/logstore "

// mdtreeTestPrefix is the first part of the value of deliberateFault.campaignThatMustNotice if a test of package mdtree
// must notice the fault. The test's name follows the prefix. twoSidedEditTestCampaign names the test in which both the
// store and a dump's files are edited.
const (
	mdtreeTestPrefix         = "./internal/tree/mdtree "
	twoSidedEditTestCampaign = mdtreeTestPrefix + "TestTwoSides"
)

// listDeliberateFaults returns the deliberate faults, each with the test that must notice the fault. A fault for the
// test "crash" is returned twice, for the long and the short form of the test. If isShortRun is true, the long form and
// all faults whose tests take too long are omitted.
func listDeliberateFaults(isShortRun bool) []deliberateFault {
	var all []deliberateFault
	for _, s := range deliberateFaults {
		if isShortRun && s.isTooLongForShortRun() {
			continue
		}
		if s.campaignThatMustNotice != "crash" || !isShortRun {
			all = append(all, s)
		}
		if s.campaignThatMustNotice == "crash" {
			s.campaignThatMustNotice = "crash --short"
			all = append(all, s)
		}
	}
	return all
}

// isTooLongForShortRun reports whether the campaign that must notice this deliberate fault takes too long for the
// option --short.
func (s deliberateFault) isTooLongForShortRun() bool {
	switch {
	case s.campaignThatMustNotice == "procs", s.campaignThatMustNotice == recoveryTestCampaign:
		return true
	case strings.HasPrefix(s.campaignThatMustNotice, ". "),
		strings.HasPrefix(s.campaignThatMustNotice, logstoreTestPrefix):
		return true
	}
	return false
}

// deliberateFaultRunner tests that each deliberate fault is noticed. Faults that are tested with several processes are
// tested in sequence at the end, because their results depend on timing.
type deliberateFaultRunner struct {
	root, dir, executable string
	out                   io.Writer

	mu            sync.Mutex // guards the following fields
	pendingFaults []deliberateFault
	// for the name of each broken version of the library, a function that builds the program with this version
	buildFuncByMutant map[string]func() (string, error)
	missedCount       int
}

func newDeliberateFaultRunner(dir string, out io.Writer) (*deliberateFaultRunner, error) {
	root, err := mutants.LibraryDir()
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	return &deliberateFaultRunner{
		root:              root,
		dir:               dir,
		executable:        self,
		out:               out,
		buildFuncByMutant: map[string]func() (string, error){},
	}, err
}

func (r *deliberateFaultRunner) runAllSabotages(ctx context.Context, workers int) {
	var alone []deliberateFault
	r.pendingFaults = slices.DeleteFunc(r.pendingFaults, func(s deliberateFault) bool {
		if s.campaignThatMustNotice == "procs" {
			alone = append(alone, s)
		}
		return s.campaignThatMustNotice == "procs"
	})
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for s, ok := r.nextFault(); ok && ctx.Err() == nil; s, ok = r.nextFault() {
				r.tryFault(ctx, s)
			}
		})
	}
	wg.Wait()
	for _, s := range alone {
		if ctx.Err() == nil {
			r.tryFault(ctx, s)
		}
	}
}

func (r *deliberateFaultRunner) nextFault() (s deliberateFault, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.pendingFaults) == 0 {
		return deliberateFault{}, false
	}
	s, r.pendingFaults = r.pendingFaults[0], r.pendingFaults[1:]
	return s, true
}

// tryFault runs a campaign with a deliberate fault, and prints whether the campaign has noticed the fault.
func (r *deliberateFaultRunner) tryFault(ctx context.Context, s deliberateFault) {
	start := time.Now()
	noticed, err := r.isNoticed(ctx, s)
	r.mu.Lock()
	defer r.mu.Unlock()
	word := "noticed"
	if err != nil || !noticed {
		word = "NOT NOTICED"
		r.missedCount++
	}
	fmt.Fprintf(
		r.out,
		"%s by %s: %s, %s\n",
		s.title,
		s.campaignThatMustNotice,
		word,
		time.Since(start).Round(100*time.Millisecond),
	)
	if err != nil {
		fmt.Fprintln(r.out, "  ", err)
	}
}

func (r *deliberateFaultRunner) missedFaultsError(ctx context.Context) error {
	if r.missedCount > 0 {
		return fmt.Errorf("%d sabotages were not noticed", r.missedCount)
	}
	return ctx.Err()
}

// buildProgram returns the path of an executable of this program with a mutant, which is a deliberate fault in oxbow's
// code. Each mutant is built only once. If mutantName is "", the executable has no mutant.
func (r *deliberateFaultRunner) buildProgram(ctx context.Context, mutantName string) (string, error) {
	if mutantName == "" {
		return r.executable, nil
	}
	m, err := mutants.FindMutant(mutantName)
	if err != nil {
		return "", err
	}
	r.mu.Lock()
	build := r.buildFuncByMutant[mutantName]
	if build == nil {
		build = sync.OnceValues(func() (string, error) { return m.BuildProgram(ctx, r.root, r.dir) })
		r.buildFuncByMutant[mutantName] = build
	}
	r.mu.Unlock()
	return build()
}

// isNoticed runs the test or the campaign that must notice the fault s, with this fault. It reports whether the fault
// was noticed. An error means that the test could not run.
func (r *deliberateFaultRunner) isNoticed(ctx context.Context, s deliberateFault) (bool, error) {
	if pkg, test, ok := strings.Cut(s.campaignThatMustNotice, " Test"); ok {
		m, err := mutants.FindMutant(s.mutantName)
		if err != nil {
			return false, err
		}
		return m.RunTest(ctx, r.root, r.dir, pkg, "Test"+test)
	}
	program, err := r.buildProgram(ctx, s.mutantName)
	if err != nil {
		return false, err
	}
	if s.campaignThatMustNotice == "procs" {
		return r.runFaultyProcesses(ctx, s, program)
	}
	args := append(
		strings.Fields(campaignCommandLines[s.campaignThatMustNotice]),
		"--workers",
		"1",
		"--violations",
		"1",
		"--disk",
		s.diskFault,
	)
	out, err := exec.CommandContext(ctx, program, args...).CombinedOutput()
	if strings.Contains(string(out), "VIOLATION: ") {
		return true, nil
	}
	if err != nil {
		err = fmt.Errorf("torture %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return false, err
}

// runFaultyProcesses runs the test with several processes that write and read the same store. The processes have the
// deliberate fault that s describes. The bool result reports whether the test found a violated guarantee in its
// duration.
func (r *deliberateFaultRunner) runFaultyProcesses(
	ctx context.Context,
	s deliberateFault,
	program string,
) (bool, error) {
	home, err := os.MkdirTemp(r.dir, "home-")
	if err != nil {
		return false, err
	}
	o := procs.Options{
		Dir:           filepath.Join(home, "home"),
		ChildCommand:  []string{r.executable, procsChildCommand},
		FaultNames:    s.diskFault,
		MutantCommand: []string{program, procsChildCommand},
		Writers:       4,
		Readers:       2,
		Duration:      20 * time.Second,
		DisturbEvery:  100 * time.Millisecond,
		CompactEvery:  100 * time.Millisecond,
	}
	rep, err := procs.Run(ctx, o, io.Discard)
	// A violated guarantee that is found only after the end of the test's duration does not count.
	return len(rep.Violations) > 0 && rep.Duration <= o.Duration, err
}
