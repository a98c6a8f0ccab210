// This file tests handoffs of sessions that were recorded from real clients.

package handoff

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/agent/session/transcript"
)

// TestRecorded tests that the handoff contains all files that were changed, and all commands that passed. The lines of
// a command are joined into one line. Texts and commands that WithoutRepeatedForeignText removes, because they repeat
// text that others wrote, are not expected.
func TestRecorded(t *testing.T) {
	dirs, err := filepath.Glob("../../hook/testdata/*-*")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no recorded sessions: %v", err)
	}
	commands, files := 0, 0
	for _, dir := range dirs {
		client, _, _ := strings.Cut(filepath.Base(dir), "-")
		var events []session.Event
		transcripts, _ := filepath.Glob(filepath.Join(dir, "transcript*"))
		for _, name := range transcripts {
			got, _, err := transcript.NewReader(func(s string) string { return s }, nil)(t.Context(), client, name, "")
			if err != nil {
				t.Fatal(err)
			}
			events = append(events, got...)
		}
		turns := session.BuildTurns(events)
		out := composeRecord(turns, nil) + "\n"
		r := newSessionRecord(turns)
		for i := range turns {
			u := turns[i].WithoutRepeatedForeignText()
			for _, e := range u.CallEvents() {
				for _, p := range e.Call.WrittenFiles {
					files++
					if !strings.Contains(out, "\n"+r.relativePath(p)+"\n") {
						t.Errorf("%s: the file %s is not in\n%s", dir, p, out)
					}
				}
				if c := joinLines(e.Call.Command); c != "" && !e.Call.Failed &&
					(e.Call.ExitStatus == nil || *e.Call.ExitStatus == 0) {
					commands++
					if !strings.Contains(out, "\n"+c+"\n") {
						t.Errorf("%s: the command %s is not in\n%s", dir, c, out)
					}
				}
			}
		}
		if len(turns) > 0 {
			t.Logf("%s: %d turns\n%s", dir, len(turns), out)
		}
	}
	if commands == 0 || files == 0 {
		t.Errorf("%d commands and %d files", commands, files)
	}
}
