// Package testenv says what the environment asks of tests: the programs that
// must be there, such as git or node, and how often to repeat. It is for tests
// only.
package testenv

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// env is the environment variable that names the programs which must be there:
// their names with commas between, or "all". Where it names a program that is
// missing, tests fail; elsewhere they are skipped. So a test run says by its
// environment, not by what happens to be installed, what it has tested.
const env = "OXBOW_REQUIRE"

// longEnv is the environment variable that, when it is not empty, switches on the
// full counts of tests that repeat something very often.
const longEnv = "OXBOW_LONG"

// Long returns full where longEnv is set, and everyday elsewhere.
func Long(everyday, full int) int {
	if os.Getenv(longEnv) != "" {
		return full
	}
	return everyday
}

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
		if n = strings.TrimSpace(n); n == name || n == "all" {
			return true
		}
	}
	return false
}
