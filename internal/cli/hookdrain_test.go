// This file tests that a hook leaves the work at the end of a turn to another process.

package cli

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/vfs"
)

// spoolFiles returns the names of the sessions' spool files.
func (p *prompted) spoolFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(p.home, session.SpoolDir, "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestHookStartsDrain tests that the hook at the end of a turn starts "oxbow hook --drain", and that this process
// moves the reported events into the archive.
func TestHookStartsDrain(t *testing.T) {
	p := newPrompted(t)
	var started [][]string
	p.env.StartDetached = func(args []string) error {
		started = append(started, args)
		return nil
	}
	p.hook(t, "claude", "UserPromptSubmit", `"prompt":"ship it on Tuesday"`)
	if len(started) > 0 {
		t.Errorf("a prompt starts %q", started)
	}
	p.hook(t, "claude", "Stop", `"last_assistant_message":"It is shipped."`)
	want := []string{"--home", p.home, "hook", "--drain"}
	if len(started) != 1 || !slices.Equal(started[0], want) {
		t.Fatalf("the end of a turn starts %q, want only %q", started, want)
	}
	if len(p.spoolFiles(t)) == 0 {
		t.Fatal("the hook has emptied the spool itself")
	}
	p.must(t, started[0]...)
	if files := p.spoolFiles(t); len(files) > 0 {
		t.Errorf("after the drain the spool has %q", files)
	}
	// After this, only the archive contains the events.
	if err := os.RemoveAll(filepath.Join(p.home, session.SpoolDir)); err != nil {
		t.Fatal(err)
	}
	if out := p.must(t, "--home", p.home, "recall", "shipped", "--sessions"); !strings.Contains(out, "It is shipped.") {
		t.Errorf("the archive finds %q", out)
	}
	p.must(t, "--home", p.home, "check")
}

// TestDrainIsNotStarted tests that reports stay in the spool if no process can be started, and that the next command
// that reads the archive finds them.
func TestDrainIsNotStarted(t *testing.T) {
	p := newPrompted(t)
	p.env.StartDetached = func([]string) error { return errors.New("no more processes") }
	p.hook(t, "claude", "UserPromptSubmit", `"prompt":"ship it on Tuesday"`)
	p.hook(t, "claude", "Stop", `"last_assistant_message":"It is shipped."`)
	if len(p.spoolFiles(t)) == 0 {
		t.Fatal("the spool is empty")
	}
	if out := p.must(t, "--home", p.home, "recall", "shipped", "--sessions"); !strings.Contains(out, "It is shipped.") {
		t.Errorf("the archive finds %q", out)
	}
	p.must(t, "--home", p.home, "check")
}

// TestDrainEnds tests "oxbow hook --drain", which moves events from the spool (a directory for the reports of hooks) to
// the archive. The command must end after its time limit if another process holds the lock of the spool. Hooks start
// this command in the background after each turn, so commands that waited forever would accumulate.
func TestDrainEnds(t *testing.T) {
	p := newPrompted(t)
	p.env.StartDetached = func([]string) error { return nil }
	p.hook(t, "claude", "UserPromptSubmit", `"prompt":"ship it on Tuesday"`)
	p.hook(t, "claude", "Stop", `"last_assistant_message":"It is shipped."`)
	dir, err := vfs.Dir(filepath.Join(p.home, session.SpoolDir))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	lock, err := dir.OpenLock("lock")
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := lock.TryLock(); !ok || err != nil {
		t.Fatalf("TryLock = %t, %v", ok, err)
	}
	p.env.HookTimeLimits = &HookTimeLimits{SpoolDrain: 50 * time.Millisecond}
	p.must(t, "--home", p.home, "hook", "--drain")
	if len(p.spoolFiles(t)) == 0 {
		t.Error("the spool is empty although it is locked")
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	p.env.HookTimeLimits = patient
	p.must(t, "--home", p.home, "hook", "--drain")
	if files := p.spoolFiles(t); len(files) > 0 {
		t.Errorf("after the drain the spool has %q", files)
	}
	p.must(t, "--home", p.home, "check")
}
