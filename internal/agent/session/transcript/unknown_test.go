// This file tests that parts that a reader leaves out or does not understand are counted, and that a person's commands
// are not prompts.

package transcript_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/agent/session/transcript"
)

// countParts reads a transcript. The result events contains the events, one a line. The result parts is a sorted list
// of what the reader did not store: the number and kind of the parts that were left out, and the place, number and kind
// of the parts that the reader does not know.
func countParts(t *testing.T, client, path string) (events string, parts []string) {
	t.Helper()
	some, next, err := transcript.NewFinishedTranscriptReader(strings.TrimSpace, func(r transcript.ReadReport) {
		for _, line := range r.FirstBadLines {
			t.Errorf("unread: %s", line)
		}
		for kind, count := range r.LeftOutParts {
			parts = append(parts, fmt.Sprint(count, " ", kind))
		}
		for _, p := range r.UnknownPartPlaces {
			parts = append(
				parts,
				fmt.Sprintf("%s: %d %s", strings.ReplaceAll(p.Place.String(), path, "unknown"), p.Count, p.Kind),
			)
		}
	})(t.Context(), client, path, "")
	if err != nil {
		t.Fatal(err)
	}
	if next == "" {
		t.Error("the reader returned no cursor")
	}
	slices.Sort(parts)
	return told(some), parts
}

const (
	geminiHead  = `{"sessionId":"s1","projectHash":"h","startTime":"2026-03-30T10:28:00.000Z","kind":"main"}`
	geminiTime  = `"timestamp":"2026-03-30T10:28:04.070Z",`
	copilotHead = `{"type":"session.start","timestamp":"2026-03-01T10:01:00Z","data":{"sessionId":"s1","producer":"copilot-agent"}}`
	copilotTime = `"timestamp":"2026-03-01T10:01:01Z",`
	copilotCall = `"data":{"toolCallId":"c1","toolName":"bash","arguments":{"command":"ls"}}}`
	qwenHead    = `{"sessionId":"s1","timestamp":"2026-03-01T10:01:00Z",`
	codexText   = codexHead + `"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":`
)

// opencodeSession returns an exported opencode session with these messages.
func opencodeSession(messages ...string) string {
	return `{"info":{"id":"ses_1","directory":"/home/pat/harbor"},` + "\n" + `"messages":[` +
		strings.Join(messages, ",") + `]}`
}

// TestPersonShell reads a command that the person ran, in the form of each client. The command must become a call of
// the tool user_shell, and not a prompt.
func TestPersonShell(t *testing.T) {
	for _, tt := range []struct {
		name, client, file string
		lines              []string
		want               string
	}{
		{"Claude Code", "claude", "1.jsonl", []string{
			claudeHead + `"type":"user","uuid":"u1","promptId":"p1","message":{"content":"Raise the jetty."}}`,
			claudeHead + `"type":"user","uuid":"u2","promptId":"p2","message":{"content":"<bash-input>git status</bash-input>"}}`,
			claudeHead + `"type":"user","uuid":"u3","promptId":"p2","message":{"content":"<bash-stdout>clean</bash-stdout><bash-stderr></bash-stderr>"}}`,
			claudeHead + `"type":"user","uuid":"u4","message":{"content":[{"type":"text","text":"<bash-input> make\n all </bash-input>"}]}}`,
			claudeHead + `"type":"user","uuid":"u5","message":{"content":[{"type":"text","text":"<bash-stderr>no rule</bash-stderr>"}]}}`,
			claudeHead + `"type":"user","uuid":"u6","message":{"content":"<bash-stdout>of an earlier command</bash-stdout>"}}`,
			claudeHead + `"type":"user","uuid":"u7","message":{"content":"What does <bash-input> mean?"}}`,
		}, "prompt Raise the jetty.\ncall user_shell git status\ncall user_shell make\n all\n" +
			"prompt What does <bash-input> mean?"},
		{"Codex", "codex", "rollout-1.jsonl", []string{
			codexMeta,
			codexText + `"Raise the jetty."}]}}`,
			codexText + `"<user_shell_command>\n<command>\ngo test ./...\n</command>\n<result>\nExit code: 2\nDuration: 0.1 seconds\nOutput:\nFAIL\n</result>\n</user_shell_command>"}]}}`,
		}, "prompt Raise the jetty.\nfailed user_shell go test ./..."},
		{"Gemini CLI", "gemini", "session-1.jsonl", []string{
			geminiHead,
			`{"id":"m1",` + geminiTime + `"type":"user","content":[{"text":"I ran the following shell command:\n` +
				"```sh\\ngit diff --stat\\n```\\n\\nThis produced the following result:\\n```\\n a.go | 1 +\\n```" + `"}]}`,
			`{"id":"m2",` + geminiTime + `"type":"user","content":"I ran the following shell command:\nls\n\nThis produced the following result:\na.go"}`,
			`{"id":"m3",` + geminiTime + `"type":"user","content":"I ran the following shell command: ls. Why does it fail?"}`,
		}, "call user_shell git diff --stat\ncall user_shell ls\n" +
			"prompt I ran the following shell command: ls. Why does it fail?"},
		{"Qwen Code", "qwen", "1.jsonl", []string{
			qwenHead + `"uuid":"u1","type":"user","provenance":"real_user","message":{"parts":[{"text":"I ran the following shell command:\n` +
				"```sh\\nls\\n```\\n\\nThis produced the following result:\\n```\\na.go\\n```" + `"}]}}`,
		}, "call user_shell ls"},
		{"Copilot CLI", "copilot", "events.jsonl", []string{
			copilotHead,
			`{"type":"tool.user_requested",` + copilotTime + copilotCall,
			`{"type":"tool.execution_start",` + copilotTime + copilotCall,
			`{"type":"tool.execution_complete",` + copilotTime +
				`"data":{"toolCallId":"c1","success":true,"result":{"content":"a.go"}}}`,
		}, "call user_shell ls"},
		{"opencode", "opencode", "session.json", []string{opencodeSession(
			`{"info":{"id":"m1","role":"user","time":{"created":1760000000000}},"parts":[{"id":"p1","type":"text","synthetic":true,"text":"The following tool was executed by the user"}]}`,
			`{"info":{"id":"m2","role":"assistant","time":{"created":1760000001000}},"parts":[{"id":"p2","type":"tool","tool":"bash","callID":"c1","state":{"status":"completed","input":{"command":"ls"},"output":"a.go"}}]}`,
			`{"info":{"id":"m3","role":"assistant","time":{"created":1760000002000}},"parts":[{"id":"p3","type":"tool","tool":"bash","callID":"c2","state":{"status":"completed","input":{"command":"make"},"output":""}}]}`,
		)}, "call user_shell ls\ncall bash make"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			events, parts := countParts(t, tt.client, write(t, tt.file, tt.lines...))
			if events != tt.want || len(parts) > 0 {
				t.Errorf("the events are\n%s\nwant\n%s\nparts: %q", events, tt.want, parts)
			}
		})
	}
}

// TestParts reads transcripts with images beside texts, and with lines, events and blocks of types that no version of
// the client has. Types that a client is known to write beside the conversation must not be counted.
func TestParts(t *testing.T) {
	for _, tt := range []struct {
		name, client, file string
		lines              []string
		want               string
		parts              []string
	}{
		{"Claude Code", "claude", "1.jsonl", []string{
			claudeHead + `"type":"user","uuid":"u1","message":{"content":[{"type":"text","text":"What is this?"},{"type":"image","source":{}},{"type":"document"}]}}`,
			claudeHead + `"type":"assistant","uuid":"u2","message":{"model":"m","content":[{"type":"text","text":"A crane."},{"type":"hologram","data":"x"},{"type":"redacted_thinking","data":"x"},{"type":"aside","text":"By the way."}]}}`,
			claudeHead + `"type":"attachment","uuid":"u3","attachment":{"type":"queued_command","commandMode":"prompt","prompt":[{"type":"image"},{"type":"text","text":"And this?"}]}}`,
			`{"type":"file-history-snapshot","messageId":"u1"}`,
			`{"type":"ai-title","sessionId":"s1","aiTitle":"Cranes"}`,
			`{"type":"hologram","sessionId":"s1"}`,
			`{"type":"hologram","sessionId":"s1"}`,
		}, "prompt What is this?\ntext A crane.\ntext By the way.\nprompt And this?", []string{
			"3 images and other files", `unknown:2: 1 blocks of the type "hologram"`,
			`unknown:6: 1 lines of the type "hologram"`, `unknown:7: 1 lines of the type "hologram"`}},
		{"Codex", "codex", "rollout-1.jsonl", []string{
			codexMeta,
			codexText + `"Raise the jetty."},{"type":"input_image","image_url":"data:x"}]}}`,
			codexHead + `"event_msg","payload":{"type":"user_message","message":"Raise the jetty.","images":["data:x"]}}`,
			codexHead + `"event_msg","payload":{"type":"item_completed","item":{"type":"Plan","id":"i1","text":"1. Raise."}}}`,
			codexHead + `"event_msg","payload":{"type":"item_completed","item":{"type":"Sleep","id":"i2"}}}`,
			codexHead + `"event_msg","payload":{"type":"item_completed","item":{"type":"Hologram","id":"i3"}}}`,
			codexHead + `"event_msg","payload":{"type":"thread_rolled_back","num_turns":1}}`,
			codexHead + `"event_msg","payload":{"type":"hologram"}}`,
			codexHead + `"response_item","payload":{"type":"compaction_summary","encrypted_content":"x"}}`,
			codexHead + `"response_item","payload":{"type":"hologram"}}`,
			codexHead + `"world_state","payload":{"full":true}}`,
			codexHead + `"hologram","payload":{}}`,
		}, "prompt Raise the jetty.\ntext 1. Raise.", []string{
			"1 images and other files", `unknown:10: 1 items of the type "hologram"`,
			`unknown:12: 1 lines of the type "hologram"`, `unknown:6: 1 items of the type "Hologram"`,
			`unknown:8: 1 events of the type "hologram"`}},
		{"Gemini CLI", "gemini", "session-1.jsonl", []string{
			geminiHead,
			`{"id":"m1",` + geminiTime + `"type":"user","content":[{"text":"What is this?"},{"inlineData":{"data":"x"}}]}`,
			`{"id":"m2",` + geminiTime + `"type":"info","content":"Update available."}`,
			`{"id":"m3",` + geminiTime + `"type":"hologram","content":"x"}`,
			`{"id":"m3",` + geminiTime + `"type":"hologram","content":"xy"}`,
			`{"$set":{"memoryScratchpad":{}}}`,
			`{"$merge":{}}`,
		}, "prompt What is this?", []string{
			"1 images and other files", `unknown:4: 1 messages of the type "hologram"`,
			"unknown:7: 1 lines without a type"}},
		{"Qwen Code", "qwen", "1.jsonl", []string{
			qwenHead + `"uuid":"u1","type":"user","provenance":"real_user","message":{"parts":[{"text":"What is this?"},{"inlineData":{"data":"x"}}]}}`,
			qwenHead + `"uuid":"u2","type":"user","provenance":"goal_runtime","message":{"parts":[{"text":"Continue with the goal."}]}}`,
			qwenHead + `"uuid":"u3","type":"user","subtype":"realtime_message","message":{"parts":[{"text":"Said aloud."}]}}`,
			qwenHead + `"uuid":"u4","type":"user","subtype":"hologram","message":{"parts":[{"text":"x"}]}}`,
			qwenHead + `"uuid":"u5","type":"system","subtype":"rewind"}`,
			qwenHead + `"uuid":"u6","type":"system","subtype":"hologram"}`,
			qwenHead + `"uuid":"u7","type":"hologram"}`,
		}, "prompt What is this?\nprompt Said aloud.", []string{
			"1 images and other files", `unknown:4: 1 user lines of the type "hologram"`,
			`unknown:6: 1 system lines of the type "hologram"`, `unknown:7: 1 lines of the type "hologram"`}},
		{"Copilot CLI", "copilot", "events.jsonl", []string{
			copilotHead,
			`{"type":"user.message",` + copilotTime + `"data":{"content":"What is this?","attachments":[{"type":"file"}],"interactionId":"i1"}}`,
			`{"type":"session.usage_checkpoint",` + copilotTime + `"data":{}}`,
			`{"type":"hologram.shown",` + copilotTime + `"data":{}}`,
		}, "prompt What is this?", []string{
			"1 images and other files", `unknown:4: 1 lines of the type "hologram.shown"`}},
		{"opencode", "opencode", "session.json", []string{opencodeSession(
			`{"info":{"id":"m1","role":"user","time":{"created":1760000000000}},"parts":[{"id":"p1","type":"text","text":"What is this?"},{"id":"p2","type":"file"},{"id":"p3","type":"hologram"}]}`,
			`{"info":{"id":"m2","role":"assistant","time":{"created":1760000001000}},"parts":[{"id":"p4","type":"step-start"},{"id":"p5","type":"text","text":"A crane."},{"id":"p6","type":"hologram"}]}`,
		)}, "prompt What is this?\ntext A crane.", []string{
			"1 images and other files", `unknown, messages[0]: 1 parts of the type "hologram"`,
			`unknown, messages[1]: 1 parts of the type "hologram"`}},
		{"pi", "pi", "1.jsonl", []string{
			`{"type":"session","id":"s1","timestamp":"2026-03-01T10:01:00Z","cwd":"/home/pat/harbor"}`,
			`{"type":"message","id":"e1","timestamp":"2026-03-01T10:01:01Z","message":{"role":"user","content":[{"type":"text","text":"What is this?"},{"type":"image","data":"x"},{"type":"hologram"}]}}`,
			`{"type":"active_tools_change","id":"e2","activeToolNames":["bash"]}`,
			`{"type":"message","id":"e3","message":{"role":"hookMessage","content":"Inserted by an extension."}}`,
		}, "prompt What is this?", []string{
			"1 images and other files", `unknown:2: 1 blocks of the type "hologram"`}},
		{"Cline", "cline", "ui_messages.json", []string{
			`[{"ts":1788188400000,"type":"say","say":"task","text":"Raise the jetty."},`,
			`{"ts":1788188400001,"type":"say","say":"api_req_rate_limited","text":"{}"},`,
			`{"ts":1788188400002,"type":"say","say":"hologram","text":"x"},`,
			`{"ts":1788188400003,"type":"ask","ask":"new_task","text":"Paint the pier."},`,
			`{"ts":1788188400004,"type":"ask","ask":"report_bug","text":"{\"title\":\"x\"}"}]`,
		}, "prompt Raise the jetty.\ncall new_task\ncall report_bug", []string{
			`unknown, [2]: 1 messages of the type "hologram"`}},
		{"Goose", "goose", "g1.jsonl", []string{
			`{"working_dir":"/home/pat/harbor","message_count":1}`,
			`{"id":"m1","role":"assistant","created":1788188400,"content":[{"type":"reasoning","text":"It is low."},{"type":"text","text":"Raised."},{"type":"hologram"}]}`,
		}, "text Raised.", []string{`unknown:2: 1 parts of the type "hologram"`}},
		{"VS Code", "vscode", "v1.json", []string{
			`{"sessionId":"s1","requests":[{"requestId":"r1","timestamp":1788188400000,"message":{"text":"Raise the jetty."},"response":[{"kind":"autoModeResolution"},{"kind":"info"},{"kind":"mcpServersStartingSlow"},{"value":"Raised."}]},` +
				`{"requestId":"r2","timestamp":1788188400001,"message":{"text":"And now?"},"response":[{"kind":"hologram"}]}]}`,
		}, "prompt Raise the jetty.\ntext Raised.\nprompt And now?", []string{
			`unknown:1, requests[1]: 1 parts of the type "hologram"`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			events, parts := countParts(t, tt.client, write(t, tt.file, tt.lines...))
			if events != tt.want || !slices.Equal(parts, tt.parts) {
				t.Errorf("the events are\n%s\nwant\n%s\nthe parts are\n%s\nwant\n%s", events, tt.want,
					strings.Join(parts, "\n"), strings.Join(tt.parts, "\n"))
			}
		})
	}
}

// TestUnknownInChatExports reads exported conversations with messages of unknown types, authors and senders. They must
// be named with their conversations. Messages that the service hid, and types without a text, need no attention.
func TestUnknownInChatExports(t *testing.T) {
	message := func(role, contentType, more string) string {
		return fmt.Sprintf(`{"author":{"role":%q},"content":{"content_type":%q,"parts":["It is deep."]}%s}`,
			role, contentType, more)
	}
	gpt := `[{"conversation_id":"c-1","mapping":{` +
		`"a":{"message":` + message("user", "text", "") + `},` +
		`"b":{"parent":"a","message":` + message("assistant", "quantum_card", "") + `},` +
		`"c":{"parent":"b","message":` + message("oracle", "text", "") + `},` +
		`"d":{"parent":"c","message":` + message("assistant", "model_editable_context", "") + `},` +
		`"e":{"parent":"d","message":` +
		message("assistant", "hidden_card", `,"metadata":{"is_visually_hidden_from_conversation":true}`) + `},` +
		`"f":{"parent":"e","message":` + message("assistant", "text", "") + `}}}]`
	claude := `[{"uuid":"d-1","chat_messages":[` +
		`{"uuid":"m1","sender":"human","text":"How deep is it?"},` +
		`{"uuid":"m2","sender":"oracle","text":"Bottomless."},` +
		`{"uuid":"m3","sender":"assistant","content":[{"type":"text","text":"Three metres."},{"type":"hologram"}]}]}]`
	for _, tt := range []struct {
		client, text, want string
		parts              []string
	}{
		{transcript.ChatGPT, gpt, "prompt It is deep.\ntext It is deep.", []string{
			"1 messages of the type model_editable_context", "1 messages that the service hid",
			`unknown, conversation c-1: 1 messages of the type "oracle"`,
			`unknown, conversation c-1: 1 messages of the type "quantum_card"`}},
		{transcript.ClaudeAI, claude, "prompt How deep is it?\ntext Three metres.", []string{
			`unknown, conversation d-1: 1 messages of the type "oracle"`,
			`unknown, conversation d-1: 1 parts of the type "hologram"`}},
	} {
		events, parts := countParts(t, tt.client, write(t, "conversations.json", tt.text))
		if events != tt.want || !slices.Equal(parts, tt.parts) {
			t.Errorf("%s: the events are\n%s\nwant\n%s\nthe parts are\n%s\nwant\n%s", tt.client, events, tt.want,
				strings.Join(parts, "\n"), strings.Join(tt.parts, "\n"))
		}
	}
}
