// This file tests the archive after an import of sessions.

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/agent/inject"
)

// TestSessionImportMakesIndex tests that an import of many turns creates the archive's index, and computes how strongly
// a turn must match a prompt to be shown. Without these, no later hook could answer a prompt in time.
func TestSessionImportMakesIndex(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(w.vars["HOME"], ".claude", "projects", "-p")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for i := range 400 {
		fmt.Fprintf(
			&lines,
			`{"type":"user","promptId":"p%d","uuid":"u%d","sessionId":"s1","cwd":"/p","timestamp":"2026-04-17T01:%02d:%02dZ","message":{"role":"user","content":"heron %d stands in the water"}}`+"\n",
			i,
			i,
			i/60,
			i%60,
			i,
		)
	}
	if err := os.WriteFile(filepath.Join(dir, "s1.jsonl"), []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	// The import must not open the notes, which do not exist yet. Otherwise it would say so on standard error.
	status, said, stderr := w.run(t, "session", "import")
	if status != 0 || !strings.HasPrefix(said, "claude: 400 turns new") || stderr != "" {
		t.Fatalf("session import exits with %d and says %q, %q", status, said, stderr)
	}
	fi, err := os.Stat(filepath.Join(w.vars["HOME"], ".local", "share", "oxbow", "sessions.oxbow.idx"))
	if err != nil || fi.Size() == 0 { // An empty file means that the archive has needed no index yet.
		t.Errorf("the archive has no index: %v", err)
	}
	path := filepath.Join(w.vars["HOME"], ".local", "share", "oxbow", "sessions.oxbow")
	if c := inject.ReadMinStrengthFile(path); !c.IsUpToDateFor(400) {
		t.Errorf("the floor of the archive is %+v, so that the next prompt would have to compute it", c)
	}
	if said := w.must(t, "session", "search", "heron 399"); !strings.Contains(said, "heron 399") {
		t.Errorf("session search says %q", said)
	}
	w.must(t, "check")
}

// TestSessionImportAgain imports a session of Claude Code several times: while it grows, when it ends in an incomplete
// line, and after it was rewritten. Each import must add only the new turns. An import without a change must add
// nothing.
func TestSessionImportAgain(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(w.vars["HOME"], ".claude", "projects", "-p", "s1.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	ask := func(n int) string {
		return fmt.Sprintf(`{"type":"user","promptId":"p%d","uuid":"u%d","sessionId":"s1","cwd":"/p",`+
			`"timestamp":"2026-04-17T01:00:%02dZ","message":{"role":"user","content":"heron %d"}}`+"\n", n, n, n, n)
	}
	for i, step := range []struct {
		text, said string
		status     int
	}{
		{ask(1) + ask(2) + ask(3)[:70], "claude: 2 turns new, 0 changed", 1},
		{ask(1) + ask(2) + ask(3), "claude: 1 turn new, 0 changed", 0},
		{ask(1) + ask(2) + ask(3), "claude: 0 turns new, 0 changed", 0},
		{`{"type":"mode","sessionId":"s1","mode":"` + strings.Repeat("x", 700) + `"}` + "\n" + ask(3) + ask(4),
			"claude: 1 turn new, 0 changed", 0},
		{ask(4), "claude: 0 turns new, 0 changed", 0},
		{ask(4) + `{"type":"hologram","sessionId":"s1"}` + "\n", "claude: 0 turns new, 0 changed", 1},
	} {
		if err := os.WriteFile(path, []byte(step.text), 0o600); err != nil {
			t.Fatal(err)
		}
		status, stdout, stderr := w.run(t, "session", "import")
		if status != step.status || !strings.HasPrefix(stdout, step.said) {
			t.Errorf("import %d has the status %d and says %q %q, want %d and %q", i+1, status, stdout, stderr,
				step.status, step.said)
		}
		if isLast := i == 5; isLast != strings.Contains(stdout+stderr, `lines of the type "hologram" (1)`) {
			t.Errorf("import %d says %q %q", i+1, stdout, stderr)
		}
	}
	if said := w.must(t, "session", "show", "s1"); strings.Count(said, "heron") < 4 {
		t.Errorf("session show says %q", said)
	}
	w.must(t, "check")
}

// TestSessionImportPromptList tests the import of the list of prompts in history.jsonl. A prompt is new if its session
// has no transcript. A prompt is not new if its session's transcript was imported before, even if the transcript was
// deleted afterwards.
func TestSessionImportPromptList(t *testing.T) {
	w := newWorld(t)
	home := filepath.Join(w.vars["HOME"], ".claude")
	transcript := filepath.Join(home, "projects", "-p", "aaaaaaaa-1.jsonl")
	if err := os.MkdirAll(filepath.Dir(transcript), 0o700); err != nil {
		t.Fatal(err)
	}
	put := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(transcript, `{"type":"user","promptId":"p1","uuid":"u1","sessionId":"aaaaaaaa-1","cwd":"/p",`+
		`"timestamp":"2026-04-17T01:00:00Z","message":{"role":"user","content":"Read @a.go: package a"}}`+"\n")
	w.must(t, "session", "import", "claude")
	if err := os.Remove(transcript); err != nil {
		t.Fatal(err)
	}
	list := `{"display":"Read @a.go","timestamp":1776387600000,"project":"/p","sessionId":"aaaaaaaa-1"}` + "\n" +
		`{"display":"Feed the heron.","timestamp":1776387600000,"project":"/p","sessionId":"bbbbbbbb-2"}` + "\n"
	put(filepath.Join(home, "history.jsonl"), list)
	if said := w.must(t, "session", "import", "claude"); !strings.HasPrefix(said, "claude: 1 turn new, 0 changed") {
		t.Errorf("session import says %q", said)
	}
	put(filepath.Join(home, "history.jsonl"), list+
		`{"display":"And the ibis.","timestamp":1776387900000,"project":"/p","sessionId":"bbbbbbbb-2"}`+"\n")
	if said := w.must(t, "session", "import", "claude"); !strings.HasPrefix(said, "claude: 1 turn new, 0 changed") {
		t.Errorf("session import says %q", said)
	}
	if said := w.must(t, "session", "import", "claude"); !strings.HasPrefix(said, "claude: 0 turns new, 0 changed") {
		t.Errorf("session import says %q", said)
	}
	if said := w.must(t, "session", "search", "heron"); !strings.Contains(said, "Feed the heron.") {
		t.Errorf("session search says %q", said)
	}
	w.must(t, "check")
}
