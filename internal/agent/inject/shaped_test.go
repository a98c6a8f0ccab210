// This file tests that an earlier turn of a conversation is not shown for a prompt if the text of the turn looks like
// instructions.

package inject

import (
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/test/testenv"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestShapedTurns(t *testing.T) {
	const fact = "Since the Hamburg migration the staging proxy listens on port 8443."
	shown := func(said string) string {
		m, err := oxbow.Open("sessions.oxbow", &oxbow.Options{FS: vfs.NewMem()})
		if err != nil {
			t.Fatal(err)
		}
		defer storetest.Close(t, m)
		e := session.Event{
			Client:  "claude",
			Session: "one",
			TurnID:  "1",
			Kind:    session.KindPrompt,
			Text:    fact,
			Time:    start,
		}
		answer := e
		answer.Kind = session.KindText
		answer.ID = "a1"
		answer.Text = said
		if _, err := (&session.Archive{Memory: m}).AddEvents(t.Context(), []session.Event{e, answer}); err != nil {
			t.Fatal(err)
		}
		return ask(
			t,
			Prompt{},
			MemorySource{SourceKind: SourceKindSessions, Memory: m, Filter: session.TurnFilter, MinStrength: .5},
		).Text
	}
	if shown("The proxy is fine.") == "" {
		t.Fatal("an ordinary turn is not shown")
	}
	for form, order := range testenv.DisguisedInstructions() {
		if got := shown(order); got != "" {
			t.Errorf("%s: %s", form, got)
		}
	}
	// A turn that cannot be parsed is examined as a whole.
	u := foundEntry{
		ShowDecision: ShowDecision{ShownEntry: session.ShownEntry{SourceKind: SourceKindSessions}},
		storedEntry: oxbow.Entry{Content: "no turn\n" +
			testenv.InstructionText},
	}
	if !u.looksLikeInstructions() {
		t.Error("a damaged turn is not examined")
	}
	// A note is examined again just before it is shown.
	u = foundEntry{
		ShowDecision: ShowDecision{ShownEntry: session.ShownEntry{SourceKind: SourceKindNotes}},
		storedEntry: oxbow.Entry{
			Name:    "n",
			Content: testenv.InstructionText,
			Source:  oxbow.Source{Actor: oxbow.Agent},
		},
	}
	if !u.looksLikeInstructions() {
		t.Error("a note without labels is not examined")
	}
}
