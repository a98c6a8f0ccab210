// This file tests that an earlier turn of a conversation is not shown as an answer to a prompt if only the turn's tool
// output matches the prompt.

package inject

import (
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestOnlyPrinted(t *testing.T) {
	const fact = "Since the Hamburg migration the staging proxy listens on port 8443."
	for _, c := range []struct {
		name, prompt, printed, want string
	}{
		{"said", fact, "exit status 1", "port 8443"},
		{"printed", "Please run it.", fact, ""},
		{"said and printed", fact, "timeout of the staging proxy", "port 8443"},
	} {
		m, err := oxbow.Open("sessions.oxbow", &oxbow.Options{FS: vfs.NewMem()})
		if err != nil {
			t.Fatal(err)
		}
		e := session.Event{Client: "claude", Session: "one", TurnID: "1", Kind: session.KindPrompt, Text: c.prompt,
			Time: start}
		call := e
		call.Kind = session.KindToolCall
		call.ID = "c1"
		call.Text = ""
		call.Call = &session.ToolCall{Tool: "Bash", Command: "make", Failed: true, Output: c.printed}
		if _, err := (&session.Archive{Memory: m}).AddEvents(t.Context(), []session.Event{e, call}); err != nil {
			t.Fatal(err)
		}
		b := ask(
			t,
			Prompt{},
			MemorySource{SourceKind: SourceKindSessions, Memory: m, Filter: session.TurnFilter, MinStrength: .5},
		)
		if (b.Text == "") != (c.want == "") || !strings.Contains(b.Text, c.want) ||
			strings.Contains(b.Text, "timeout") {
			t.Errorf("%s: %q, want %q", c.name, b.Text, c.want)
		}
		storetest.Close(t, m)
	}
}
