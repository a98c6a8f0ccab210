// Package testenv says what the environment asks of tests: the programs that
// must be there, such as git or node, and how often to repeat. It is for tests
// only.
package testenv

import (
	"cmp"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// env is the environment variable that names the programs which must be there:
// their names with commas between, or "all". Where it names a program that is
// missing, tests fail; elsewhere they are skipped. So a test run says by its
// environment, not by what happens to be installed, what it has tested.
const env = "OXBOW_REQUIRE"

// longEnv is the environment variable that says how much tests that repeat something
// very often do: 1 for their full counts, 0.5 for half way to them, none for everyday's.
const longEnv = "OXBOW_LONG"

// Long returns a count between everyday and full, as longEnv has it.
func Long(everyday, full int) int {
	share, err := strconv.ParseFloat(cmp.Or(os.Getenv(longEnv), "0"), 64)
	if err != nil || !(share >= 0 && share <= 1) {
		panic(longEnv + " is no number from 0 to 1")
	}
	return everyday + int(share*float64(full-everyday))
}

// Rarely skips a test that takes long and finds little: it runs where longEnv is above 0.
func Rarely(t testing.TB) {
	t.Helper()
	if !IsLong() {
		t.Skip("set " + longEnv + "=1 to run it")
	}
}

// IsLong reports whether longEnv is above 0, as it is in .ci/run.
func IsLong() bool { return Long(0, 1<<20) > 0 }

// Sequential skips a test under -short, with which the race detector is run: what
// it repeats runs on one goroutine, and without -short.
func Sequential(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("one goroutine repeats this: run it without -short")
	}
}

// Program returns the path of the program of that name. Where there is none it
// ends the test: skipped, or failed when env requires the program. The hint
// says how to get it, such as "apt install strace".
func Program(t testing.TB, name, hint string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if required(os.Getenv(env), name) {
		t.Fatalf("%s requires %s: %v; %s", env, name, err, hint)
	}
	t.Skipf("needs %s: %v; %s, and set %s=%s to make its absence a failure", name, err, hint, env, name)
	return ""
}

// required reports whether the list names the program.
func required(list, name string) bool {
	for n := range strings.SplitSeq(list, ",") {
		n = strings.TrimSpace(n)
		if n == name || n == "all" {
			return true
		}
	}
	return false
}
