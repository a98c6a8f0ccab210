// This file tests the formats that transcripts had in other versions of a client.

package transcript_test

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/agent/session/transcript"
)

// told returns the events of a transcript as text, one event a line. A line consists of the kind of the event and its
// text. The line of a tool call contains the tool, the command and the written files instead, and begins with "failed"
// if the call failed.
func told(events []session.Event) string {
	var lines []string
	for _, e := range events {
		switch {
		case e.Kind == session.KindPrompt:
			lines = append(lines, "prompt "+e.Text)
		case e.Kind == session.KindText:
			lines = append(lines, "text "+e.Text)
		case e.Kind == session.KindToolCall && e.Call.Failed:
			lines = append(lines, strings.TrimSpace("failed "+e.Call.Tool+" "+e.Call.Command+
				strings.Join(e.Call.WrittenFiles, ",")))
		case e.Kind == session.KindToolCall:
			lines = append(lines, strings.TrimSpace("call "+e.Call.Tool+" "+e.Call.Command+
				strings.Join(e.Call.WrittenFiles, ",")))
		default:
			lines = append(lines, string(e.Kind)+" "+e.Text)
		}
	}
	return strings.Join(lines, "\n")
}

// write writes a transcript with these lines, and returns its path.
func write(t *testing.T, name string, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const (
	codexMeta = `{"timestamp":"2026-02-01T10:00:00.000Z","type":"session_meta","payload":{"id":"s1","cwd":"/home/pat/harbor"}}`
	codexAsk  = `{"timestamp":"2026-02-01T10:00:01.000Z","type":"event_msg","payload":{"type":"user_message","message":"Change a to b."}}`
	patchCall = `{"timestamp":"2026-02-01T10:00:06.000Z","type":"response_item","payload":{"type":"custom_tool_call","call_id":"c2","name":"apply_patch","input":"*** Begin Patch\n*** Update File: a.go\n@@\n-a\n+b\n*** End Patch"}}`
)

// patchEnd returns the transcript line with the result of the tool call that patchCall returns. The argument output
// must be encoded as a JSON string.
func patchEnd(output string) string {
	return `{"timestamp":"2026-02-01T10:00:06.500Z","type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"c2","output":` + output + `}}`
}

func TestForms(t *testing.T) {
	for _, tt := range []struct {
		name, client, file string
		lines              []string
		want               string
	}{
		{"Codex before September 2025", "codex", "rollout-1.jsonl", []string{
			`{"id":"s1","timestamp":"2025-08-13T10:00:00.000Z","instructions":null}`,
			`{"record_type":"state"}`,
			`{"type":"message","id":null,"role":"user","content":[{"type":"input_text","text":"<environment_context>\n  <cwd>/home/pat/harbor</cwd>\n</environment_context>"}]}`,
			`{"type":"message","id":null,"role":"user","content":[{"type":"input_text","text":"Mend the crane."}]}`,
			`{"type":"function_call","id":"fc1","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"go vet ./...\"]}","call_id":"c1"}`,
			`{"type":"function_call_output","call_id":"c1","output":"{\"output\":\"clean\",\"metadata\":{\"exit_code\":0}}"}`,
			`{"type":"message","id":"m1","role":"assistant","content":[{"type":"output_text","text":"Mended."}]}`,
			`{"type":"message","id":null,"role":"user","content":[{"type":"input_text","text":"And oil it."}]}`,
			`{"type":"message","id":"m2","role":"assistant","content":[{"type":"output_text","text":"Oiled."}]}`,
		}, "prompt Mend the crane.\ncall Bash go vet ./...\ntext Mended.\nprompt And oil it.\ntext Oiled."},
		{"a patch that the output calls a success", "codex", "rollout-1.jsonl", []string{codexMeta, codexAsk, patchCall,
			patchEnd(
				`"{\"output\":\"Success. Updated the following files:\\nM a.go\\n\",\"metadata\":{\"exit_code\":0}}"`,
			)},
			"prompt Change a to b.\ncall apply_patch a.go"},
		{"a patch with a bare success", "codex", "rollout-1.jsonl",
			[]string{codexMeta, codexAsk, patchCall, patchEnd(`"Success. Updated the following files:\nM a.go\n"`)},
			"prompt Change a to b.\ncall apply_patch a.go"},
		{"a patch that failed", "codex", "rollout-1.jsonl", []string{codexMeta, codexAsk, patchCall,
			patchEnd(`"{\"output\":\"Invalid Context\",\"metadata\":{\"exit_code\":1}}"`)},
			"prompt Change a to b.\nfailed apply_patch"},
		{"a patch without an outcome", "codex", "rollout-1.jsonl",
			[]string{codexMeta, codexAsk, patchCall, patchEnd(`"verification failed"`)},
			"prompt Change a to b.\nfailed apply_patch"},
		{"a prompt from Codex' editor extension", "codex", "rollout-1.jsonl", []string{codexMeta,
			`{"timestamp":"2026-02-01T10:00:01.000Z","type":"event_msg","payload":{"type":"user_message","message":"# Context from my IDE setup:\n\n## Active file: a.go\n\n## My request for Codex:\nRaise the jetty."}}`},
			"prompt Raise the jetty."},
		{"replies as items, and the same as messages", "codex", "rollout-1.jsonl", []string{codexMeta,
			`{"timestamp":"2026-02-01T10:00:01.000Z","type":"event_msg","payload":{"type":"task_started","turn_id":"t1"}}`,
			`{"timestamp":"2026-02-01T10:00:01.000Z","type":"event_msg","payload":{"type":"item_completed","turn_id":"t1","item":{"type":"UserMessage","id":"i1","content":[{"type":"text","text":"Paint the pier."}]}}}`,
			`{"timestamp":"2026-02-01T10:00:05.000Z","type":"event_msg","payload":{"type":"item_completed","turn_id":"t1","item":{"type":"AgentMessage","id":"i2","content":[{"type":"Text","text":"Painted."}]}}}`,
			`{"timestamp":"2026-02-01T10:00:05.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Painted."}]}}`,
			`{"timestamp":"2026-02-01T10:00:06.000Z","type":"event_msg","payload":{"type":"item_completed","turn_id":"t1","item":{"type":"AgentMessage","id":"i3","content":[{"type":"Text","text":"Painted."}]}}}`,
		}, "prompt Paint the pier.\ntext Painted.\ntext Painted."},
		{"changes by a program that the model wrote", "codex", "rollout-1.jsonl", []string{codexMeta, codexAsk,
			`{"timestamp":"2026-02-01T10:00:02.000Z","type":"event_msg","payload":{"type":"agent_message","message":"I change it."}}`,
			`{"timestamp":"2026-02-01T10:00:03.000Z","type":"event_msg","payload":{"type":"patch_apply_end","call_id":"exec-1","success":true,"changes":{"b.go":{"type":"add","content":"b"},"a.go":{"type":"delete"}}}}`,
			patchCall,
			`{"timestamp":"2026-02-01T10:00:06.200Z","type":"event_msg","payload":{"type":"patch_apply_end","call_id":"c2","success":true,"changes":{"a.go":{"type":"add","content":"a"}}}}`,
			patchEnd(`""`)},
			"prompt Change a to b.\ntext I change it.\ncall apply_patch a.go,b.go\ncall apply_patch a.go"},
		{"a fork of Codex", "codex", "rollout-1.jsonl", []string{
			`{"timestamp":"2026-02-03T10:00:00.000Z","type":"session_meta","payload":{"id":"s2","forked_from_id":"s1","cwd":"/home/pat/harbor"}}`,
			`{"timestamp":"2026-02-03T10:00:00.000Z","type":"session_meta","payload":{"id":"s1","cwd":"/home/pat/harbor"}}`,
			`{"timestamp":"2026-02-03T10:00:00.000Z","type":"event_msg","payload":{"type":"user_message","message":"Build the pier."}}`,
			`{"timestamp":"2026-02-03T10:00:00.001Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Built."}]}}`,
			`{"timestamp":"2026-02-03T10:05:00.000Z","type":"event_msg","payload":{"type":"user_message","message":"Paint the pier."}}`,
			`{"timestamp":"2026-02-03T10:05:00.001Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Painted."}]}}`,
		}, "prompt Paint the pier.\ntext Painted."},
		{"Gemini CLI up to 0.38", "gemini", "session-1.json", []string{
			`{"sessionId":"s1","kind":"main","messages":[{"id":"m1","timestamp":"2026-03-30T10:28:04.070Z","type":"user","content":[{"text":"Where is the dredger?"}]},`,
			`{"id":"m2","timestamp":"2026-03-30T10:28:16.793Z","type":"gemini","content":"At the north quay.","model":"g","toolCalls":[{"id":"c1","name":"run_shell_command","args":{"command":"ls"},"status":"success","timestamp":"2026-03-30T10:28:11.793Z","result":[{"functionResponse":{"id":"c1","response":{"output":"a.go"}}}]}]},`,
			`{"id":"m3","timestamp":"2026-03-30T10:29:04.070Z","type":"user","content":"And the tug?"}]}`,
		}, "prompt Where is the dredger?\ntext At the north quay.\ncall run_shell_command ls\nprompt And the tug?"},
		{"two prompts before Qwen Code answered, and a call that was cancelled", "qwen", "1.jsonl", []string{
			`{"uuid":"u1","sessionId":"s1","timestamp":"2026-03-01T10:01:00Z","type":"user","message":{"parts":[{"text":"Raise the jetty."}]}}`,
			`{"uuid":"u2","sessionId":"s1","timestamp":"2026-03-01T10:01:05Z","type":"user","message":{"parts":[{"text":"And oil it."}]}}`,
			`{"uuid":"u3","sessionId":"s1","timestamp":"2026-03-01T10:01:09Z","type":"assistant","message":{"parts":[{"text":"I will."},{"functionCall":{"id":"c1","name":"edit","args":{"file_path":"a.go"}}}]}}`,
			`{"uuid":"u4","sessionId":"s1","timestamp":"2026-03-01T10:01:12Z","type":"tool_result","message":{"parts":[{"functionResponse":{"id":"c1","response":{"output":"cancelled by the person"}}}]},"toolCallResult":{"callId":"c1","status":"cancelled"}}`,
		}, "prompt Raise the jetty.\nprompt And oil it.\ntext I will.\nfailed edit"},
		{"a text of a skill in Copilot CLI, and a call that was requested only", "copilot", "1.jsonl", []string{
			`{"type":"session.start","timestamp":"2026-03-01T10:01:00Z","data":{"sessionId":"s1","producer":"copilot-agent"}}`,
			`{"type":"user.message","timestamp":"2026-03-01T10:01:01Z","data":{"content":"Raise the jetty.","interactionId":"i1"}}`,
			`{"type":"user.message","timestamp":"2026-03-01T10:01:02Z","data":{"content":"How to raise.","source":"skill-jetty","interactionId":"i1"}}`,
			`{"type":"assistant.message","timestamp":"2026-03-01T10:01:03Z","data":{"messageId":"m1","content":"I raise it.","toolRequests":[{"toolCallId":"c1","name":"create","arguments":{"path":"a.go"}}]}}`,
			`{"type":"tool.execution_complete","timestamp":"2026-03-01T10:01:04Z","data":{"toolCallId":"c1","success":true}}`,
		}, "prompt Raise the jetty.\ntext I raise it.\ncall create a.go"},
		{"a prompt typed while Claude Code worked, and a reply that is one text", "claude", "1.jsonl", []string{
			`{"sessionId":"s1","type":"user","uuid":"u1","promptId":"p1","timestamp":"2026-03-01T10:01:00.000Z","message":{"role":"user","content":"Raise the jetty."}}`,
			`{"sessionId":"s1","type":"attachment","uuid":"u2","timestamp":"2026-03-01T10:02:00.000Z","attachment":{"type":"queued_command","prompt":[{"type":"text","text":"And oil it."}],"commandMode":"prompt"}}`,
			`{"sessionId":"s1","type":"assistant","uuid":"u3","timestamp":"2026-03-01T10:03:00.000Z","message":{"role":"assistant","model":"m","content":"Done."}}`,
		}, "prompt Raise the jetty.\nprompt And oil it.\ntext Done."},
		{"what no person wrote in Claude Code", "claude", "1.jsonl", []string{
			`{"sessionId":"s1","type":"user","uuid":"u1","timestamp":"2026-03-01T10:01:00.000Z","message":{"role":"user","content":"Raise the jetty.\n<ide_opened_file>The user opened a.go</ide_opened_file>"},"origin":{"kind":"human"}}`,
			`{"sessionId":"s1","type":"user","uuid":"u2","timestamp":"2026-03-01T10:02:00.000Z","message":{"role":"user","content":"run the linter"},"origin":{"kind":"hook"}}`,
			`{"sessionId":"s1","type":"user","uuid":"u3","timestamp":"2026-03-01T10:03:00.000Z","message":{"role":"user","content":"Stop hook feedback:\nrun the linter"}}`,
			`{"sessionId":"s1","type":"user","uuid":"u4","timestamp":"2026-03-01T10:04:00.000Z","message":{"role":"user","content":"<teammate-message teammate_id=\"lead\">Check the crane.</teammate-message>"}}`,
			`{"sessionId":"s1","type":"user","uuid":"u5","timestamp":"2026-03-01T10:05:00.000Z","message":{"role":"user","content":"A channel pushed this."},"origin":{"kind":"channel"}}`,
		}, "prompt Raise the jetty."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := write(t, tt.file, tt.lines...)
			events, cursor := readAll(t, tt.client, path, "")
			if got := told(events); got != tt.want {
				t.Errorf("the events are\n%s\nwant\n%s", got, tt.want)
			}
			for _, e := range events {
				if e.Time.IsZero() {
					t.Errorf("the event %q has no time", cmp.Or(e.Text, string(e.Kind)))
				}
			}
			if again, _ := readAll(t, tt.client, path, cursor); len(again) > 0 && tt.file != "1.jsonl" {
				t.Errorf("reading again gave\n%s", told(again))
			}
		})
	}
}

// TestCompressed tests that a transcript that Codex has compressed is read like a plain one, and that it is found once
// if both exist.
func TestCompressed(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, ".codex", "sessions", "2026", "02", "01")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	text := []byte(codexMeta + "\n" + codexAsk + "\n" +
		strings.Repeat(patchCall+"\n"+patchEnd(`"Success. Updated"`)+"\n", 5000))
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	packed := encoder.EncodeAll(text, nil)
	plain, compressed := filepath.Join(dir, "rollout-1.jsonl"), filepath.Join(dir, "rollout-1.jsonl.zst")
	put := func(path string, data []byte) {
		t.Helper()
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(compressed, packed)
	find := func() []transcript.FoundTranscript {
		return transcript.FindTranscripts(home, func(string) string { return "" }, "codex")
	}
	if found := find(); len(found) != 1 || found[0].Path != compressed {
		t.Fatalf("Find = %+v, want the compressed transcript", found)
	}
	got, cursor := readAll(t, "codex", compressed, "")
	put(plain, text)
	if found := find(); len(found) != 1 || found[0].Path != plain {
		t.Errorf("Find = %+v, want the plain transcript only", found)
	}
	want, plainCursor := readAll(t, "codex", plain, "")
	// The cursor of a compressed transcript has no checksum.
	position := plainCursor[:strings.LastIndexByte(plainCursor, ' ')]
	if told(got) != told(want) || len(got) != 5001 || cursor != position {
		t.Errorf(
			"the compressed transcript gave %d events and the cursor %q, the plain one %d and %q",
			len(got),
			cursor,
			len(want),
			plainCursor,
		)
	}
	if again, next := readAll(t, "codex", compressed, cursor); len(again) > 0 || next != cursor {
		t.Errorf("reading again gave %d events and the cursor %q, want none and %q", len(again), next, cursor)
	}
	put(compressed, packed[:len(packed)/2])
	if _, _, err := transcript.NewReader(strings.TrimSpace, nil)(t.Context(), "codex", compressed, ""); err == nil {
		t.Error("half of a compressed transcript was read without an error")
	}
}
