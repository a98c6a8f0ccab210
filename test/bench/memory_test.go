// This file tests that the memory of a process is measured after each step.

package main

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

func TestMemory(t *testing.T) {
	dir, profiles := t.TempDir(), t.TempDir()
	out := runBench(
		t,
		"memory",
		"--dir",
		dir,
		"--text",
		textDir(t),
		"--n",
		"3,5",
		"--calls",
		"2",
		"--profiles",
		profiles,
	)
	for _, name := range []string{"open, no snapshot", "– get", "recall, no index", "recall, index file",
		"– as many entries imported", "recall, after"} {
		row := cells(t, out, name)
		if len(row) != 7 {
			t.Errorf("row of %s = %q, want two sizes with three figures each", name, row)
		}
	}
	if mb, err := strconv.ParseFloat(cells(t, out, "– as many entries imported")[1], 64); err != nil || mb <= 0 {
		t.Errorf("%v MB are live, %v", mb, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if ps, err := os.ReadDir(profiles); err != nil || len(ps) == 0 || !strings.HasSuffix(ps[0].Name(), ".pprof") {
		t.Errorf("profiles: %v, %v", ps, err)
	}
}
