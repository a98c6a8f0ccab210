// This file tests what is read of Gemini CLI's sub-agents in transcripts.

package transcript_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/agent/session/transcript"
)

func TestSubagentSaid(t *testing.T) {
	const head = "Subagent 'generalist' finished.\nTermination Reason: GOAL\nResult:\n"
	const output = head + "The parser\nis in b.go."
	for _, c := range []struct{ tool, args, output, agent, text string }{
		{"invoke_agent", `{"agent_name":"generalist","prompt":"look"}`, output, "generalist",
			"The parser\nis in b.go."},
		{"generalist", `{"request":"look"}`, output, "generalist", "The parser\nis in b.go."},
		{"generalist", `{}`, head + "{\n  \"response\": \"It is in b.go.\"\n}", "generalist", "It is in b.go."},
		{"generalist", `{}`, head + `{"answer":"b.go","lines":3}`, "generalist", `{"answer":"b.go","lines":3}`},
		{"generalist", `{}`, head + `{"lines":3}`, "generalist", `{"lines":3}`},
		{"generalist", `{}`, head + `{no JSON}`, "generalist", `{no JSON}`},
		{"invoke_agent", `{"agent_name":"other"}`, output, "", ""},
		{"mcp_web_fetch", `{"agent_name":"generalist"}`, output, "", ""},
		{"invoke_agent", `{"agent_name":"generalist"}`, "Subagent 'generalist' failed. Error: x", "", ""},
		{"invoke_agent", `no JSON`, "", "", ""},
	} {
		if agent, text := transcript.ExtractSubagentReply(c.tool, []byte(c.args), c.output); agent != c.agent ||
			text != c.text {
			t.Errorf("SubagentReply(%q, %s) = %q, %q, want %q, %q", c.tool, c.args, agent, text, c.agent, c.text)
		}
	}
}

// TestSubagentOfGemini tests that a sub-agent's text is stored once, although both the hook and the transcript report
// it.
func TestSubagentOfGemini(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chats", "session-1.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	lines := `{"sessionId":"s1","projectHash":"x","startTime":"2026-11-28T05:00:00Z","kind":"main"}
{"id":"m1","timestamp":"2026-11-28T05:00:00Z","type":"user","content":"find the parser"}
{"id":"m2","timestamp":"2026-11-28T05:00:01Z","type":"gemini","content":"","model":"g","toolCalls":[{"id":"c1","name":"invoke_agent","args":{"agent_name":"generalist","prompt":"look"},"status":"success","timestamp":"2026-11-28T05:00:02Z","result":[{"functionResponse":{"id":"c1","name":"invoke_agent","response":{"output":"Subagent 'generalist' finished.\nTermination Reason: GOAL\nResult:\nThe parser is in b.go."}}}]}]}
{"id":"m3","timestamp":"2026-11-28T05:00:03Z","type":"gemini","content":"It is in b.go.","model":"g"}
`
	if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	events, _ := readAll(t, "gemini", path, "")
	hook := session.Event{Client: "gemini", Session: "s1", Kind: session.KindText, SubAgent: "generalist",
		Text: "The parser is in b.go.", Time: events[len(events)-1].Time}
	turns := session.BuildTurns(append(events, hook))
	said := 0
	for _, turn := range turns {
		for _, e := range turn.Events {
			if e.Kind == session.KindText && e.SubAgent == "generalist" && e.Text == hook.Text {
				said++
			}
		}
	}
	if len(turns) != 1 || said != 1 {
		t.Errorf("%d turns have the text %d times, want one turn that has it once: %+v", len(turns), said, turns)
	}
}
