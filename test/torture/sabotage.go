//go:build unix

// This file lists the deliberate faults. For each fault, it specifies the campaign that must notice the fault.

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

// sabotage is a deliberate fault. The disk or the library does not give a certain guarantee.
type sabotage struct {
	name      string
	diskFault string // fault of the disk, or for the campaign procs, fault of files and locks
	mutant    string // fault of the library
	campaign  string // campaign that must notice the fault: a key of campaignCommands, "procs", or "PACKAGE TEST"
}

// campaignCommands contains the commands of the campaigns that run seeds. Each campaign stops at the first violation.
var campaignCommands = map[string]string{
	"crash":         "crash --deep 300 --count 40",
	"crash --short": "crash --deep 300 --count 40 --short",
	"ioerr":         "ioerr --count 16",
	"flip":          "flip --count 1",
	"linear":        "linear --count 100",
}

// sabotages contains all deliberate faults. The campaign "crash --short" must notice all faults that crash must
// notice, because most disks of the long form also use short texts.
var sabotages = []sabotage{
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
	{"answered before it is durable", "", "answered-before-durable", logstorePackage + "TestAnswersWaitForTheSync"},

	{
		"a log read on from one record too far",
		"",
		"snapshot-one-record-too-far",
		logstorePackage + "TestSnapshotDamaged",
	},
	{
		"a snapshot's chain not compared",
		"",
		"snapshot-chain-not-compared",
		logstorePackage + "TestSnapshotOfAnotherHistory",
	},
	{"a snapshot's page not verified", "", "snapshot-page-not-verified", logstorePackage + "TestSnapshotDamaged"},
	{"removed names not in a snapshot", "", "snapshot-without-removed", logstorePackage + "TestSnapshotIsTheLog"},
	{
		"a snapshot left by a redaction",
		"",
		"snapshot-left-by-redaction",
		logstorePackage + "TestSnapshotAfterRedaction",
	},
	{
		"a redaction by another process taken for a compaction",
		"",
		"redaction-taken-for-compaction",
		". TestRedactedUnderAnIndex",
	},
	{"versions of before in the snapshot of a compaction", "", "compaction-lists-old-versions", logstorePackage +
		"TestCompactsItself"},
	{"a snapshot of records that were not synced", "", "snapshot-of-unsynced-records", logstorePackage +
		"TestSnapshotOfUnsyncedRecords"},

	{"damage taken for an older copy", "", "damage-taken-for-an-older-copy", recoveryCampaign},
	{"what was made of a damaged log left by its recovery", "", "recovery-leaves-derived-files", recoveryCampaign},
	{"a damaged log called busy", "", "equal-looks-not-believed", recoveryCampaign},
	{"a damaged commit mark passed over", "", "damaged-mark-passed-over", recoveryCampaign},
	{"a recovery without what a compaction kept", "", "recovery-without-the-base", recoveryCampaign},
	{
		"a compaction that puts all entries into one record",
		"",
		"base-of-large-records",
		logstorePackage + "TestBaseDamage",
	},
	{"what a first look finds called damage", "", "first-look-believed", logstorePackage + "TestCheckBesideWriters"},

	{"an edited file taken for unchanged", "", "edited-file-taken-for-unchanged", twoSidesTest},
	{"a changed entry taken for dumped", "", "changed-entry-taken-for-dumped", twoSidesTest},
	{"a conflict of a load not named", "", "conflict-not-named", twoSidesTest},
	{"an edit taken for a text that is saved", "", "edit-taken-for-saved", twoSidesTest},
	{"a change of the memory removed with the file", "", "change-removed-with-file", twoSidesTest},
	{"a dump over edits", "", "dump-over-edits", twoSidesTest},
	{"labels not compared by a load", "", "labels-not-compared", twoSidesTest},
	{
		"a file of the same size taken for known",
		"",
		"stamp-is-the-size",
		mdtreePackage + "TestUnchangedFilesAreNotRead",
	},
	{"a file from just now taken for known", "", "recent-file-known", mdtreePackage + "TestRecentFilesAreRead"},
	{
		"an entry that changes while it is dumped",
		"",
		"changed-entry-dumped",
		mdtreePackage + "TestDumpOfChangingStore",
	},
	{
		"an edit while files are staged not noticed",
		"",
		"staged-change-not-checked",
		mdtreePackage + "TestEditWhileWriting",
	},
	{
		"a dump that moves files before its commit",
		"",
		"dump-finished-before-commit",
		mdtreePackage + "TestCrashAnywhere",
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

// runMutants implements the command mutants. It runs each sabotage, and prints which of them were noticed.
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
		r, err := newSaboteur(dir, stdout)
		if err != nil {
			return false, err
		}
		for _, s := range planSabotage(*short) {
			if re.MatchString(s.name) || re.MatchString(s.campaign) {
				r.pending = append(r.pending, s)
			}
		}
		start, all := time.Now(), len(r.pending)
		r.runAll(ctx, *workers)
		fmt.Fprintf(
			stdout,
			"mutants: %d sabotages, %d not noticed, %s\n",
			all,
			r.missedCount,
			time.Since(start).Round(time.Second),
		)
		return true, r.missedError(ctx)
	})
}

// recoveryCampaign is the value of sabotage.campaign for the campaign with damaged memories.
const recoveryCampaign = "./test/torture/recovery TestRecovery"

// logstorePackage is the beginning of the value of sabotage.campaign for a test of the log store.
const logstorePackage = "./internal/log/logstore "

// mdtreePackage is the package with the commands dump and load. twoSidesTest is the campaign with trees that two sides
// edit.
const (
	mdtreePackage = "./internal/tree/mdtree "
	twoSidesTest  = mdtreePackage + "TestTwoSides"
)

// planSabotage returns the sabotages. Their campaigns are in the short form if short is true, and otherwise in the
// long form.
func planSabotage(short bool) []sabotage {
	var all []sabotage
	for _, s := range sabotages {
		if short && s.isLong() {
			continue
		}
		if s.campaign != "crash" || !short {
			all = append(all, s)
		}
		if s.campaign == "crash" {
			s.campaign = "crash --short"
			all = append(all, s)
		}
	}
	return all
}

// isLong reports whether the campaign that must notice the sabotage takes too long for the short form.
func (s sabotage) isLong() bool {
	switch {
	case s.campaign == "procs", s.campaign == recoveryCampaign:
		return true
	case strings.HasPrefix(s.campaign, ". "), strings.HasPrefix(s.campaign, logstorePackage):
		return true
	}
	return false
}

// saboteur runs sabotages. Sabotages with processes run one after the other at the end, because their results depend
// on timing.
type saboteur struct {
	root, dir, executable string
	out                   io.Writer

	mu          sync.Mutex // guards the following fields
	pending     []sabotage
	builds      map[string]func() (string, error) // builds of the program, by the name of the mutant
	missedCount int
}

func newSaboteur(dir string, out io.Writer) (*saboteur, error) {
	root, err := mutants.LibraryDir()
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	return &saboteur{
		root:       root,
		dir:        dir,
		executable: self,
		out:        out,
		builds:     map[string]func() (string, error){},
	}, err
}

func (r *saboteur) runAll(ctx context.Context, workers int) {
	var alone []sabotage
	r.pending = slices.DeleteFunc(r.pending, func(s sabotage) bool {
		if s.campaign == "procs" {
			alone = append(alone, s)
		}
		return s.campaign == "procs"
	})
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for s, ok := r.nextSabotage(); ok && ctx.Err() == nil; s, ok = r.nextSabotage() {
				r.trySabotage(ctx, s)
			}
		})
	}
	wg.Wait()
	for _, s := range alone {
		if ctx.Err() == nil {
			r.trySabotage(ctx, s)
		}
	}
}

func (r *saboteur) nextSabotage() (s sabotage, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.pending) == 0 {
		return sabotage{}, false
	}
	s, r.pending = r.pending[0], r.pending[1:]
	return s, true
}

// trySabotage runs a sabotage and prints the result.
func (r *saboteur) trySabotage(ctx context.Context, s sabotage) {
	start := time.Now()
	noticed, err := r.isNoticed(ctx, s)
	r.mu.Lock()
	defer r.mu.Unlock()
	word := "noticed"
	if err != nil || !noticed {
		word = "NOT NOTICED"
		r.missedCount++
	}
	fmt.Fprintf(r.out, "%s by %s: %s, %s\n", s.name, s.campaign, word, time.Since(start).Round(100*time.Millisecond))
	if err != nil {
		fmt.Fprintln(r.out, "  ", err)
	}
}

func (r *saboteur) missedError(ctx context.Context) error {
	if r.missedCount > 0 {
		return fmt.Errorf("%d sabotages were not noticed", r.missedCount)
	}
	return ctx.Err()
}

// buildProgram returns the path of this program with a mutant. For each mutant, the program is built only once.
func (r *saboteur) buildProgram(ctx context.Context, mutant string) (string, error) {
	if mutant == "" {
		return r.executable, nil
	}
	m, err := mutants.FindMutant(mutant)
	if err != nil {
		return "", err
	}
	r.mu.Lock()
	build := r.builds[mutant]
	if build == nil {
		build = sync.OnceValues(func() (string, error) { return m.BuildProgram(ctx, r.root, r.dir) })
		r.builds[mutant] = build
	}
	r.mu.Unlock()
	return build()
}

// isNoticed runs the campaign that must notice the sabotage, and reports whether the campaign noticed it.
func (r *saboteur) isNoticed(ctx context.Context, s sabotage) (bool, error) {
	if pkg, test, ok := strings.Cut(s.campaign, " Test"); ok {
		m, err := mutants.FindMutant(s.mutant)
		if err != nil {
			return false, err
		}
		return m.RunTest(ctx, r.root, r.dir, pkg, "Test"+test)
	}
	program, err := r.buildProgram(ctx, s.mutant)
	if err != nil {
		return false, err
	}
	if s.campaign == "procs" {
		return r.breakProcesses(ctx, s, program)
	}
	args := append(
		strings.Fields(campaignCommands[s.campaign]),
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

// breakProcesses runs the campaign with processes. The processes that write and read have the fault of the sabotage.
func (r *saboteur) breakProcesses(ctx context.Context, s sabotage, program string) (bool, error) {
	home, err := os.MkdirTemp(r.dir, "home-")
	if err != nil {
		return false, err
	}
	o := procs.Options{Dir: filepath.Join(home, "home"), Child: []string{r.executable, procsChild}, Fault: s.diskFault,
		Mutant: []string{program, procsChild}, Writers: 4, Readers: 2,
		Duration: 20 * time.Second, DisturbEvery: 100 * time.Millisecond, CompactEvery: 100 * time.Millisecond}
	rep, err := procs.Run(ctx, o, io.Discard)
	// A violation that is found only at the end of the campaign does not count.
	return len(rep.Violations) > 0 && rep.Duration <= o.Duration, err
}
