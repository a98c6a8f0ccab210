// Package testenv tells tests which programs must be installed, such as git or node, and how
// often a long test repeats its check. It is only for tests.
package testenv

import (
	"cmp"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// requiredProgramsVar is the environment variable with the names of required programs, separated by commas, or "all".
// If a required program is missing, tests fail. If a program is missing that is not required, tests are skipped. So
// the environment determines which tests are run, not the programs that happen to be installed.
const requiredProgramsVar = "OXBOW_REQUIRE"

// longTestsVar is the environment variable that determines how often tests repeat a step. With 0, the default, a test
// uses its small number of repetitions. With 1, it uses its large number. Values between 0 and 1 mean numbers between
// these two.
const longTestsVar = "OXBOW_LONG"

// RepeatCount returns how often a test repeats a step. The environment variable OXBOW_LONG contains a number from 0
// (the default) to 1. For 0, the result is the argument defaultCount. For 1, the result is the argument fullCount. For
// a number in between, the result is in between.
func RepeatCount(defaultCount, fullCount int) int {
	share, err := strconv.ParseFloat(cmp.Or(os.Getenv(longTestsVar), "0"), 64)
	if err != nil || !(share >= 0 && share <= 1) {
		panic(longTestsVar + " is no number from 0 to 1")
	}
	return defaultCount + int(share*float64(fullCount-defaultCount))
}

// SkipUnlessLong skips a slow test that rarely finds an error, unless longTestsVar is above 0.
func SkipUnlessLong(t testing.TB) {
	t.Helper()
	if !IsLongTestRun() {
		t.Skip("set " + longTestsVar + "=1 to run it")
	}
}

// IsLongTestRun reports whether slow tests are to run. This is the case if the environment variable OXBOW_LONG is above
// 0, as in .ci/run.
func IsLongTestRun() bool { return RepeatCount(0, 1<<20) > 0 }

// SkipInShortMode skips the test t if the tests run in short mode (go test -short). The tests also run in short mode
// when they run with the race detector. Only tests with a single goroutine call SkipInShortMode, because the race
// detector would find nothing in such a test and would only make it slower.
func SkipInShortMode(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("one goroutine repeats this: run it without -short")
	}
}

// RequireProgram returns the path of a program. If the program is missing, RequireProgram skips the test, or fails the
// test if an environment variable says that the program is required. The hint says how to install the program, such as
// "apt install strace".
func RequireProgram(t testing.TB, name, hint string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if isRequired(os.Getenv(requiredProgramsVar), name) {
		t.Fatalf("%s requires %s: %v; %s", requiredProgramsVar, name, err, hint)
	}
	t.Skipf("needs %s: %v; %s, and set %s=%s to make its absence a failure", name, err, hint, requiredProgramsVar, name)
	return ""
}

// isRequired reports whether a list of programs, separated by commas, contains the program name or the word "all".
func isRequired(programList, name string) bool {
	for n := range strings.SplitSeq(programList, ",") {
		n = strings.TrimSpace(n)
		if n == name || n == "all" {
			return true
		}
	}
	return false
}
