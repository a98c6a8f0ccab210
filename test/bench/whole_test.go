// This file tests that whole commands are run and timed.

package main

import (
	"os"
	"strings"
	"testing"
)

func TestWhole(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	dir := t.TempDir()
	out := runBench(t, "whole", "--dir", dir, "--text", textDir(t), "--n", "3,5", "--rounds", "1")
	for _, name := range []string{"get", "recall, no index", "import", "dump", "check"} {
		row := cells(t, out, name)
		if len(row) != 7 || strings.Contains(strings.Join(row[1:], ","), "0 ns") {
			t.Errorf("row of %s = %q, want two sizes with two times and a peak each", name, row)
		}
	}
	out = runBench(t, "whole", "--dir", dir, "--text", textDir(t), "--n", "3", "--rounds", "1", "--imported",
		"--bytes", "400", "--only", "^remember")
	if row := cells(t, out, "remember what an entry says"); len(row) != 4 || strings.Contains(out, "| list") {
		t.Errorf("with imported entries: %q", out)
	}
	out = runBench(
		t,
		"whole",
		"--dir",
		dir,
		"--text",
		textDir(t),
		"--n",
		"3",
		"--rounds",
		"1",
		"--only",
		"^(get|stats)$",
	)
	if row := cells(t, out, "get"); len(row) != 4 || strings.Contains(out, "| list") {
		t.Errorf("of chosen commands: %q", out)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
