// This file implements the command line of the program.

// Command torture runs campaigns on the store for any length of time. Campaigns are long randomized tests with faults.
// "go test" runs a short form of each campaign. The command must be run in its directory:
//
//	go run . crash  --images 100000000 --procs 2
//	go run . crash  --images 100000000 --procs 2 --short
//	go run . crash  --seed 17 --count 1
//	go run . ioerr  --seed 1 --count 100
//	go run . flip   --seed 1 --count 20
//	go run . linear --seed 1 --count 10000
//	go run . procs  --duration 1h
//	go run . syscalls
//	go run . mutants --short
//	go test ./workload -rapid.checks=100000 -rapid.steps=60
//
// The campaign crash generates scripts from seeds, stops the disk at each operation in the scripts, and examines each
// possible state of the disk after such a crash. It examines some of the states after a second crash during recovery.
// It also kills one process at each operation and lets a second process continue. The campaign ioerr makes each
// operation fail, once or permanently. The campaign flip flips each bit of small stores, truncates the stores to each
// length, and zeroes, duplicates, misplaces and restores sectors. The campaign linear runs goroutines in several
// processes, kills some of the processes, and checks the histories for linearizability. The campaign mutants
// deliberately breaks the library and the disk in each way that is listed in sabotage.go, and checks that other
// campaigns notice this.
//
// All results depend only on the seed, except the results of linear and procs, which also depend on the scheduler. If
// there is a violation, the command that repeats it is printed, and the exit status is 1.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow/test/torture/faults"
	"github.com/oxbow-memory/oxbow/test/torture/workload"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// testCampaign is a kind of randomized test. The function runWithSeed runs it once with a seed. It returns the counts
// in the order of resultCountNames. The error is the violated guarantee, or nil.
type testCampaign struct {
	name             string
	resultCountNames []string
	runWithSeed      func(seed uint64, f campaignFlags) ([]int, error)
}

type campaignFlags struct {
	processCount, imagesPerRecoveryCrash int
	usesPlainDisk                        bool
	usesShortTexts                       bool
	diskSetup                            workload.StoreSetup // deliberate faults of the disk
}

var testCampaigns = []testCampaign{
	{
		"crash",
		[]string{"distinct images", "generated", "deep", "points", "kills", "scripts", "opened by a snapshot",
			"mixed snapshots"},
		func(seed uint64, f campaignFlags) ([]int, error) {
			t, v := faults.FindCrashViolation(
				seed,
				faults.CrashOptions{
					Setup:                  f.diskSetup,
					ProcessCount:           f.processCount,
					ImagesPerRecoveryCrash: f.imagesPerRecoveryCrash,
					UsesPlainDisk:          f.usesPlainDisk,
					UsesShortTexts:         f.usesShortTexts,
				},
			)
			n := []int{
				t.DistinctCrashContents,
				t.PossibleDiskContents,
				t.RecoveryCrashes,
				t.DiskStopPoints,
				t.Kills,
				t.ScriptsRun,
				t.OpensFromSnapshot,
				t.MixedSnapshotContents,
			}
			if v != nil {
				return n, v
			}
			return n, nil
		},
	},
	{
		"flip",
		[]string{"files", "harmless", "refused", "torn", "traceless"},
		func(seed uint64, f campaignFlags) ([]int, error) {
			t, v := faults.DamageStores(seed, f.diskSetup)
			n := []int{
				t.DamagedFiles,
				t.FilesWithAllEntries,
				t.FilesRefusedAtOpen,
				t.FilesWithReportedLoss,
				t.FilesWithUnreportedLoss,
			}
			if v != nil {
				return n, v
			}
			return n, nil
		},
	},
	{
		"linear",
		[]string{"histories", "calls", "pending", "busy", "opened by a snapshot"},
		func(seed uint64, f campaignFlags) ([]int, error) {
			t, err := faults.CheckLinearHistory(seed, f.diskSetup)
			return []int{t.Histories, t.Calls, t.CallsPendingAtKill, t.CallsRefusedAsBusy, t.OpensFromSnapshot}, err
		},
	},
	{
		"ioerr",
		[]string{"faults", "images", "distinct", "rescued", "unknown", "scripts", "opened by a snapshot"},
		func(seed uint64, f campaignFlags) ([]int, error) {
			t, v := faults.FindErrors(seed, faults.DiskErrorOptions{Setup: f.diskSetup})
			n := []int{
				t.Faults,
				t.PossibleImages,
				t.DistinctDiskContents,
				t.FailedSyncsAcknowledged,
				t.UnknownOutcomeChanges,
				t.Scripts,
				t.OpensFromSnapshot,
			}
			if v != nil {
				return n, v
			}
			return n, nil
		},
	},
}

func run(args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(stderr, "usage: torture CAMPAIGN [flags]; campaigns:")
		for _, c := range testCampaigns {
			fmt.Fprint(stderr, " ", c.name)
		}
		for _, name := range slices.Sorted(maps.Keys(processCommands)) {
			if !strings.HasSuffix(name, "-child") {
				fmt.Fprint(stderr, " ", name)
			}
		}
		fmt.Fprintln(stderr)
		return 2
	}
	for _, c := range testCampaigns {
		if c.name == args[0] {
			return c.runSeeds(args[1:], stdout, stderr)
		}
	}
	if run, ok := processCommands[args[0]]; ok {
		return run(args[1:], stdout, stderr)
	}
	fmt.Fprintf(stderr, "torture: no campaign %q\n", args[0])
	return 2
}

// runSeeds runs the campaign with different seeds on all processors until the limit is reached.
func (c testCampaign) runSeeds(args []string, stdout, stderr io.Writer) int {
	fl := flag.NewFlagSet(c.name, flag.ContinueOnError)
	fl.SetOutput(stderr)
	seed := fl.Uint64("seed", 1, "first seed")
	count := fl.Int("count", 0, "seeds to run; 0: until --images")
	most := fl.Int("images", 1_000_000, "without --count, stop after so many "+c.resultCountNames[0])
	workers := fl.Int("workers", runtime.GOMAXPROCS(0), "seeds run at the same time")
	var f campaignFlags
	fl.IntVar(&f.processCount, "procs", 2, "processes of a script, 1 or 2")
	fl.IntVar(&f.imagesPerRecoveryCrash, "deep", 0, "of so many images one is crashed again; 0: the default")
	fl.BoolVar(&f.usesPlainDisk, "plain", false, "free space as in real use in all scripts (slower)")
	fl.BoolVar(
		&f.usesShortTexts,
		"short",
		false,
		"crash: small free space and texts of at most 300 bytes in all scripts (faster)",
	)
	disk := fl.String("disk", "", "break a promise of the disk on purpose: "+
		strings.Join(workload.DiskFaultNames[1:], " | "))
	limit := fl.Int("violations", 20, "stop after so many violations")
	if err := fl.Parse(args); err != nil {
		return 2
	}
	broken := slices.Index(workload.DiskFaultNames, *disk)
	if broken < 0 {
		fmt.Fprintf(stderr, "torture: no fault of a disk has the name %q\n", *disk)
		return 2
	}
	f.diskSetup.DiskFault = workload.DiskFault(broken)
	// Only a little memory is in use at any time and there is much garbage, so collect garbage less often.
	debug.SetGCPercent(800)
	// limit the memory, because garbage that is collected less often could fill the memory of the machine
	debug.SetMemoryLimit(int64(max(1, *workers)) << 30)
	p := progressPrinter{
		campaign:        c,
		out:             stderr,
		start:           time.Now(),
		resultCountSums: make([]int, len(c.resultCountNames)),
		isProgressShown: isTerminal(stderr),
	}
	var mu sync.Mutex // guards next, bad and p
	next, bad := *seed, 0
	// After the first interrupt, the program finishes the tests with the seeds that are running, and prints how many
	// tests it has run. A second interrupt ends the program immediately.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop)
	var wg sync.WaitGroup
	for range *workers {
		wg.Go(func() {
			for {
				mu.Lock()
				s := next
				next++
				over := (*count > 0 && s-*seed >= uint64(*count)) || (*count == 0 && p.resultCountSums[0] >= *most) ||
					bad >= *limit || ctx.Err() != nil
				mu.Unlock()
				if over {
					return
				}
				n, err := c.runWithSeed(s, f)
				mu.Lock()
				p.addResultCounts(n)
				if err != nil {
					bad++
					fmt.Fprintf(
						stdout,
						"VIOLATION: %v\n  repeat: cd test/torture && go run . %s --seed %d --count 1 --procs %d "+
							"--deep %d --plain=%v --short=%v --disk=%s\n",
						err,
						c.name,
						s,
						f.processCount,
						f.imagesPerRecoveryCrash,
						f.usesPlainDisk,
						f.usesShortTexts,
						*disk,
					)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	p.finishProgress(stdout, bad)
	if bad > 0 {
		return 1
	}
	return 0
}

// progressPrinter adds up the counts from the tests. On a terminal, it also shows the sums while the tests run.
type progressPrinter struct {
	campaign        testCampaign
	out             io.Writer
	start           time.Time
	lastShown       time.Time
	resultCountSums []int
	isProgressShown bool
}

func (p *progressPrinter) addResultCounts(resultCounts []int) {
	for i, v := range resultCounts {
		p.resultCountSums[i] += v
	}
	if p.isProgressShown && time.Since(p.lastShown) > time.Second {
		p.lastShown = time.Now()
		fmt.Fprintf(p.out, "\r%s\x1b[K", p.statusLine())
	}
}

func (p *progressPrinter) statusLine() string {
	s := p.campaign.name + ":"
	for i, name := range p.campaign.resultCountNames {
		s += fmt.Sprintf(" %d %s,", p.resultCountSums[i], name)
	}
	took := time.Since(p.start)
	return s + fmt.Sprintf(" %.0f %s/s", float64(p.resultCountSums[0])/took.Seconds(), p.campaign.resultCountNames[0])
}

func (p *progressPrinter) finishProgress(stdout io.Writer, violationCount int) {
	if p.isProgressShown {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
	fmt.Fprintf(
		stdout,
		"%s, %d violations, %s\n",
		p.statusLine(),
		violationCount,
		time.Since(p.start).Round(time.Second),
	)
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	fi, err := f.Stat()
	return err == nil && fi.Mode()&os.ModeCharDevice != 0
}
