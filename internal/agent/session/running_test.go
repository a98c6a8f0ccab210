// This file tests how the session and the client that sent an MCP request are found. It also tests what is known about
// a running session, such as its last failure.

package session

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/store/storetest"
)

func TestSpoolTaints(t *testing.T) {
	s := Spool{Dir: filepath.Join(t.TempDir(), "spool")}
	now := time.Now()
	transcript := filepath.Join(t.TempDir(), "b.jsonl")
	if err := os.WriteFile(transcript, []byte(`{"id":"toolu_b"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	put := func(session, dir string, events ...Event) {
		t.Helper()
		for i, e := range events {
			e.Client = "claude"
			e.Session = session
			e.Dir = dir
			e.Time = now.Add(time.Duration(i) * time.Second)
			if session == "b" {
				e.TranscriptPath = transcript
			}
			if err := s.AppendEvents(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	web := func(q string) Event {
		return Event{Kind: KindToolCall, ID: "toolu_" + q, Call: &ToolCall{Tool: "WebSearch", WebQuery: q}}
	}
	put(
		"a",
		"/p",
		Event{Kind: KindPrompt, Text: "x"},
		web("old"),
		Event{Kind: KindPrompt, Text: "y"},
		Event{Kind: KindText, Text: "z"},
	)
	put("b", "/p/sub", Event{Kind: KindPrompt, Text: "x"}, web("new"))
	put("c", "/q", Event{Kind: KindPrompt, Text: "x"}, web("other"))
	m := storetest.Open(t, filepath.Join(t.TempDir(), StoreFile), nil)
	a := &Archive{Memory: m}
	archive := func(context.Context) (*Archive, error) { return a, nil }
	put("d", "/r", Event{Kind: KindPrompt, Text: "x"}, web("early"))
	if _, err := a.DrainSpool(t.Context(), s, nil); err != nil {
		t.Fatal(err)
	}
	// All spool files were drained. Two sessions have reported again since.
	put("d", "/r", web("late"))
	put("b", "/p/sub", Event{Kind: KindText, Text: "w"})
	for _, c := range []struct {
		name   string
		caller Caller
		want   []string
	}{
		{"the session is named", Caller{Session: "c"}, []string{"WebSearch other"}},
		{"the prompt ended what was", Caller{Session: "a"}, nil},
		{"the spool has the call", Caller{Call: "toolu_late"}, []string{"WebSearch early", "WebSearch late"}},
		{"the transcript has the call", Caller{Call: "toolu_b", Dir: "/p"}, []string{"WebSearch new"}},
		{"by directory", Caller{Client: "claude", Dir: "/q"}, []string{"WebSearch other"}},
		{"any that may be", Caller{Client: "claude", Call: "toolu_x", Dir: "/p"}, []string{"WebSearch new"}},
		{"another client", Caller{Client: "codex", Dir: "/q"}, nil},
		{"elsewhere", Caller{Client: "claude", Dir: "/s"}, nil},
		{"the prompt is in the archive", Caller{Session: "d"}, []string{"WebSearch early", "WebSearch late"}},
	} {
		if got, err := s.FindTextsSeenBySession(t.Context(), c.caller, archive, now); err != nil ||
			!slices.Equal(got.CallsWithoutFingerprints, c.want) {
			t.Errorf("%s: %q, %v; want %q", c.name, got.CallsWithoutFingerprints, err, c.want)
		}
	}
	if got, err := s.FindTextsSeenBySession(t.Context(), Caller{Session: "c"}, archive,
		now.Add(2*maxTimeSinceLastEvent)); got.CallsWithoutFingerprints != nil ||
		err != nil {
		t.Errorf("of a session that ended long ago: %q, %v", got.CallsWithoutFingerprints, err)
	}
}

func TestCallerOf(t *testing.T) {
	for _, c := range []struct {
		client string
		meta   map[string]any
		want   Caller
	}{
		{
			"claude-code",
			map[string]any{"claudecode/toolUseId": "toolu_1", "progressToken": 1.0},
			Caller{Client: "claude", Call: "toolu_1"},
		},
		{
			"codex-mcp-client",
			map[string]any{"callId": "call_1", "sessionId": "s"},
			Caller{Client: "codex", Session: "s", Call: "call_1"},
		},
		{
			"codex-mcp-client",
			map[string]any{"x-codex-turn-metadata": `{"session_id":"s"}`},
			Caller{Client: "codex", Session: "s"},
		},
		{"gemini-cli-mcp-client", nil, Caller{Client: "gemini"}},
		{"somebody", map[string]any{"sessionId": 7}, Caller{}},
	} {
		if got := ParseRequestCaller(c.client, c.meta); !reflect.DeepEqual(got, c.want) {
			t.Errorf("RequestCaller(%q, %v) = %+v, want %+v", c.client, c.meta, got, c.want)
		}
	}
}

// TestFailure tests how long the last failure of a session counts: until its command passes, a file is written, or the
// person writes a prompt.
func TestFailure(t *testing.T) {
	one, zero := 1, 0
	call := func(c ToolCall) Event { return Event{Client: "claude", Session: "s", Kind: KindToolCall, Call: &c} }
	failure := call(ToolCall{Tool: "Bash", Command: "go test", ExitStatus: &one, Output: "a.go:3: undefined: Lift"})
	const want = "undefined: Lift"
	for _, tt := range []struct {
		name  string
		after []Event
		found bool
	}{
		{"just now", nil, true},
		{
			"then read",
			[]Event{
				call(ToolCall{Tool: "Read", ReadFiles: []string{"a.go"}}),
				call(ToolCall{Tool: "Bash", Command: "ls", ExitStatus: &zero}),
			},
			true,
		},
		{"passed", []Event{call(ToolCall{Tool: "Bash", Command: "go test", ExitStatus: &zero})}, false},
		{"written", []Event{call(ToolCall{Tool: "Edit", WrittenFiles: []string{"a.go"}})}, false},
		{"another prompt", []Event{{Client: "claude", Session: "s", Kind: KindPrompt, Text: "stop"}}, false},
	} {
		s := Spool{Dir: t.TempDir()}
		if err := s.AppendEvents(append([]Event{failure}, tt.after...)...); err != nil {
			t.Fatal(err)
		}
		if got := s.LastFailure("claude", "s"); strings.Contains(got, want) != tt.found || (!tt.found && got != "") {
			t.Errorf("%s: the failure is %q", tt.name, got)
		}
		if got := s.LastFailure("claude", "other"); got != "" {
			t.Errorf("another session has the failure %q", got)
		}
	}
}
