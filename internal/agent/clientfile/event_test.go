// This file tests the conversion of transcripts to events.

package clientfile

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// eventsOf returns the events in a client's transcript as text, one event on each line.
func eventsOf(tb testing.TB, client, lines string) string {
	tb.Helper()
	for _, c := range EventClients {
		if c.Name != client {
			continue
		}
		var all []string
		r := c.NewReader("")
		offset := int64(0)
		for line := range strings.Lines(lines) {
			if !r.ParseLine([]byte(line), offset, func(e *Event) { all = append(all, describe(e)) }) {
				tb.Errorf("line %q cannot be read", line)
			}
			offset += int64(len(line))
		}
		return strings.Join(all, "\n")
	}
	tb.Fatalf("%s is not in the table of clients", client)
	return ""
}

var kindNames = map[EventKind]string{EventPrompt: "prompt", EventText: "text",
	EventAgentThought: "thought", EventToolCall: "call", EventFileEdit: "edit", EventToolResult: "result",
	EventConversationCompacted: "compacted",
	EventNonTextParts:          "left out", EventUnknown: "unknown"}

func describe(e *Event) string {
	s := kindNames[e.Kind]
	if e.IsCopy {
		s = "copied " + s
	}
	for _, part := range []string{e.AgentName, e.ID, e.TurnID, e.Text, e.ToolName, string(e.Args), e.ResultText()} {
		if part != "" {
			s += " " + part
		}
	}
	if e.ExitStatus != nil {
		s += fmt.Sprint(" exit ", *e.ExitStatus)
	}
	if e.HasFailed {
		s += " failed"
	}
	if e.NodeID != "" {
		s += " @" + e.NodeID + "<" + e.ParentNodeID
	}
	return s
}

// TestCopilotEvents reads a Copilot transcript with a prompt, a skill's text that the transcript contains as a message
// of the user, reasoning, a call that is reported twice, a sub-agent's task and a compaction.
func TestCopilotEvents(t *testing.T) {
	got := eventsOf(t, "copilot", `{"type":"session.start","data":{"sessionId":"s","producer":"copilot-agent"}}
{"type":"user.message","data":{"content":"Raise the jetty.","interactionId":"i1"}}
{"type":"user.message","data":{"content":"How to raise.","source":"skill-jetty","interactionId":"i1"}}
{"type":"assistant.message","data":{"messageId":"m1","reasoningText":"It is low.","content":"I raise it.","toolRequests":[{"toolCallId":"c1","name":"task","arguments":{"a":1}}]}}
{"type":"tool.execution_start","data":{"toolCallId":"c1","toolName":"task","arguments":{"a":1}}}
{"type":"subagent.started","agentId":"a","data":{"agentName":"mason"}}
{"type":"user.message","agentId":"a","data":{"content":"Lay stones.","source":"agent-s","interactionId":"i2"}}
{"type":"tool.execution_complete","data":{"toolCallId":"c1","success":false,"error":{"message":"no stones"}}}
{"type":"session.compaction_complete","data":{"success":false}}
{"type":"session.compaction_complete","data":{"success":true,"summaryContent":"It was low."}}
`)
	want := `prompt i1 Raise the jetty.
thought m1 It is low.
text m1 I raise it.
call c1 task {"a":1}
call c1 task {"a":1}
prompt mason i2 Lay stones.
result c1 no stones failed
compacted It was low.`
	if got != want {
		t.Errorf("the events are\n%s\nwant\n%s", got, want)
	}
}

// TestQwenEvents reads a Qwen Code transcript with these parts: prompts with and without telemetry lines, two of them
// typed before the agent answered, a notification in the person's name, reasoning, and calls that ended in several
// ways.
func TestQwenEvents(t *testing.T) {
	got := eventsOf(
		t,
		"qwen",
		`{"uuid":"u1","sessionId":"s","type":"user","message":{"parts":[{"text":"Raise the jetty."}]}}
{"uuid":"u2","sessionId":"s","type":"user","message":{"parts":[{"text":"And "},{"text":"oil it."}]}}
{"uuid":"u3","sessionId":"s","type":"system","subtype":"ui_telemetry","systemPayload":{"uiEvent":{"prompt_id":"p2"}}}
{"uuid":"u4","sessionId":"s","type":"user","provenance":"system","subtype":"notification","message":{"parts":[{"text":"A task ended."}]}}
{"uuid":"u5","sessionId":"s","type":"assistant","message":{"parts":[{"text":"It is low.","thought":true},{"text":"I raise it."},{"functionCall":{"id":"c1","name":"edit","args":{"a":1}}}]}}
{"uuid":"u6","sessionId":"s","type":"tool_result","message":{"parts":[{"functionResponse":{"id":"c1","response":{"output":"stopped"}}}]},"toolCallResult":{"callId":"c1","status":"cancelled"}}
{"uuid":"u7","sessionId":"s","type":"tool_result","message":{"parts":[{"functionResponse":{"id":"c2","response":{"error":"no oil"}}}]},"toolCallResult":{"callId":"c2","resultDisplay":{"exitCode":3}}}
{"uuid":"u8","sessionId":"s","type":"system","subtype":"chat_compression"}
`,
	)
	want := `prompt u1 u1 Raise the jetty.
prompt u2 p2 And oil it.
thought u5 It is low.
text u5 I raise it.
call c1 edit {"a":1}
result c1 stopped failed
result c2 no oil exit 3 failed
compacted u8`
	if got != want {
		t.Errorf("the events are\n%s\nwant\n%s", got, want)
	}
}

// TestGeminiEvents reads a Gemini CLI transcript with these parts: a message that grows, a rewind to the first prompt,
// a resumed session that repeats all messages but one, calls that ended in several ways, and a compaction.
func TestGeminiEvents(t *testing.T) {
	got := eventsOf(t, "gemini", `{"sessionId":"s","startTime":"t","kind":"main"}
{"id":"m1","type":"user","content":[{"text":"Raise the jetty."}]}
{"id":"m2","type":"gemini","content":"I raise","thoughts":[{"subject":"Low","description":"It is low."}]}
{"id":"m2","type":"gemini","content":"I raise it.","thoughts":[{"subject":"Low","description":"It is low."}],"toolCalls":[{"id":"c1","name":"replace","args":{"a":1},"status":"executing"}]}
{"id":"m2","type":"gemini","content":"I raise it.","toolCalls":[{"id":"c1","name":"replace","args":{"a":1},"status":"cancelled","result":[{"functionResponse":{"response":{"error":"stopped"}}}]}]}
{"id":"m3","type":"user","content":[{"functionResponse":{"id":"c1"}}]}
{"id":"m4","type":"gemini","content":"Stopped."}
{"$rewindTo":"m1"}
{"id":"m5","type":"user","content":"Lower it."}
{"$set":{"messages":[{"id":"m1","type":"user","content":"Raise the jetty."},{"id":"m6","type":"gemini","content":"Lowered."}]}}
{"$set":{"messages":[{"id":"m7","type":"user","content":"<state_snapshot>It is low.</state_snapshot>"}]}}
`)
	want := `prompt m1 m1 Raise the jetty. @m1<
thought m2 Low
It is low. @m2<m1
text m2 I raise @m2<m1
text m2 I raise it. @m2<m1
call c1 replace {"a":1} @m2<m1
result c1 stopped failed @m2<m1
text m4 Stopped. @m4<m2
prompt m5 m5 Lower it. @m5<
text m6 Lowered. @m6<m5
compacted m7 <state_snapshot>It is low.</state_snapshot> @m7<m6`
	if got != want {
		t.Errorf("the events are\n%s\nwant\n%s", got, want)
	}
}

// TestClaudeEvents reads a Claude Code transcript with these parts: the copied beginning of a fork, a rewind to the
// first prompt, two concurrent calls, a prompt that was typed while the agent worked, texts that no person wrote, and
// a compaction.
func TestClaudeEvents(t *testing.T) {
	got := eventsOf(t, "claude", `{"type":"file-history-snapshot","uuid":"h","timestamp":"2026-03-01T10:00:00Z"}
{"type":"user","uuid":"u0","parentUuid":null,"timestamp":"2026-02-28T10:00:00Z","message":{"content":"Build it."}}
{"type":"user","uuid":"u1","parentUuid":"u0","timestamp":"2026-03-01T10:01:00Z","promptId":"p1","message":{"content":[{"type":"text","text":"Raise it."}]}}
{"type":"assistant","uuid":"u2","parentUuid":"u1","timestamp":"2026-03-01T10:01:01Z","message":{"model":"m","content":[{"type":"thinking","thinking":"Low."},{"type":"text","text":"I raise it."}]}}
{"type":"assistant","uuid":"u3","parentUuid":"u2","timestamp":"2026-03-01T10:01:02Z","message":{"model":"m","content":[{"type":"tool_use","id":"c1","name":"Bash","input":{}}]}}
{"type":"assistant","uuid":"u4","parentUuid":"u3","timestamp":"2026-03-01T10:01:02Z","message":{"model":"m","content":[{"type":"tool_use","id":"c2","name":"Bash","input":{}}]}}
{"type":"user","uuid":"u5","parentUuid":"u3","timestamp":"2026-03-01T10:01:03Z","promptId":"p1","message":{"content":[{"type":"tool_result","tool_use_id":"c1","content":"ok"}]}}
{"type":"user","uuid":"u6","parentUuid":"u4","timestamp":"2026-03-01T10:01:03Z","promptId":"p1","message":{"content":[{"type":"tool_result","tool_use_id":"c2","content":"no","is_error":true},{"type":"text","text":"<system-reminder>"}]}}
{"type":"attachment","uuid":"u7","parentUuid":"u6","timestamp":"2026-03-01T10:01:04Z","attachment":{"type":"queued_command","prompt":"And oil it.","commandMode":"prompt"}}
{"type":"attachment","uuid":"u8","parentUuid":"u7","timestamp":"2026-03-01T10:01:05Z","attachment":{"type":"queued_command","prompt":"A task ended.","commandMode":"task-notification"}}
{"type":"attachment","uuid":"u9","parentUuid":"u8","timestamp":"2026-03-01T10:01:05Z","attachment":{"type":"date"}}
{"type":"assistant","uuid":"u10","parentUuid":"u9","timestamp":"2026-03-01T10:01:06Z","message":{"model":"m","content":"Oiled."}}
{"type":"assistant","uuid":"u11","parentUuid":"u10","timestamp":"2026-03-01T10:01:06Z","message":{"model":"<synthetic>","content":[{"type":"text","text":"API Error"}]}}
{"type":"user","uuid":"u12","parentUuid":"u0","timestamp":"2026-03-01T10:02:00Z","origin":{"kind":"hook"},"message":{"content":"run the linter"}}
{"type":"user","uuid":"u13","logicalParentUuid":"u12","timestamp":"2026-03-01T10:03:00Z","isCompactSummary":true,"message":{"content":"It is raised."}}
{"type":"user","uuid":"s1","isSidechain":true,"agentId":"a1","timestamp":"2026-03-01T10:03:00Z","promptId":"p1","message":{"content":"Lay stones."}}
`)
	want := `copied prompt u0 u0 Build it. @u0<
prompt u1 p1 Raise it. @u1<u0
thought u2 Low. @u2<u1
text u2.1 I raise it. @u2<u1
call c1 Bash {} @u3<u2
call c2 Bash {} @u4<u3
result c1 ok @u5<u3
result c2 no failed @u6<u4
prompt u7 p1 And oil it. @u7<u6
text u10 Oiled. @u10<u7
compacted u13 It is raised. @u13<u0
prompt s1 p1 Lay stones. @s1<`
	if got != want {
		t.Errorf("the events are\n%s\nwant\n%s", got, want)
	}
}

// TestOpencodeEvents reads all three forms of opencode sessions: a document, hook reports, and notes.
func TestOpencodeEvents(t *testing.T) {
	for _, tt := range []struct{ name, lines, want string }{
		{"a document", `{"info":{"id":"ses_1"},"messages":[{"info":{"id":"m1","role":"user","time":{"created":1}},` +
			`"parts":[{"type":"text","text":"Called the tool","synthetic":true},{"type":"text","text":"Raise it."}]},` +
			`{"info":{"role":"assistant"},"parts":[{"id":"p1","type":"reasoning","text":"Low."},` +
			`{"id":"p2","type":"text","text":"I raise it."},` +
			`{"type":"tool","callID":"c1","tool":"bash","state":{"status":"completed","input":{"a":1},"output":"boom",` +
			`"metadata":{"exit":3}}},{"type":"tool","callID":"c2","tool":"edit","state":{"status":"running"}}]}]}`,
			`prompt m1 m1 Raise it.
thought p1 Low.
text p2 I raise it.
call c1 bash {"a":1}
result c1 boom exit 3
call c2 edit`},
		{"reports and notes", `{"hook_event_name":"UserPromptSubmit","session_id":"ses_1","turn_id":"m1","prompt":"\"Raise it.\""}
{"hook_event_name":"AgentText","session_id":"ses_1","agent_type":"mason","text":"I raise it.","text_id":"p1"}
{"hook_event_name":"PostToolUseFailure","session_id":"ses_1","tool_name":"edit","tool_use_id":"c1","tool_input":{},"error":"no"}
{"client":"opencode","kind":"prompt","session":"ses_1","turn":"m2","text":"Oil it."}
{"client":"opencode","kind":"call","session":"ses_1","call":{"wrote":["a.go"]}}
`, "prompt m1 Raise it.\ntext mason p1 I raise it.\ncall c1 edit {}\nresult c1 no failed\nprompt m2 Oil it.\nedit"},
	} {
		if got := eventsOf(t, "opencode", tt.lines); got != tt.want {
			t.Errorf("%s: the events are\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

// TestCodexEvents reads a Codex transcript with these parts: prompts with and without an event that repeats them,
// texts that Codex inserted, texts and reasoning in two types of lines, calls that ended in several ways, file changes
// without a call, and the copied beginning of a fork.
func TestCodexEvents(t *testing.T) {
	message := func(role, text string) string {
		return `{"type":"response_item","payload":{"type":"message","role":"` + role +
			`","content":[{"type":"input_text","text":"` + text + `"},` +
			`{"type":"output_text","text":"` + text + `"}]}}` + "\n"
	}
	event := func(members string) string { return `{"type":"event_msg","payload":{` + members + "}}\n" }
	item := func(members string) string { return `{"type":"response_item","payload":{` + members + "}}\n" }
	call := func(id, tool, args string) string {
		return item(`"type":"function_call","call_id":"` + id + `","name":"` + tool + `","arguments":"` + args + `"`)
	}
	output := func(id, text string) string {
		return item(`"type":"function_call_output","call_id":"` + id + `","output":"` + text + `"`)
	}
	const meta = `{"type":"session_meta","payload":{"id":"s"}}` + "\n"
	for _, tt := range []struct{ name, lines, want string }{
		{"an event repeats the prompt", meta + event(`"type":"task_started","turn_id":"t1"`) +
			message("user", "<environment_context>") + message("user", "Raise it.") +
			event(`"type":"user_message","message":"Raise it."`) +
			event(`"type":"agent_reasoning","text":"Low."`) +
			item(`"type":"reasoning","summary":[{"type":"summary_text","text":"Low."}]`) +
			event(`"type":"agent_message","message":"Done."`) + message("assistant", "Done.") +
			message("user", "Remember the tide.") + message("assistant", "Yes."),
			"prompt t1 Raise it.\nthought Low.\ntext Done.\ntext Yes."},
		{"no event repeats the prompt", meta + message("user", "Raise it.") + message("assistant", "Done."),
			"prompt Raise it.\ntext Done."},
		{"events without messages", meta + event(`"type":"user_message","message":"Raise it."`) +
			event(`"type":"agent_message","message":"Done."`), "prompt Raise it.\ntext Done."},
		{"calls", meta + call("c1", "shell", `{\"command\":[\"apply_patch\",\"*** Begin Patch\"]}`) +
			output("c1", "denied") + call("c2", "apply_patch", "*** Begin Patch") + output("c2", "Done!") +
			call("c3", "plan", "{}") + output("c3", "unsupported call: plan") +
			event(`"type":"patch_apply_end","call_id":"exec-1","success":true,"changes":{}`) +
			call("c4", "exec_command", "{}") + event(`"type":"exec_command_end","call_id":"c4","exit_code":3`) +
			output("c4", "boom"),
			`call c1 Bash {"command":["apply_patch","*** Begin Patch"]}
result c1 denied failed
call c2 apply_patch {"input":"*** Begin Patch"}
result c2 Done!
call c3 plan {}
result c3 unsupported call: plan failed
edit exec-1
call c4 Bash {}
result c4 boom exit 3`},
		{"a fork", `{"timestamp":"2026-02-03T10:00:00Z","type":"session_meta","payload":{"id":"s2","forked_from_id":"s"}}
{"timestamp":"2026-02-03T10:00:00Z","type":"event_msg","payload":{"type":"user_message","message":"Raise it."}}
{"timestamp":"2026-02-03T10:05:00Z","type":"event_msg","payload":{"type":"user_message","message":"Paint it."}}
{"timestamp":"2026-02-03T10:05:01Z","type":"compacted","payload":{"message":"It is raised."}}
`, "copied prompt Raise it.\nprompt Paint it.\ncompacted It is raised."},
	} {
		if got := eventsOf(t, "codex", tt.lines); got != tt.want {
			t.Errorf("%s: the events are\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

// TestDocuments tests which texts ReadDocument regards as one document. It reads an object on one line, an object on
// several lines, and lines of which the first is damaged.
func TestDocuments(t *testing.T) {
	document := `{"sessionId":"s","messages":[{"id":"m1","type":"user","content":"Raise it."}]}`
	for text, want := range map[string]bool{
		document:                       false, // A single line is read as a line, not as a document.
		"\ufeff\n{\n" + document[1:]:   true,
		"{\n" + document + "\n":        false,
		"{\"a\":\n" + document + "}\n": true,
		"":                             false,
	} {
		got, rest, err := ReadDocument(bufio.NewReaderSize(strings.NewReader(text), 16))
		if err != nil || (got != nil) != want || (want && string(got) != text) {
			t.Errorf("ReadDocument(%q) = %q, %v; want a document: %t", text, got, err, want)
		}
		if b, err := io.ReadAll(rest); !want && (err != nil || string(b) != text) {
			t.Errorf("after ReadDocument(%q) the lines are %q, %v", text, b, err)
		}
	}
	if got, want := eventsOf(t, "gemini", document), "prompt m1 m1 Raise it. @m1<"; got != want {
		t.Errorf("the events of a document are %q, want %q", got, want)
	}
}

// TestGeminiSubagent tests that a sub-agent's session is named by the directory of its transcript.
func TestGeminiSubagent(t *testing.T) {
	r := newGeminiReader(filepath.Join(t.TempDir(), "chats", "parent", "child.jsonl"))
	r.ParseLine([]byte(`{"sessionId":"child","startTime":"t","kind":"subagent"}`), 0, nil)
	r.ParseLine([]byte(`{"id":"m1","type":"user","content":"Lay stones."}`), 1, func(e *Event) {
		if e.Session != "parent" || e.AgentID != "sub-agent" {
			t.Errorf("the task has session %q and agent %q, want parent and sub-agent", e.Session, e.AgentID)
		}
	})
}

// FuzzEventReaders tests that no input causes a panic. Each event must have a known kind. The event's offset must not
// be negative and must not be after the start of the line that was read last.
func FuzzEventReaders(f *testing.F) {
	files, err := filepath.Glob("../../hook/testdata/*/transcript*")
	if err != nil || len(files) == 0 {
		f.Fatalf("no recorded transcripts: %v", err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, c := range EventClients {
			r := c.NewReader("")
			offset := int64(0)
			for line := range bytes.Lines(b) {
				c.RecognizesLine(line)
				r.ParseLine(line, offset, func(e *Event) {
					if kindNames[e.Kind] == "" || e.Offset < 0 || e.Offset > offset {
						t.Errorf("%s: the line at %d has the event %+v", c.Name, offset, e)
					}
				})
				offset += int64(len(line))
			}
		}
	})
}
