// This file tests the command quality on the set that is built in. How sets are
// read and measured is tested where it is done, in internal/quality.

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestQualityTiny(t *testing.T) {
	out := runBench(t, "quality")
	if !strings.HasPrefix(out, "machine: ") {
		t.Errorf("output begins with %q, want the machine", out[:20])
	}
	for _, ranking := range []string{"seed", "oxbow"} {
		if !strings.Contains(out, ranking+" |   3 | 1.0000 | 1.0000 | 1.0000 | 1.0000 |  1.0000 | 1.0000 |") {
			t.Errorf("%s does not find all first:\n%s", ranking, out)
		}
	}
	if got, want := cells(t, out, "LongMemEval sessions, two sessions")[2:4], []string{"1", "1.0000"}; !slices.Equal(got, want) {
		t.Errorf("questions with two sessions: %v, want %v", got, want)
	}
	// All but the first line, which tells the load of the moment.
	_, body, _ := strings.Cut(out, "\n")
	if _, again, _ := strings.Cut(runBench(t, "quality"), "\n"); again != body {
		t.Errorf("two runs differ:\n%s\n%s", body, again)
	}
}

func TestQualityData(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"questions.jsonl", "sessions.jsonl"} {
		b, err := tiny.ReadFile("tiny/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := runBench(t, "quality", "--data", dir, "--set", "longmemeval")
	if got := cells(t, out, "LongMemEval sessions"); got[2] != "3" {
		t.Errorf("row %v, want 3 questions", got)
	}
	// Its sessions serve as texts of other measurements.
	var ids []string
	if err := walkSessions(os.DirFS(dir), func(id, text string) error {
		ids = append(ids, id)
		if !strings.HasPrefix(text, "user: ") {
			t.Errorf("session %s is %q", id, text)
		}
		return nil
	}); err != nil || !slices.Equal(ids, []string{"bike", "garden", "recipe", "trip", "trip2", "work"}) {
		t.Errorf("walkSessions gives %v, %v", ids, err)
	}
}
