// This file tests how many lines git reports as changed for a handoff. It also tests that the configuration of a
// hostile repository cannot run a program.

package handoff

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
)

func TestStats(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("sub/a.go", "one\ntwo\nthree\n")
	write("sub/gone.go", "one\n")
	write("sub/same.go", "one\n")
	run("init", "-q")
	run("add", "-A")
	run("commit", "-q", "-m", "x")
	marker := filepath.Join(dir, "ran")
	for _, key := range []string{"core.fsmonitor", "diff.external", "filter.x.clean", "core.pager"} {
		run("config", key, "touch "+marker)
	}
	write("sub/.gitattributes", "* filter=x diff=x\n")
	write("sub/a.go", "one\n2\nthree\nfour\n")
	write("sub/new.go", "a\nb\n")
	write("secret", "x\n")
	if err := os.Remove(filepath.Join(dir, "sub/gone.go")); err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(dir, "sub")
	e := called(
		"",
		0,
		"",
		"a.go",
		"same.go",
		"gone.go",
		"new.go",
		filepath.Join(work, "none.go"),
		"../../../etc/passwd",
	)
	events := []session.Event{event(session.KindPrompt, "x"), e}
	for i := range events {
		events[i].Client = "claude"
		events[i].Session = "s"
		events[i].Dir = work
	}
	turns := session.BuildTurns(events)
	got := countChangedLinesByFile(t.Context(), turns, time.Minute) // The long limit allows for a busy machine.
	if want := map[string]lineChanges{"a.go": {2, 1}, "gone.go": {0, 1}, "new.go": {2, 0}}; !maps.Equal(got, want) {
		t.Errorf("countLines() = %v, want %v", got, want)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("the repository ran a program")
	}

	if out := composeRecord(turns, got); !strings.Contains(out, "\na.go +2-1\n") {
		t.Errorf("compose() = %s", out)
	}
}
