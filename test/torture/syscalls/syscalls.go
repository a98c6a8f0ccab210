//go:build linux

// The run of the campaign: which calls there are, and what is done at each.

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

// Options of a run.
type Options struct {
	Dir    string        // where the stores are made, and removed again
	Strace string        // path of strace
	Child  []string      // command line that runs [Child], without the home, which follows
	Budget time.Duration // after which no other point is tried; 0: no limit
	Limit  int           // points tried at most; 0: no limit
	Seed   uint64        // of the order in which points are tried
}

// Report says what a run did and found.
type Report struct {
	Points     int // that there are
	Tried      int
	Killed     int // times that the process was killed
	Failed     int // times that a call was made to fail
	Missed     int // points that the process did not come by again
	Refused    int // steps refused after a call failed
	Unknown    int // steps of unknown outcome
	Took       time.Duration
	Violations []string // each with the point
}

// String returns the report in one line, and one for each violation.
func (r Report) String() string {
	s := fmt.Sprintf("%v: %d of %d points tried: killed %d times, %d calls failed, %d points missed; %d steps refused, %d of unknown outcome; %d violations",
		r.Took.Round(100*time.Millisecond), r.Tried, r.Points, r.Killed, r.Failed, r.Missed, r.Refused, r.Unknown, len(r.Violations))
	for _, v := range r.Violations {
		s += "\n  " + v
	}
	return s
}

// The calls at which the process is killed, and those that are made to fail.
// Those that a machine does not have, strace is asked to pass over.
var (
	killed = []string{"openat", "pwrite64", "write", "fsync", "fdatasync", "sync_file_range", "ftruncate", "renameat", "renameat2", "unlinkat", "flock", "mkdirat", "close"}
	failed = []string{"pwrite64", "fsync", "fdatasync", "sync_file_range", "ftruncate", "renameat", "renameat2", "unlinkat", "mkdirat"}
	errnos = []string{"EIO", "ENOSPC"}
)

// Point is one place where something is done to the process.
type Point struct {
	Call  string // system call
	N     int    // the how manyth of this call, from 1
	Errno string // with which it fails; "" kills the process instead
	On    bool   // all later calls fail too
}

// String returns the point as strace's option inject has it.
func (p Point) String() string {
	if p.Errno == "" {
		return fmt.Sprintf("%s:signal=KILL:when=%d", p.Call, p.N)
	}
	on := ""
	if p.On {
		on = "+"
	}
	return fmt.Sprintf("%s:error=%s:when=%d%s", p.Call, p.Errno, p.N, on)
}

// Run tries all points, or as many as Budget and Limit allow. It writes progress to
// w. An error means that the campaign could not be run.
func Run(ctx context.Context, o Options, w io.Writer) (rep Report, err error) {
	start := time.Now()
	defer func() { rep.Took = time.Since(start) }()
	points, err := o.points(ctx)
	if err != nil {
		return rep, err
	}
	rep.Points = len(points)
	rnd := rand.New(rand.NewPCG(o.Seed, 0))
	rnd.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
	told := start
	for i, p := range points {
		if (o.Limit > 0 && i == o.Limit) || (o.Budget > 0 && time.Since(start) > o.Budget) {
			break
		}
		if err := o.try(ctx, p, &rep); err != nil {
			return rep, fmt.Errorf("trying %v: %w", p, err)
		}
		rep.Tried++
		if time.Since(told) > 10*time.Second {
			told = time.Now()
			rep.Took = told.Sub(start)
			fmt.Fprintln(w, rep)
		}
	}
	return rep, nil
}

var traced = regexp.MustCompile(`(?m)^(\d+) +([a-z0-9_]+)\(`)

// points runs the session once, undisturbed, and returns a point for each call
// that its thread made.
func (o Options) points(ctx context.Context) ([]Point, error) {
	home, err := os.MkdirTemp(o.Dir, "count")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(home)
	said, trace, err := o.strace(ctx, home, killed, "")
	if err != nil {
		return nil, fmt.Errorf("running the session: %w", err)
	}
	if lines := strings.Count(said, saidDone+" \n"); lines != len(session()) {
		return nil, fmt.Errorf("running the session: %d of its %d steps were done: %s", lines, len(session()), said)
	}
	threads := map[string]map[string]int{}
	var counts map[string]int // of the thread that the session is bound to: it made most
	for _, m := range traced.FindAllStringSubmatch(trace, -1) {
		if threads[m[1]] == nil {
			threads[m[1]] = map[string]int{}
		}
		threads[m[1]][m[2]]++
	}
	for _, c := range threads {
		if counts == nil || sum(c) > sum(counts) {
			counts = c
		}
	}
	var points []Point
	for _, call := range killed {
		for n := range counts[call] {
			points = append(points, Point{Call: call, N: n + 1})
		}
	}
	for _, call := range failed {
		for n := range counts[call] {
			for _, e := range errnos {
				points = append(points, Point{Call: call, N: n + 1, Errno: e}, Point{Call: call, N: n + 1, Errno: e, On: true})
			}
		}
	}
	return points, nil
}

func sum(counts map[string]int) int {
	n := 0
	for _, c := range counts {
		n += c
	}
	return n
}

// strace runs the session under strace and returns what the child said and what
// strace saw. The error of a child that was killed or failed is left out.
func (o Options) strace(ctx context.Context, home string, calls []string, inject string) (said, trace string, err error) {
	file := filepath.Join(home, "trace")
	// The question mark: do not mind a call that this machine does not have.
	args := []string{"-f", "-qq", "-o", file, "-e", "trace=?" + strings.Join(calls, ",?")}
	if inject != "" {
		args = append(args, "-e", "inject=?"+inject)
	}
	args = append(append(append(args, "--"), o.Child...), filepath.Join(home, "home"))
	cmd := exec.CommandContext(ctx, o.Strace, args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (ctx.Err() != nil || !errors.As(err, &exit)) {
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

// try runs the session with something done to it at that point.
func (o Options) try(ctx context.Context, p Point, rep *Report) error {
	home, err := os.MkdirTemp(o.Dir, "try")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	said, trace, err := o.strace(ctx, home, []string{p.Call}, p.String())
	if err != nil {
		return err
	}
	switch {
	case p.Errno == "" && strings.Contains(trace, "killed by SIGKILL"):
		rep.Killed++
	case p.Errno != "" && strings.Contains(trace, "(INJECTED)"):
		rep.Failed++
	default:
		rep.Missed++
	}
	if err := judge(ctx, filepath.Join(home, "home"), said, p, rep); err != nil {
		rep.Violations = append(rep.Violations, fmt.Sprintf("%v: %v", p, err))
	}
	return nil
}
