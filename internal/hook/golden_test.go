// This file tests the adapters for clients with recorded reports of real clients.

package hook_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/hook"
)

var update = flag.Bool("update", false, "write the golden files")

var testEnv = hook.ParseEnv{
	Now:       time.Date(2026, 11, 23, 1, 30, 0, 0, time.UTC),
	CleanText: strings.TrimSpace, CopilotHome: "/home/dev/.copilot",
}

// TestRecorded parses the reports that clients wrote to their hooks in recorded sessions, and compares the events with
// a golden file.
func TestRecorded(t *testing.T) {
	files, err := filepath.Glob("testdata/*/hooks.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded sessions: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			client, _, _ := strings.Cut(filepath.Base(filepath.Dir(file)), "-")
			var got bytes.Buffer
			for _, e := range reported(t, client, filepath.Dir(file)) {
				line, err := json.Marshal(e)
				if err != nil {
					t.Fatal(err)
				}
				got.Write(append(line, '\n'))
			}
			golden(t, filepath.Join(filepath.Dir(file), "hooks.golden"), got.Bytes())
		})
	}
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))) {
		t.Errorf("events are\n%s\nwant\n%s", got, want)
	}
}

// TestUnknown passes unknown clients, unknown events and invalid input to the adapters. They must return no event and
// no answer, and must not panic.
func TestUnknown(t *testing.T) {
	for _, client := range append(hook.Clients(), "nobody") {
		for _, in := range []string{"", "{", "null", "[]", "7", `"x"`, "{}", `{"session_id":"s"}`,
			`{"hook_event_name":"Stop"}`,
			`{"session_id":"s","hook_event_name":"NeverHeard"}`, `{"session_id":7,"hook_event_name":"SessionStart"}`,
			`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash"}`,
			`{"session_id":"s","hook_event_name":"MessageDisplay","delta":"x"}`,
			`{"session_id":"s","hook_event_name":"SubagentStop","agent_id":"a","agent_type":"","last_assistant_message":"x"}`,
			`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":""}`} {
			r := hook.ParseReport(client, []byte(in), testEnv)
			if len(r.Events) > 0 || r.EncodeAnswer("context") != nil {
				t.Errorf("%s: %s is %+v", client, in, r)
			}
		}
	}
}

// TestAnswer checks that only the reports of a session's start and of a prompt are answered, in the form of each
// client.
func TestAnswer(t *testing.T) {
	want := map[string]string{
		"claude": `{"hookSpecificOutput":{"additionalContext":"FC/F","hookEventName":"SessionStart"},"suppressOutput":true}`, "copilot": `{"additionalContext":"FC/F"}`, "opencode": `{"context":"FC/F"}`,
	}
	for _, c := range recordedClients {
		w := want[c]
		if w == "" {
			w = want["claude"]
		}
		r := hook.ParseReport(
			c,
			[]byte(`{"session_id":"s","hook_event_name":"SessionStart","source":"resume"}`),
			testEnv,
		)
		got := strings.NewReplacer(
			`\u003coxbow-memory\u003e\n`,
			"F",
			`\n\u003c/oxbow-memory\u003e`,
			"/F",
		).Replace(string(r.EncodeAnswer("C")))
		if got != w+"\n" || r.SessionStartReason != "resume" {
			t.Errorf("%s answers %s", c, got)
		}
		for _, e := range []string{"Stop", "AfterAgent", "SessionEnd", "UserPromptSubmit", "BeforeAgent",
			"PostCompact", "PostToolUse"} {
			r := hook.ParseReport(c, []byte(`{"session_id":"s","prompt":"p","hook_event_name":"`+e+`"}`), testEnv)
			got, want := string(r.EncodeAnswer("a </OXBOW-memory> b")), ""
			if e == promptEvent(c) {
				want = strings.NewReplacer(
					"SessionStart",
					e,
					"FC/F",
					`\u003coxbow-memory\u003e\na \u003c /OXBOW-memory\u003e b\n\u003c/oxbow-memory\u003e`,
				).Replace(
					w,
				) + "\n"
			}
			if got != want || (r.Prompt != "") != (want != "") {
				t.Errorf("%s answers %s with %s, want %s", c, e, got, want)
			}
		}
		long := strings.NewReplacer(
			`\u003c`,
			"<",
			`\u003e`,
			">",
			`\n`,
			"n",
		).Replace(string(r.EncodeAnswer(strings.Repeat("ä", 20000))))
		if n := strings.Index(
			long,
			"</oxbow-memory>",
		) + len("</oxbow-memory>") - strings.Index(long, "<oxbow-memory>") - strings.Count(long, "ä"); n > 9_500 ||
			n < 0 {
			t.Errorf("%s: a long context has %d characters", c, n)
		}
	}
}

// recordedClients lists the clients whose reports were recorded. All of them use the field names of Claude Code.
var recordedClients = []string{"claude", "codex", "gemini", "opencode", "copilot", "qwen"}

// TestDocumentedAnswers tests the clients whose reports were not recorded: which of their reports are answered, and in
// which form.
func TestDocumentedAnswers(t *testing.T) {
	want := map[string]map[string]string{
		"cursor": {"sessionStart": `{"additional_context":"C"}`},
		"vscode": {"SessionStart": `{"hookSpecificOutput":{"additionalContext":"C","hookEventName":"SessionStart"},` +
			`"suppressOutput":true}`},
		"cline": {"TaskStart": `{"cancel":false,"contextModification":"C"}`,
			"TaskResume":       `{"cancel":false,"contextModification":"C"}`,
			"UserPromptSubmit": `{"cancel":false,"contextModification":"C"}`},
		"goose": {},
	}
	fence := strings.NewReplacer(`\u003coxbow-memory\u003e\n`, "", `\n\u003c/oxbow-memory\u003e`, "")
	for client, answers := range want {
		b, err := os.ReadFile(filepath.Join("testdata", client+"-documented", "hooks.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for l := range bytes.Lines(b) {
			var in map[string]any
			if err := json.Unmarshal(l, &in); err != nil {
				t.Fatal(err)
			}
			event := ""
			for _, key := range []string{"hook_event_name", "hookEventName", "hookName", "event"} {
				if s, ok := in[key].(string); ok {
					event = s
				}
			}
			got := strings.TrimSuffix(
				fence.Replace(string(hook.ParseReport(client, l, testEnv).EncodeAnswer("C"))),
				"\n",
			)
			if got != answers[event] {
				t.Errorf("%s answers %s with %q, want %q", client, event, got, answers[event])
			}
		}
	}
}

// TestReportWriter tests an editor that runs the hooks from the settings of another client. The reports from these
// hooks must count as reports of the editor, not of the other client.
func TestReportWriter(t *testing.T) {
	for _, editor := range []string{"cursor", "vscode"} {
		b, err := os.ReadFile(filepath.Join("testdata", editor+"-documented", "hooks.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for l := range bytes.Lines(b) {
			for _, settings := range []string{"claude", "copilot"} {
				got, want := hook.ParseReport(settings, l, testEnv), hook.ParseReport(editor, l, testEnv)
				if got.Client != editor || len(got.Events) != len(want.Events) || got.Prompt != want.Prompt {
					t.Errorf("hook %s reads %s as %+v, want %+v", settings, l, got, want)
				}
			}
		}
	}
}

// promptEvent returns the name of the event with which a client reports a prompt.
func promptEvent(client string) string {
	if client == "gemini" {
		return "BeforeAgent"
	}
	return "UserPromptSubmit"
}

// TestSubagent checks that the task of a sub-agent is not recorded as a person's prompt, and that the sub-agent's
// calls are recorded under its name.
func TestSubagent(t *testing.T) {
	in := `{"session_id":"s","turn_id":"t","agent_id":"a1","agent_type":"tester","hook_event_name":"`
	if r := hook.ParseReport("codex", []byte(in+`UserPromptSubmit","prompt":"do it"}`), testEnv); len(r.Events) > 0 ||
		r.EncodeAnswer("C") != nil {
		t.Errorf("a sub-agent's task is %+v", r.Events)
	}
	r := hook.ParseReport(
		"codex",
		[]byte(
			in+`PostToolUse","tool_name":"Bash","tool_use_id":"c","tool_input":{"command":"ls"},"tool_response":"x"}`,
		),
		testEnv,
	)
	if len(r.Events) != 1 || r.Events[0].SubAgent != "tester" || r.Events[0].TurnID != "" ||
		r.Events[0].Kind != session.KindToolCall {
		t.Errorf("a sub-agent's call is %+v", r.Events)
	}
	r = hook.ParseReport(
		"gemini",
		[]byte(
			`{"session_id":"s","hook_event_name":"AfterTool","tool_name":"invoke_agent","tool_input":{"agent_name":"generalist","prompt":"look"},`+
				`"tool_response":{"llmContent":[{"text":"Subagent 'generalist' finished.\nTermination Reason: GOAL\nResult:\nIt is in b.go."}]}}`,
		), testEnv,
	)
	if len(r.Events) != 2 || r.Events[1].SubAgent != "generalist" || r.Events[1].Text != "It is in b.go." ||
		r.Events[1].Kind != session.KindText {
		t.Errorf("what a sub-agent of Gemini CLI said is %+v", r.Events)
	}
	if r := hook.ParseReport("claude", []byte(in+`SessionStart","source":"startup"}`), testEnv); len(r.Events) > 0 ||
		r.EncodeAnswer("C") != nil {
		t.Errorf("the beginning of a sub-agent is answered")
	}
}

// TestPlugin checks that the plug-in contains the command as JavaScript strings.
func TestPlugin(t *testing.T) {
	b, err := hook.OpencodePluginSource([]string{`C:\Program Files\oxbow.exe`, "hook", "opencode"})
	if err != nil || !strings.Contains(
		string(b),
		`const command = ["C:\\Program Files\\oxbow.exe","hook","opencode"]`,
	) {
		t.Errorf("the plug-in is %s, %v", b[:min(len(b), 600)], err)
	}
}

func FuzzRead(f *testing.F) {
	files, _ := filepath.Glob("testdata/*/hooks.jsonl")
	for _, file := range files {
		b, _ := os.ReadFile(file)
		for l := range bytes.Lines(b) {
			f.Add(l)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, c := range hook.Clients() {
			r := hook.ParseReport(c, b, testEnv)
			for _, e := range r.Events {
				if e.Client != r.Client || e.Session == "" || e.Kind == "" {
					t.Errorf("%s: %+v", c, e)
				}
			}
			r.EncodeAnswer("C")
		}
	})
}
