// This file tests that the tables of docs/benchmarks.md are generated from the recorded results.

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPageIsMadeOfResults tests that the tables of docs/benchmarks.md are those in results.jsonl.
func TestPageIsMadeOfResults(t *testing.T) {
	results, err := readResults(resultsFile)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(benchmarksPageFile)
	if err != nil {
		t.Fatal(err)
	}
	switch want, err := replacePageTables(string(page), results); {
	case err != nil:
		t.Error(err)
	case want != string(page):
		t.Errorf("%s is not what its results make: go run . page", benchmarksPageFile)
	case len(results) == 0:
		t.Error("there are no results")
	}
}

func TestFillPage(t *testing.T) {
	results := []recordedTable{
		{"recall", "go run . recall", "2026-11-22", "2 cores", []string{"one", "p50", "p99"},
			[][]string{{"oxbow", "1.00", "2.00"}, {"seed", "3.00", "4.00"}}},
	}
	const page = "# Page\n\n<!-- table recall 1 3 /^oxbow\\|1/ -->\nold\n<!-- end -->\n\nend\n"
	const want = "# Page\n\n<!-- table recall 1 3 /^oxbow\\|1/ -->\n`go run . recall` · 2026-11-22 · 2 cores\n\n" +
		"| one   |  p99 |\n|-------|-----:|\n| oxbow | 2.00 |\n\n<!-- end -->\n\nend\n"
	for _, from := range []string{page, want} {
		if got, err := replacePageTables(from, results); got != want || err != nil {
			t.Errorf("fillPage(%q) = %q, %v; want %q", from, got, err, want)
		}
	}
	for from, why := range map[string]string{
		strings.Replace(page, "recall", "write", 1):         "--record write",
		strings.Replace(page, "1 3", "1 4", 1):              "columns 1 to 3",
		strings.Replace(page, "/^ox", "/^x", 1):             "no row with",
		strings.Replace(page, "<!-- end -->", "", 1) + page: "begins 2 tables, and 1",
		strings.Replace(page, " 1 3", " one", 1):            "begins 1 tables, and 0",
		"# Page\n":                                          "shows no table of recall",
	} {
		if _, err := replacePageTables(from, results); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("fillPage(%q): %v, want an error with %q", from, err, why)
		}
	}
}

// TestOrigin tests the line with the command, date and machine of a table. The line is empty if the table before has
// the same command. If another command ran on the same machine, the line contains "as above" for the machine.
func TestOrigin(t *testing.T) {
	first := recordedTable{Command: "go run . write", Date: "2026-11-22", Machine: "2 cores, load 1.00 before"}
	later, other := first, first
	later.Machine = "2 cores, load 3.00 before"
	other.Command = "go run . start"
	for _, c := range []struct {
		of, before recordedTable
		want       string
	}{
		{first, recordedTable{}, "`go run . write` · 2026-11-22 · 2 cores, load 1.00 before\n\n"},
		{later, first, ""},
		{other, later, "`go run . start` · 2026-11-22 · as above, load 1.00 before\n\n"},
		{recordedTable{Command: "x", Date: "2026-11-22", Machine: "2 cores"}, first, "`x` · 2026-11-22 · as above\n\n"},
	} {
		if got := c.of.measurementOriginLine(c.before); got != c.want {
			t.Errorf("origin of %v after %v = %q, want %q", c.of, c.before, got, c.want)
		}
	}
}

// TestRecord tests that a command that is run again only replaces its own results.
func TestRecord(t *testing.T) {
	file := filepath.Join(t.TempDir(), "results.jsonl")
	record := func(name string, tables ...*markdownTable) {
		t.Helper()
		r := tableRecorder{name: name, command: "go run . x", date: "1970-01-01"}
		for _, x := range tables {
			r.addTable(x)
		}
		if err := r.save(file); err != nil {
			t.Fatal(err)
		}
	}
	one := func(cell string) *markdownTable { return &markdownTable{[]string{"head"}, [][]string{{cell}}} }
	record("write", one("a"), one("b"))
	record("write-more", one("c"))
	record("write", one("d"))
	got, err := readResults(file)
	if err != nil || len(got) != 2 || got[0].Name != "write" || got[0].Rows[0][0] != "d" ||
		got[1].Name != "write-more" || got[0].Date != "1970-01-01" {
		t.Errorf("the results are %v, %v; want write with d, and write-more", got, err)
	}
	for _, bad := range []string{
		"{}",
		`{"name":"a","command":"b","date":"c","head":["d"],"rows":[["e","f"]]}`,
		`{"nome":"a"}`,
		"x",
	} {
		if err := os.WriteFile(file, []byte(bad+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := readResults(file); err == nil {
			t.Errorf("the line %s is read as %v", bad, got)
		}
	}
}

func TestCommandLine(t *testing.T) {
	dir := t.TempDir()
	for want, args := range map[string][]string{
		"go run . recall --data DIR --n 10":    {"recall", "--data", dir, "--n", "10", "--record", "recall"},
		"go run . drift --repo oxbow=DIR":      {"drift", "--record=x", "--repo", "oxbow=" + dir},
		"go run . write -n 100 --sqlite=false": {"write", "-n", "100", "--sqlite=false"},
	} {
		if got := commandLine("", args); got != want {
			t.Errorf("commandLine(%q) = %q, want %q", args, got, want)
		}
	}
	if got := commandLine("a,b", []string{"peers"}); got != "go run -tags a,b . peers" {
		t.Errorf("commandLine of a program built with tags = %q", got)
	}
}
