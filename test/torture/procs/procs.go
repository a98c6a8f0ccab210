//go:build unix

// This file runs the campaign. It starts the processes, ends the run, and returns a report.

package procs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/test/torture/mutants"
)

// Options configure a run. If a field is zero, its default is used if there is one.
type Options struct {
	// Dir is the home. It must be empty or not exist. It is not removed after the run.
	Dir string

	// Program is the path of the program to test (see [BuildOxbow]).
	Program string

	// ChildCommand is the command line of a child process that runs the function [ChildCommand]. It does not include
	// the arguments of that function.
	ChildCommand []string

	Duration       time.Duration // how long the writing processes are asked to make changes (default 8 s)
	Writers        int           // number of processes that write (default 8)
	Readers        int           // number of processes that read (default 3)
	CallsPerWriter int           // number of concurrent calls to each process that writes (default 2)
	DisturbEvery   time.Duration // mean time between two kills or pauses of a process (default 60 ms)
	CompactEvery   time.Duration // time between two compactions (default 0.5 s)
	Seed           uint64        // seed of the random numbers (0 means 1)

	// FaultNames is one of [LockAndFileFaults], with which the file system of the processes is broken
	// deliberately. All processes are then children that use the library, because the program itself cannot be given a
	// broken file system.
	FaultNames string

	// MutantCommand is the command line for a deliberately broken build of the program that runs [ChildCommand]. If
	// MutantCommand is not nil, the writing and reading processes run this build.
	MutantCommand []string
}

func (o Options) orDefault() Options {
	def := func(n *int, d int) {
		if *n == 0 {
			*n = d
		}
	}
	span := func(n *time.Duration, d time.Duration) {
		if *n == 0 {
			*n = d
		}
	}
	def(&o.Writers, 8)
	def(&o.Readers, 3)
	def(&o.CallsPerWriter, 2)
	span(&o.Duration, 8*time.Second)
	span(&o.DisturbEvery, 60*time.Millisecond)
	span(&o.CompactEvery, 500*time.Millisecond)
	if o.Seed == 0 {
		o.Seed = 1
	}
	return o
}

// Report is the result of one test with several processes.
type Report struct {
	AcknowledgedChanges          int // acknowledged changes
	ConflictRefusals             int // changes that oxbow refused because another process had changed the entry first
	RepeatedChanges              int // acknowledged changes that were requested again
	Retries                      int // number of calls that were repeated because the process had died or the lock was busy
	Kills                        int
	Pauses                       int
	Reads                        int
	Compactions                  int
	Changes                      int           // changes read from the log
	ChangeTimeP50, ChangeTimeP99 time.Duration // latency of a change
	Duration                     time.Duration
	Violations                   []string // violated guarantees; each text begins with the kind, such as "lost"
	UnlistedViolations           int      // number of violated guarantees that are not in Violations
}

// String returns the report in one line, followed by one line for each violation.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(
		&b,
		"%v: %d changes acknowledged, %d conflicts, %d repeats, %d retries, %d kills, %d stops, %d reads, %d "+
			"compactions; a change took %v (p50), %v (p99); %d violations",
		r.Duration.Round(
			100*time.Millisecond,
		),
		r.AcknowledgedChanges,
		r.ConflictRefusals,
		r.RepeatedChanges,
		r.Retries,
		r.Kills,
		r.Pauses,
		r.Reads,
		r.Compactions,
		r.ChangeTimeP50.Round(10*time.Microsecond),
		r.ChangeTimeP99.Round(10*time.Microsecond),
		len(r.Violations)+r.UnlistedViolations,
	)
	for _, v := range r.Violations {
		b.WriteString("\n  " + v)
	}
	return b.String()
}

// maxViolations is the maximum number of violated guarantees in a report. A run ends at the first, but the processes
// may violate others before they have ended.
const maxViolations = 20

// processCampaign is the state of a campaign run, in which several processes use one store.
type processCampaign struct {
	opts            Options
	ledger          *changeLedger
	changeDurations randomDurationSample
	stop            chan struct{} // closed when no more changes are to be asked for

	retries, repeatedChanges, conflicts, kills, pauses, reads, compactions atomic.Int64

	mu              sync.Mutex // guards the following fields
	violationReport Report     // contains the violations that were found so far; other fields are not set
	isStopped       bool
}

// isOver reports whether the run has been stopped, so that no more changes should be requested.
func (r *processCampaign) isOver() bool {
	select {
	case <-r.stop:
		return true
	default:
		return false
	}
}

func (r *processCampaign) stopRequestingChanges() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.isStopped {
		r.isStopped = true
		close(r.stop)
	}
}

// reportViolation reports a violation, which ends the run.
func (r *processCampaign) reportViolation(format string, args ...any) {
	r.mu.Lock()
	if len(r.violationReport.Violations) < maxViolations {
		r.violationReport.Violations = append(r.violationReport.Violations, fmt.Sprintf(format, args...))
	} else {
		r.violationReport.UnlistedViolations++
	}
	r.mu.Unlock()
	r.stopRequestingChanges()
}

// reportErrors reports each of the errors that are joined in err as a violation. If ctx is done, it reports nothing,
// because the errors may follow from the end of the test.
func (r *processCampaign) reportErrors(ctx context.Context, err error) {
	if err == nil || ctx.Err() != nil {
		return
	}
	for line := range strings.Lines(err.Error()) {
		r.reportViolation("%s", strings.TrimSuffix(line, "\n"))
	}
}

func (r *processCampaign) hasViolation() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.violationReport.Violations) > 0
}

// BuildOxbow compiles the tested program into dir and returns its path. It needs the go command
// and the module's source.
func BuildOxbow(ctx context.Context, dir string) (string, error) {
	path := filepath.Join(dir, "oxbow")
	root, err := mutants.LibraryDir()
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path, "./cmd/oxbow")
	cmd.Dir = root // build in the module's root, whose go.mod file contains the modules that the program needs
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building oxbow: %w: %s", err, out)
	}
	return path, nil
}

// Run runs the test with several processes and writes progress lines to w. An error means that the test could not run.
// Violated guarantees are listed in the report. If ctx ends, the test ends early, and calls that are still running are
// not judged.
func Run(ctx context.Context, o Options, w io.Writer) (Report, error) {
	r := &processCampaign{opts: o.orDefault(), ledger: newChangeLedger(), stop: make(chan struct{})}
	seed := func(n uint64) *rand.Rand { return rand.New(rand.NewPCG(r.opts.Seed, n)) }
	r.changeDurations.rand = seed(1)
	if err := r.createHome(ctx); err != nil {
		return Report{}, err
	}
	start := time.Now()
	writers, readers, compactor := r.newProcesses()
	all := append(append([]*processRole{compactor}, writers...), readers...)
	defer func() {
		for _, p := range all {
			p.killQuietly()
		}
	}()
	for i, p := range all {
		if err := startProc(ctx, p); err != nil {
			all = all[:i]
			return Report{}, err
		}
	}
	auditor, err := newAuditor(r)
	if err != nil {
		return Report{}, err
	}
	defer func() { _ = auditor.memory.Close() }()

	// As soon as a guarantee is violated, also end calls that wait for a process. A broken store may never answer.
	callCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	var acts sync.WaitGroup
	acts.Go(func() { auditor.auditUntilEnd(callCtx, seed(3), compactor) })
	acts.Go(func() { r.disturbProcesses(callCtx, seed(2), all, r.opts.DisturbEvery) })
	for i, p := range writers {
		for n := range r.opts.CallsPerWriter {
			l := &writingGoroutine{
				run:             r,
				goroutineNumber: i*r.opts.CallsPerWriter + n,
				proc:            p,
				rand:            seed(uint64(1000 + i*r.opts.CallsPerWriter + n)),
			}
			acts.Go(func() { l.writeUntilCampaignEnds(callCtx) })
		}
	}
	for i, p := range readers {
		rd := &readingGoroutine{run: r, proc: p, rand: seed(uint64(100 + i)), highestVersionRead: map[string]uint64{}}
		acts.Go(func() { rd.readUntilEnd(callCtx) })
	}
	r.printProgress(ctx, w, start)
	if r.hasViolation() {
		cancel()
	}
	acts.Wait()
	if ctx.Err() == nil && !r.hasViolation() {
		for _, p := range all {
			r.reportErrors(ctx, p.stopProperly())
		}
		r.reportErrors(ctx, auditor.auditFinalState(ctx))
	}
	return r.makeReport(start, auditor), ctx.Err()
}

// printProgress writes progress until the time is up or the run is over. Then it calls r.stopRequestingChanges, so that
// the processes make no more changes.
func (r *processCampaign) printProgress(ctx context.Context, w io.Writer, start time.Time) {
	defer r.stopRequestingChanges()
	end := time.NewTimer(r.opts.Duration)
	defer end.Stop()
	tick := time.NewTicker(10 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			fmt.Fprintln(w, r.makeReport(start, nil))
		case <-end.C:
			return
		case <-r.stop:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (r *processCampaign) makeReport(start time.Time, a *logAuditor) Report {
	r.mu.Lock()
	rep := r.violationReport
	r.mu.Unlock()
	r.ledger.mu.Lock()
	rep.AcknowledgedChanges = r.ledger.acknowledgedChangeCount
	r.ledger.mu.Unlock()
	if a != nil {
		rep.Changes = a.foundChangeCount
	}
	rep.ConflictRefusals = int(r.conflicts.Load())
	rep.RepeatedChanges = int(r.repeatedChanges.Load())
	rep.Retries = int(r.retries.Load())
	rep.Kills, rep.Pauses = int(r.kills.Load()), int(r.pauses.Load())
	rep.Reads, rep.Compactions = int(r.reads.Load()), int(r.compactions.Load())
	rep.ChangeTimeP50, rep.ChangeTimeP99 = r.changeDurations.percentile(50), r.changeDurations.percentile(99)
	rep.Duration = time.Since(start)
	return rep
}

// createHome creates the home, and the entries that several goroutines change.
func (r *processCampaign) createHome(ctx context.Context) error {
	if es, err := os.ReadDir(r.opts.Dir); err == nil && len(es) > 0 {
		return fmt.Errorf("preparing the home: %s is not empty", r.opts.Dir)
	}
	m, err := oxbow.Open(filepath.Join(r.opts.Dir, storeFile), nil)
	if err != nil {
		return err
	}
	for i := range sharedEntryCount {
		name, tag := sharedEntryName(i), fmt.Sprintf("start%d", i)
		r.ledger.recordRequest(tag, name, verbRemember, true)
		e, err := m.Remember(ctx, oxbow.Entry{Name: name, Content: tag + " " + name})
		if err != nil {
			return errors.Join(err, m.Close())
		}
		r.ledger.recordAnswer(tag, requestAcknowledged, e.Version)
	}
	return m.Close()
}

// newProcesses returns the processes that use the store in this test. The writers change entries, the readers read
// entries, and the compactor compacts the store. The processes are not started yet.
func (r *processCampaign) newProcesses() (writers, readers []*processRole, compactor *processRole) {
	n := 0
	add := func(what string, k procKind, fault string) *processRole {
		n++
		p := &processRole{
			name:            fmt.Sprintf("%s %d (%v)", what, n, k),
			kind:            k,
			home:            r.opts.Dir,
			reportViolation: r.reportViolation,
		}
		switch k {
		case procKindStdio:
			p.argv = []string{r.opts.Program, "mcp", "--home", r.opts.Dir}
		case procKindHTTP:
			p.argv = []string{r.opts.Program, "mcp", "--home", r.opts.Dir, "--http", "127.0.0.1:0"}
		case procKindLibrary:
			child := r.opts.ChildCommand
			if r.opts.MutantCommand != nil && what != "compactor" {
				child = r.opts.MutantCommand
			}
			p.argv = append(append([]string{}, child...), "--home", r.opts.Dir)
			if fault != "" {
				p.argv = append(p.argv, "--fault", fault)
			}
		}
		return p
	}
	at := func(i int) procKind {
		if r.opts.FaultNames != "" || r.opts.MutantCommand != nil {
			return procKindLibrary
		}
		return procKind(i % int(procKindCount))
	}
	for i := range r.opts.Writers {
		writers = append(writers, add("writer", at(i), r.opts.FaultNames))
	}
	for i := range r.opts.Readers {
		readers = append(readers, add("reader", at(i+2), r.opts.FaultNames))
	}
	return writers, readers, add("compactor", procKindLibrary, "")
}
