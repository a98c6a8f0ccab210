// This file tests the command line. It also lets the test binary act as a server.

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestMain runs the tests. If the environment says so, it acts as a memory server (see fakeServer) or
// as a process of a measurement.
func TestMain(m *testing.M) {
	if mode := os.Getenv("OXBOW_BENCH_FAKE"); mode != "" {
		fakeServer(mode)
		os.Exit(0)
	}
	if runHelperJob() {
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// fakeServer is a memory server. It stores only every second entry ("forgetful"), stores all entries
// ("good"), refuses every tenth entry ("picky"), or ends at the third call without an answer
// ("mortal").
func fakeServer(mode string) {
	in := bufio.NewScanner(os.Stdin)
	for n := 0; in.Scan(); {
		var m struct {
			ID     *int
			Method string
			Params struct {
				Arguments struct {
					Entities []struct{ Name string }
				}
			}
		}
		if json.Unmarshal(in.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		if m.Method == "initialize" {
			fmt.Printf(`{"jsonrpc":"2.0","id":%d,"result":{}}`+"\n", *m.ID)
			continue
		}
		n++
		switch {
		case mode == "mortal" && n == 3:
			os.Exit(0)
		case mode == "picky" && n%10 == 0:
			fmt.Printf(
				`{"jsonrpc":"2.0","id":%d,"result":{"isError":true,"content":[{"type":"text","text":"not this one"}]}}`+
					"\n",
				*m.ID,
			)
			continue
		case mode != "forgetful" || n%2 == 0:
			f, err := os.OpenFile(os.Getenv("MEMORY_FILE_PATH"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			if err != nil {
				os.Exit(1)
			}
			fmt.Fprintf(f, `{"type":"entity","name":%q}`+"\n", m.Params.Arguments.Entities[0].Name)
			f.Close()
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%d,"result":{"content":[]}}`+"\n", *m.ID)
	}
}

// runBench runs a command and returns its standard output.
func runBench(t *testing.T, args ...string) string {
	t.Helper()
	var out, log bytes.Buffer
	if err := runCommand(t.Context(), args, &out, &log); err != nil {
		t.Fatalf("run(%q): %v\n%s", args, err, log.String())
	}
	return out.String()
}

// cells returns the cells of the first row whose first cell begins with name.
func cells(t *testing.T, out, name string) []string {
	t.Helper()
	for line := range strings.Lines(out) {
		row := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		if strings.HasPrefix(line, "|") && strings.HasPrefix(row[0], name) {
			return row
		}
	}
	t.Fatalf("no row %q in\n%s", name, out)
	return nil
}

func TestMisuse(t *testing.T) {
	for _, args := range [][]string{nil, {"fly"}, {"quality", "--speed"}, {"quality", "extra"}} {
		var out, log bytes.Buffer
		if err := runCommand(t.Context(), args, &out, &log); !errors.Is(err, errMisuse) {
			t.Errorf("run(%q) = %v, want errMisuse", args, err)
		}
		if log.Len() == 0 || out.Len() > 0 {
			t.Errorf("run(%q) printed %q, and %q to its user", args, out.String(), log.String())
		}
	}
}

func TestBadNumbers(t *testing.T) {
	for _, args := range [][]string{
		{"recall", "--n", "0"}, {"write", "--n", "10,x"}, {"write", "--rounds", "0"}, {"beside", "--n", "0"},
		{"beside", "--time", "0s"}, {"churn", "--each", "0"}, {"share", "--processes", "0"},
		{"start", "--rounds", "0"}, {"whole", "--rounds", "0"}, {"whole", "--n", "x"},
		{"quality", "--set", "scifact"}, {"quality", "--data", t.TempDir()},
		{"quality", "--data", t.TempDir(), "--set", "nope"},
	} {
		var out, log bytes.Buffer
		if err := runCommand(t.Context(), args, &out, &log); err == nil || errors.Is(err, errMisuse) {
			t.Errorf("run(%q) = %v, want an error that says why", args, err)
		}
	}
}
