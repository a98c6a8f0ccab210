// Tests of the command line.

package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestCommand(t *testing.T) {
	for _, tt := range []struct {
		args   string
		status int
		stdout string
		stderr string
	}{
		{"", 2, "", "usage: torture CAMPAIGN"},
		{"nothing", 2, "", `no campaign "nothing"`},
		{"crash --nothing", 2, "", "flag provided but not defined"},
		{"crash --seed 2 --count 1 --workers 1", 0, " 1 scripts, ", ""},
		{"linear --seed 2 --count 2", 0, "linear: 2 histories, ", ""},
	} {
		var stdout, stderr bytes.Buffer
		status := run(strings.Fields(tt.args), &stdout, &stderr)
		if status != tt.status || !strings.Contains(stdout.String(), tt.stdout) ||
			!strings.Contains(stderr.String(), tt.stderr) {
			t.Errorf("torture %s: status %d\nstdout %s\nstderr %s\nwant %d, %q and %q",
				tt.args, status, stdout.String(), stderr.String(), tt.status, tt.stdout, tt.stderr)
		}
	}
}

var errBroken = errors.New("it broke")

// TestViolationIsPrinted tests that a violation is printed with the command that repeats it.
func TestViolationIsPrinted(t *testing.T) {
	c := testCampaign{"broken", []string{"tries"}, func(seed uint64, f campaignFlags) ([]int, error) {
		if seed == 3 {
			return []int{1}, errBroken
		}
		return []int{1}, nil
	}}
	var stdout, stderr bytes.Buffer
	status := c.runSeeds([]string{"--count", "4", "--procs", "1"}, &stdout, &stderr)
	for _, want := range []string{
		"VIOLATION: it broke",
		"cd test/torture && go run . broken --seed 3 --count 1 --procs 1",
		"4 tries",
		"1 violations",
	} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("stdout lacks %q: %s", want, stdout.String())
		}
	}
	if status != 1 {
		t.Errorf("status = %d, want 1", status)
	}
}
