// This file runs the speed measurements with small sizes. It tests the code that checks the measured values, but does
// not check the values themselves.

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/test/bench/ownindex"
)

// walks returns a text with many words.
func walks() string {
	var b strings.Builder
	for _, w := range strings.Fields("river lake meadow bridge ferry otter heron willow") {
		for _, v := range strings.Fields("quiet early distant muddy frozen narrow") {
			b.WriteString("Beside the " + v + " " + w + " somebody saw " + w + " and " + v +
				" stones, and wrote them down for the people of " + w + "ham.\n")
		}
	}
	return b.String()
}

// textDir creates a directory with a file that contains the text of walks. It returns the directory's path.
func textDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "walks.txt"), []byte(walks()), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestRecallCommand(t *testing.T) {
	out := runBench(t, "recall", "--text", textDir(t), "--n", "100", "--queries", "20", "--dir", t.TempDir())
	if !strings.Contains(out, "no more than these of the 100 asked for") {
		t.Errorf("output does not say that there were fewer entries:\n%s", out)
	}
	for _, name := range []string{"Open", "first Recall", "index", "Memory.Recall, the whole call", "bare search",
		"plain scan", "2 goroutines",
		"put one by one", "each put again", "all at once"} {
		if row := cells(t, out, name); row[1] == "" || strings.HasPrefix(row[1], "0 ") {
			t.Errorf("row %q = %v, want a figure", name, row)
		}
	}
	if got := cells(t, out, "Memory.Recall, the whole call")[5]; got == "0.0 %" {
		t.Error("no phrase was found by Recall")
	}
}

// TestBareCommand runs the command bare with this checkout as the earlier version (the option --before). The command
// builds the index of this checkout as if it were an earlier version, and both must find the same texts. The command
// must fail with an error that says why if an option is wrong.
func TestBareCommand(t *testing.T) {
	if _, ok := threadProcessorTime(); !ok {
		t.Skip("the processor time of a thread is read on Linux only")
	}
	var out, log bytes.Buffer
	args := []string{"bare", "--text", textDir(t), "--sizes", "200", "--queries", "50", "--rounds", "1", "--ways",
		"all", "--before", "../.."}
	if err := runCommand(t.Context(), args, &out, &log); err != nil {
		t.Fatalf("run(%q): %v\n%s", args, err, log.String())
	}
	for _, way := range ownindex.SearchVariants {
		row := cells(t, out.String(), way+", before")
		if row[1] == "" || strings.HasPrefix(row[1], "0 ") || row[8] != "50 of 50" || row[9] != "50 of 50" {
			t.Errorf("row %q = %v, want figures and the same hits", way, row)
		}
	}
	for _, bad := range [][]string{
		{"--sizes", "x"},
		{"--ways", "up"},
		{"--rounds", "0"},
		{"--before", t.TempDir()},
		{"--prototype", t.TempDir()},
	} {
		if err := runCommand(t.Context(), append([]string{"bare", "--text", textDir(t)}, bad...), &out, &log); err == nil ||
			errors.Is(err, errMisuse) {
			t.Errorf("bare %q = %v, want an error that says why", bad, err)
		}
	}
}

func TestWriteCommand(t *testing.T) {
	dir := t.TempDir()
	out := runBench(t, "write", "--text", textDir(t), "--n", "3,20", "--rounds", "4", "--dir", dir)
	for _, name := range []string{"oxbow, with its index", "bare append", "bare overwrite", "64"} {
		if row := cells(t, out, name); row[1] == "" || strings.HasPrefix(row[1], "0 ") {
			t.Errorf("row %q = %v, want a figure", name, row)
		}
	}
	// The acknowledged writes are 3 or 20 for the entries, 20 for warm-up, 4 rounds, and 2 by each of 1, 8 and 64
	// goroutines (together 146).
	for _, want := range []string{"beside 3 entries", "all 173 acknowledged", "all 190 acknowledged"} {
		if !strings.Contains(out, want) {
			t.Errorf("output without %q:\n%s", want, out)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestBesideCommand(t *testing.T) {
	out := runBench(t, "beside", "--text", textDir(t), "--n", "20", "--time", "20ms", "--rounds", "2")
	for name, columns := range map[string][]int{"a reader": {1}, "two readers": {1}, "a writer": {3, 5},
		"a reader beside the writer": {1, 3, 5, 6},
		"a reader beside a writer":   {1, 3, 5, 6}, "a reader beside bare": {1, 3, 5}} {
		row := cells(t, out, name)
		for _, i := range columns {
			if row[i] == "" || row[i] == "–" || strings.HasPrefix(row[i], "0.00") {
				t.Errorf("row %q = %v, want a figure in column %d", name, row, i)
			}
		}
	}
}

func TestShareCommand(t *testing.T) {
	out := runBench(t, "share", "--processes", "2", "--time", "200ms")
	for _, name := range []string{"writes all the time", "writes each 20.0 ms"} {
		if row := cells(t, out, name); row[1] == "0" || strings.HasPrefix(row[4], "0") {
			t.Errorf("row %q = %v, want figures", name, row)
		}
	}
}

// TestChurnCommand tests that the command churn reports its figures, and that none of them is 0. In particular, the log
// must have been compacted at least once.
func TestChurnCommand(t *testing.T) {
	out := runBench(
		t,
		"churn",
		"--text",
		textDir(t),
		"--entries",
		"20",
		"--updates",
		"30000",
		"--each",
		"100",
		"--keep",
		"5",
	)
	for _, name := range []string{"the entries and the last changes", "the log at its largest",
		"times that it was compacted", "a change, longest", "Open and the first recall"} {
		if row := cells(t, out, name); row[1] == "" || strings.HasPrefix(row[1], "0.00") || row[1] == "0" {
			t.Errorf("row %q = %v, want a figure", name, row)
		}
	}
}

// TestVerifySeesLoss tests that verify detects a lost entry.
func TestVerifySeesLoss(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.oxbow")
	m, err := oxbow.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := fillMemory(t.Context(), m, []oxbow.Add{{Name: "a", Content: "A"}, {Name: "b", Content: "B"}}); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	verify := func(acked int) error {
		w := &writeRun{
			bench:                  &bench{out: new(bytes.Buffer), log: new(bytes.Buffer)},
			memoryPath:             path,
			acknowledgedEntryCount: acked,
		}
		return w.verifyStore(t.Context())
	}
	if err := verify(2); err != nil {
		t.Errorf("verify of a whole store = %v", err)
	}
	if err := verify(3); err == nil {
		t.Error("verify did not see that an entry is missing")
	}
}

// TestSQLite tests that the SQLite store contains the entries from opening and from add, and that add refuses a name
// that already exists. The database must be at the given path.
func TestSQLite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b.sqlite")
	s, err := openSQLite(t.Context(), path, []oxbow.Add{{Name: "a", Content: "A"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.add(t.Context(), oxbow.Add{Name: "b", Content: "B"}); err != nil {
		t.Error(err)
	}
	if err := s.add(t.Context(), oxbow.Add{Name: "a", Content: "again"}); err == nil {
		t.Error("a name could be used twice")
	}
	var n int
	if err := s.db.QueryRow("SELECT count(*) FROM entry").Scan(&n); err != nil || n != 2 {
		t.Errorf("count = %d, %v, want 2", n, err)
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the database is elsewhere: %v", err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{
		{"quality"},
		{"recall", "--text", textDir(t), "--n", "2"},
		{"write", "--text", textDir(t), "--n", "1"},
	} {
		var out, log bytes.Buffer
		if err := runCommand(ctx, args, &out, &log); err == nil {
			t.Errorf("run(%q) went on after it was cancelled", args)
		}
	}
}
