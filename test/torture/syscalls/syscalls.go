//go:build linux

// This file runs the torture test that makes system calls fail. It finds all system calls in a session, and repeats the
// session with a failure of each call.

package syscalls

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Options configure a run.
type Options struct {
	Dir    string // directory in which stores are created and removed
	Strace string // path of strace
	// command line of the child process, which must call the function [ChildCommand]; the path of the home is appended
	ChildCommand []string
	Budget       time.Duration // time after which no further system call is made to fail (0 for no limit)
	// maximum number of system calls that are made to fail, one each time the child runs (0 for no limit)
	MaxFailedCalls int
	Seed           uint64 // seed for the random order in which the system calls are made to fail
}

// Report is the result of a torture test that makes system calls fail.
type Report struct {
	FailurePointCount       int // number of system calls that can be made to fail
	TriedFailurePoints      int
	KilledRuns              int // number of runs in which the child process was killed
	FailedCalls             int // number of times that a system call failed
	UnreachedFailurePoints  int // number of runs in which the child process did not reach the system call that was to fail
	RefusedSteps            int // number of steps of the child that failed and changed nothing
	StepsWithUnknownOutcome int // number of steps for which the child could not tell whether they were done
	Duration                time.Duration
	Violations              []string // violated guarantees, each with the system call that failed
}

// String returns the report in one line, followed by one line for each violation.
func (r Report) String() string {
	s := fmt.Sprintf(
		"%v: %d of %d points tried: killed %d times, %d calls failed, %d points missed; %d steps refused, %d of "+
			"unknown outcome; %d violations",
		r.Duration.Round(
			100*time.Millisecond,
		),
		r.TriedFailurePoints,
		r.FailurePointCount,
		r.KilledRuns,
		r.FailedCalls,
		r.UnreachedFailurePoints,
		r.RefusedSteps,
		r.StepsWithUnknownOutcome,
		len(r.Violations),
	)
	for _, v := range r.Violations {
		s += "\n  " + v
	}
	return s
}

// These are the system calls at which the process is killed, and the system calls that are made to fail. strace
// ignores the calls that the machine does not have.
var (
	callsToKillAt = []string{"openat", "pwrite64", "write", "fsync", "fdatasync", "sync_file_range", "ftruncate",
		"renameat", "renameat2", "unlinkat", "flock", "mkdirat", "close"}
	callsToFail = []string{"pwrite64", "fsync", "fdatasync", "sync_file_range", "ftruncate", "renameat", "renameat2",
		"unlinkat", "mkdirat"}
	errorNames = []string{"EIO", "ENOSPC"}
)

// FailurePoint is a system call at which strace kills the process, or which strace makes fail.
type FailurePoint struct {
	Call            string // name of the system call
	CallNumber      int    // number of the call among the calls with the same name, starting at 1
	Errno           string // error with which the call fails ("" if the process is killed instead)
	FailsLaterCalls bool   // all later calls of the same system call fail as well
}

// isProcessKilled reports whether the process is killed at the system call. Otherwise, the system call fails.
func (p FailurePoint) isProcessKilled() bool { return p.Errno == "" }

// String returns p in the form of strace's option "inject". With this value, strace kills the process at the system
// call, or makes the system call fail. A "+" at the end means that all later calls of the same system call fail too.
func (p FailurePoint) String() string {
	if p.isProcessKilled() {
		return fmt.Sprintf("%s:signal=KILL:when=%d", p.Call, p.CallNumber)
	}
	on := ""
	if p.FailsLaterCalls {
		on = "+"
	}
	return fmt.Sprintf("%s:error=%s:when=%d%s", p.Call, p.Errno, p.CallNumber, on)
}

// Run runs the child process many times. In each run, a different system call fails, or the process is killed at this
// system call. Run tries all system calls, unless the duration o.Budget or the number o.MaxFailedCalls is reached
// before. During the runs, it writes its progress to w. rep contains the results of the tests. A non-nil err means that
// the tests could not be run.
func Run(ctx context.Context, o Options, w io.Writer) (rep Report, err error) {
	start := time.Now()
	defer func() { rep.Duration = time.Since(start) }()
	points, err := o.findFailurePoints(ctx)
	if err != nil {
		return rep, err
	}
	rep.FailurePointCount = len(points)
	rnd := rand.New(rand.NewPCG(o.Seed, 0))
	rnd.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
	told := start
	for i, p := range points {
		isEnough := o.MaxFailedCalls > 0 && i == o.MaxFailedCalls
		isTimeUp := o.Budget > 0 && time.Since(start) > o.Budget
		if isEnough || isTimeUp {
			break
		}
		if err := o.tryFailurePoint(ctx, p, &rep); err != nil {
			return rep, fmt.Errorf("trying %v: %w", p, err)
		}
		rep.TriedFailurePoints++
		if time.Since(told) > 10*time.Second {
			told = time.Now()
			rep.Duration = told.Sub(start)
			fmt.Fprintln(w, rep)
		}
	}
	return rep, nil
}

var straceLinePattern = regexp.MustCompile(`(?m)^(\d+) +([a-z0-9_]+)\(`)

// findFailurePoints runs the child process once without any failure. It returns the system calls of the thread that
// uses the store. Each call may occur several times in the result, for the different ways in which it can fail.
func (o Options) findFailurePoints(ctx context.Context) ([]FailurePoint, error) {
	home, err := os.MkdirTemp(o.Dir, "count")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(home)
	said, trace, err := o.runStrace(ctx, home, callsToKillAt, "")
	if err != nil {
		return nil, fmt.Errorf("running the session: %w", err)
	}
	if lines := strings.Count(said, stepOutcomeDone+" \n"); lines != len(sessionSteps()) {
		return nil, fmt.Errorf(
			"running the session: %d of its %d steps were done: %s",
			lines,
			len(sessionSteps()),
			said,
		)
	}
	threads := map[string]map[string]int{}
	// number of calls of each system call in the thread that uses the store, which is the thread with the most calls
	var counts map[string]int
	for _, m := range straceLinePattern.FindAllStringSubmatch(trace, -1) {
		if threads[m[1]] == nil {
			threads[m[1]] = map[string]int{}
		}
		threads[m[1]][m[2]]++
	}
	for _, c := range threads {
		if counts == nil || sumCallCounts(c) > sumCallCounts(counts) {
			counts = c
		}
	}
	var points []FailurePoint
	for _, call := range callsToKillAt {
		for n := range counts[call] {
			points = append(points, FailurePoint{Call: call, CallNumber: n + 1})
		}
	}
	for _, call := range callsToFail {
		for n := range counts[call] {
			for _, e := range errorNames {
				points = append(
					points,
					FailurePoint{Call: call, CallNumber: n + 1, Errno: e},
					FailurePoint{Call: call, CallNumber: n + 1, Errno: e, FailsLaterCalls: true},
				)
			}
		}
	}
	return points, nil
}

func sumCallCounts(counts map[string]int) int {
	n := 0
	for _, c := range counts {
		n += c
	}
	return n
}

// runStrace runs the test session in a child process under the program strace, which records the system calls with the
// names in calls. If inject is not "", it is an expression for strace's option "-e inject": it makes a system call
// fail, or kills the child process at the call. runStrace returns the output of the child process and the recorded
// trace.
//
// An error means that strace could not run or that the trace cannot be read. If inject is "", a failed child process is
// an error too. Otherwise it is not an error, because the injected failure may have ended the process.
func (o Options) runStrace(
	ctx context.Context,
	home string,
	calls []string,
	inject string,
) (childOutput, trace string, err error) {
	file := filepath.Join(home, "trace")
	// Because of the question mark, strace ignores calls that this machine does not have.
	args := []string{"-f", "-qq", "-o", file, "-e", "trace=?" + strings.Join(calls, ",?")}
	if inject != "" {
		args = append(args, "-e", "inject=?"+inject)
	}
	args = append(append(append(args, "--"), o.ChildCommand...), filepath.Join(home, "home"))
	cmd := exec.CommandContext(ctx, o.Strace, args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	hasRun := ctx.Err() == nil && (err == nil || errors.As(err, &exit))
	if err != nil && !hasRun {
		return "", "", errors.Join(ctx.Err(), err)
	}
	b, rerr := os.ReadFile(file)
	if rerr != nil {
		return "", "", fmt.Errorf("%w: %v: %s", rerr, err, stderr.String())
	}
	if inject == "" && err != nil {
		return "", "", fmt.Errorf("%w: %s", err, stderr.String())
	}
	return string(out), string(b), nil
}

// tryFailurePoint runs the session in a new home. At the system call of the point p, strace kills the process or makes
// the call fail. Afterwards tryFailurePoint checks the store, and counts in report what happened. A damaged store is a
// violation in report, and not an error.
func (o Options) tryFailurePoint(ctx context.Context, p FailurePoint, report *Report) error {
	home, err := os.MkdirTemp(o.Dir, "try")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	childOutput, trace, err := o.runStrace(ctx, home, []string{p.Call}, p.String())
	if err != nil {
		return err
	}
	// The child may not have reached the system call that was to fail, because the order of its system calls can vary.
	wasKilled := strings.Contains(trace, "killed by SIGKILL")
	hasFailedCall := strings.Contains(trace, "(INJECTED)")
	switch {
	case p.isProcessKilled() && wasKilled:
		report.KilledRuns++
	case !p.isProcessKilled() && hasFailedCall:
		report.FailedCalls++
	default:
		report.UnreachedFailurePoints++
	}
	if err := checkStoreAfterFault(ctx, filepath.Join(home, "home"), childOutput, p, report); err != nil {
		report.Violations = append(report.Violations, fmt.Sprintf("%v: %v", p, err))
	}
	return nil
}
