//go:build unix

// This file runs a short form of the campaign of this package. The campaign is a long randomized test in which real
// processes write and read the same home, while the test kills and pauses them.

package procs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/test/testenv"
)

// childEnv is an environment variable. If it is set, the test program runs as a child that uses the library.
const childEnv = "OXBOW_TORTURE_CHILD"

// secondsEnv is an environment variable that specifies the duration of the test in seconds. If it is not set, the test
// takes 8 seconds. programEnv is an environment variable that contains the path of the program to test. If it is not
// set, the test builds the program.
const (
	secondsEnv = "OXBOW_TORTURE_SECONDS"
	programEnv = "OXBOW_TORTURE_PROGRAM"
)

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		if err := RunChild(context.Background(), os.Args[1:], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// options returns the options of a run whose child processes are this test program.
func options(t *testing.T) Options {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(childEnv, "1")
	return Options{Dir: filepath.Join(t.TempDir(), "home"), ChildCommand: []string{self}}
}

// progress is a writer that writes to the log of the test.
type progress struct{ t *testing.T }

func (p progress) Write(b []byte) (int, error) {
	p.t.Logf("%s", strings.TrimSpace(string(b)))
	return len(b), nil
}

func TestProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 8 seconds")
	}
	o := options(t)
	o.Program = os.Getenv(programEnv)
	if o.Program == "" {
		testenv.RequireProgram(t, "go", "install Go")
		var err error
		o.Program, err = BuildOxbow(t.Context(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
	}
	o.Duration = 8 * time.Second
	if s := os.Getenv(secondsEnv); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("reading %s: %v", secondsEnv, err)
		}
		o.Duration = time.Duration(n) * time.Second
		o.Seed = uint64(time.Now().UnixNano())
	}
	rep, err := Run(t.Context(), o, progress{t})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("seed %d: %v", o.Seed, rep)
	for _, v := range rep.Violations {
		t.Error(v)
	}
	// If nothing happens in a run, the run proves nothing.
	if rep.AcknowledgedChanges < 200 || rep.Kills < 10 || rep.Pauses < 5 || rep.Reads < 100 || rep.Compactions < 1 ||
		rep.RepeatedChanges < 5 ||
		rep.Changes < rep.AcknowledgedChanges {
		t.Errorf("the run was too quiet: %v", rep)
	}
}

// TestLockFileMayBeRead tests that the real lock works while processes read the lock file. A lock with fcntl would fail
// then, because it is released if the process closes the lock file after reading it.
func TestLockFileMayBeRead(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 2 seconds")
	}
	o := options(t)
	o.FaultNames = faultReadsLockFile
	o.Writers = 3
	o.Readers = 1
	o.Duration = 2 * time.Second
	rep, err := Run(t.Context(), o, progress{t})
	if err != nil {
		t.Fatal(err)
	}
	if len(rep.Violations) > 0 || rep.AcknowledgedChanges < 50 {
		t.Errorf("with the lock file being read all the time: %v", rep)
	}
}

func TestUnknownFault(t *testing.T) {
	err := RunChild(t.Context(), []string{"--home", t.TempDir(), "--fault", "ghosts"}, strings.NewReader(""), os.Stdout)
	if err == nil || !strings.Contains(err.Error(), `"ghosts"`) {
		t.Errorf("Child with an unknown fault = %v, want an error that names it", err)
	}
	if slices.Contains(LockAndFileFaults(), faultReadsLockFile) {
		t.Errorf("Faults() = %v, and %q is none", LockAndFileFaults(), faultReadsLockFile)
	}
}
