// This file tests ordinary work. Agents write notes while they read tracked files, build, test and edit. These notes
// must be shown in later sessions that need them.

package flows

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/test/testenv"
)

const (
	notesOfSession = 8
	arriveOfNotes  = 80 // minimum percentage of all notes that must be shown with the prompts that need them
)

// TestCleanNotesArrive tests notes that an agent writes in ordinary sessions, in which the agent reads no text of
// strangers. In later sessions, the test sends prompts that need these notes. For most prompts, the note must then be
// shown. The test does this for an agent of each client.
func TestCleanNotesArrive(t *testing.T) {
	testenv.SkipInShortMode(t)
	testenv.RequireProgram(t, "git", "apt-get install git")
	for _, c := range agentClients() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			testCleanNotes(t, c)
		})
	}
}

func testCleanNotes(t *testing.T, c *agentClient) {
	notes, prompts := readDay(t, "clean")
	if len(notes) < 40 || len(prompts) != len(notes) {
		t.Fatalf("there are %d notes and %d prompts", len(notes), len(prompts))
	}
	h := newPoisonHome(t)
	var s *agentSession
	for i, e := range notes {
		if i%notesOfSession == 0 {
			s = h.session(c)
			s.start("startup")
			s.prompt(fmt.Sprintf("Please work on part %d.", i/notesOfSession+1))
		}
		s.work(i)
		if i%3 == 2 {
			s.shell(true, "", fmt.Sprintf("oxbow remember %s %q", e.Name, e.Content), "remember", e.Name, e.Content)
		} else {
			s.tool("remember", object{"name": e.Name, "content": e.Content})
		}
		if i%notesOfSession == notesOfSession-1 || i == len(notes)-1 {
			s.stop("That part is done, the tests pass.")
		}
	}
	// Calibrate the minimum strength of shown notes here, because a hook would have less time.
	h.asPerson("inject", "calibrate the floor")
	arrived := 0
	for i, p := range prompts {
		if i%notesOfSession == 0 {
			s = h.session(c)
			s.start("startup")
		}
		if got := s.prompt(p.text); strings.Contains(got, p.want+"@") {
			arrived++
		} else {
			t.Logf("%q got %q, not %s", p.text, got, p.want)
		}
	}
	t.Logf(
		"%d of %d notes reached the prompt that needs them; held back: %s",
		arrived,
		len(prompts),
		onOneLine(h.asPerson("approve")),
	)
	if arrived*100 < len(prompts)*arriveOfNotes {
		t.Errorf("%d of %d notes arrived, want %d of a hundred", arrived, len(prompts), arriveOfNotes)
	}
	h.must(t, "check")
}

// work reports the work that an agent does before it writes a note.
func (s *agentSession) work(i int) {
	file := filepath.Join(s.dir, "main.go")
	switch i % 4 {
	case 0:
		s.call(useRead, file, "package work\n\n// Amounts are in cents.\n")
	case 1:
		s.call(useShell, "go test ./...", "ok  \texample.org/work\t0.21s")
	case 2:
		s.call(useEdit, file, "The file has been updated.")
	case 3:
		s.call(useShell, "go build ./... && git status --short", " M main.go")
	}
}
