//go:build linux

// This file runs a short form of the campaign of this package. The campaign kills a process at each of its system
// calls, and makes each system call fail. This file also tests that an error is reported for a store that lost an
// entry.

package syscalls

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/test/testenv"
)

// childEnv is an environment variable. If it is set, the test program runs as the child process, which executes a short
// session on a store.
const childEnv = "OXBOW_TORTURE_SESSION"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		if err := RunChild(context.Background(), os.Args[1], os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func TestSystemCalls(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 10 seconds")
	}
	strace := testenv.RequireProgram(t, "strace", "apt install strace")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(childEnv, "1")
	o := Options{Dir: t.TempDir(), Strace: strace, ChildCommand: []string{self}, MaxFailedCalls: 60, Seed: 1}
	if s := os.Getenv("OXBOW_TORTURE_SECONDS"); s != "" {
		o.MaxFailedCalls = 0
		o.Budget, err = time.ParseDuration(s + "s")
		if err != nil {
			t.Fatal(err)
		}
		o.Seed = uint64(time.Now().UnixNano())
	}
	points, err := o.findFailurePoints(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	begins := func(p FailurePoint) bool { return p.Call == "sync_file_range" && p.Errno != "" }
	if runtime.GOARCH == "amd64" && !slices.ContainsFunc(points, begins) {
		t.Error("no write begins its sync")
	}
	rep, err := Run(t.Context(), o, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("seed %d: %v", o.Seed, rep)
	for _, v := range rep.Violations {
		t.Error(v)
	}
	if rep.FailurePointCount < 100 || rep.KilledRuns < 10 || rep.FailedCalls < 10 ||
		rep.UnreachedFailurePoints > rep.TriedFailurePoints/10 {
		t.Errorf("the run was too quiet: %v", rep)
	}
}

// TestJudge tests that checkStoreAfterFault returns an error if a child process reports more or fewer steps than it has
// done.
func TestJudge(t *testing.T) {
	var said strings.Builder
	home := t.TempDir()
	if err := RunChild(t.Context(), home, &said); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(said.String(), "\n"), "\n")
	if len(lines) != len(sessionSteps()) {
		t.Fatalf("the child said %q, want %d lines", lines, len(sessionSteps()))
	}
	// copied checks a copy of the store, because the check changes the store.
	copied := func(home, said string, p FailurePoint) error {
		b, err := os.ReadFile(filepath.Join(home, storeFile))
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, storeFile), b, 0o600); err != nil {
			t.Fatal(err)
		}
		return checkStoreAfterFault(t.Context(), dir, said, p, &Report{})
	}
	kill, fail := FailurePoint{Call: "write", CallNumber: 1}, FailurePoint{Call: "write", CallNumber: 1, Errno: "EIO"}
	all := strings.Join(lines, "") // without the last line break
	last := len(lines) - 2         // index of the step that forgets d
	for _, c := range []struct {
		what string
		said string
		p    FailurePoint
		ok   bool
	}{
		{"all was done", all, kill, true},
		{"the last change was under way", strings.Join(lines[:last], ""), kill, true},
		{"the line of the last change was cut", strings.Join(lines[:last], "") + "do", kill, true},
		{"two changes too many", strings.Join(lines[:last-1], ""), kill, false},
		{"a refused change is there", strings.Join(lines[:last], "") + "refused x\ndone \n", fail, false},
		{"an unknown change is there", strings.Join(lines[:last], "") + "unknown x\ndone \n", fail, true},
		{"a step was refused though nothing failed", strings.Join(lines[:last], "") +
			"refused x\ndone \n", kill, false},
		{"nonsense", all + "\nperhaps\n", kill, false},
	} {
		if err := copied(home, c.said, c.p); (err == nil) != c.ok {
			t.Errorf("%s: judge = %v, want ok %v", c.what, err, c.ok)
		}
	}

	// An acknowledged change is missing.
	m, err := oxbow.Open(filepath.Join(home, storeFile), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Forget(t.Context(), "g"); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if err := copied(home, all, kill); err == nil {
		t.Error("judge of a store that lost an entry = nil, want an error")
	}
}
