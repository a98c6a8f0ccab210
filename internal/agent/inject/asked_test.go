// This file tests that a question which a person asked earlier is not shown as the answer to the same question.

package inject

import (
	"fmt"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestAskedBefore(t *testing.T) {
	note := memoryOf(t, kayak("staging-proxy", "Since the Hamburg migration the staging proxy listens on port 8443."))
	m, err := oxbow.Open("sessions.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	archive := &session.Archive{Memory: m}
	talks := MemorySource{SourceKind: SourceKindSessions, Memory: m, Filter: session.TurnFilter, MinStrength: .5}
	add := func(id, kind, text string) {
		e := session.Event{
			Client:  "claude",
			Session: id,
			TurnID:  "1",
			Kind:    session.EventKind(kind),
			Text:    text,
			Time:    start,
		}
		if _, err := archive.AddEvents(t.Context(), []session.Event{e}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 4 {
		add(fmt.Sprint("asked-", i), "prompt", question)
	}
	if b := ask(t, Prompt{}, talks); b.Text != "" {
		t.Errorf("of a question that was asked four times: %q", b.Text)
	}
	if b := ask(t, Prompt{}, note, talks); strings.Contains(b.Text, "Which") ||
		!strings.Contains(b.Text, "port 8443") {
		t.Errorf("with a note: %q", b.Text)
	}
	for i := range 2 {
		add(fmt.Sprint("asked-", i), "text", "Since the Hamburg migration the staging proxy listens on port 9000.")
	}
	b := ask(t, Prompt{}, note, talks)
	if strings.Contains(b.Text, "Which") || strings.Count(b.Text, "port 9000") != 1 ||
		!strings.Contains(b.Text, "port 8443") {
		t.Errorf("with a note and two equal answers: %q", b.Text)
	}
	storetest.Close(t, m)
}
