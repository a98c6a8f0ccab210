// This file tests transcripts in which text is easily lost: other versions of a client, attachments, prompts in
// unusual places, and damaged files. The formats come from public examples. The texts are our own.

package transcript_test

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/agent/session/transcript"
)

// readWhole reads a whole transcript as an import does. It returns the events, and the reasons for lines that were not
// read.
func readWhole(t *testing.T, client, path string) (events []session.Event, unread []string) {
	t.Helper()
	read := transcript.NewFinishedTranscriptReader(strings.TrimSpace, func(r transcript.ReadReport) {
		for _, line := range r.FirstBadLines {
			unread = append(unread, line.Reason)
		}
	})
	for at := ""; ; {
		some, next, err := read(t.Context(), client, path, at)
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, some...)
		if next == at || strings.Contains(strings.Join(unread, ""), "incomplete;") {
			return events, unread
		}
		at = next
	}
}

const (
	claudeHead = `{"sessionId":"s1","cwd":"/home/pat/harbor","timestamp":"2026-03-01T10:01:00.000Z",`
	codexHead  = `{"timestamp":"2026-02-01T10:00:01.000Z","type":`
)

func TestHistories(t *testing.T) {
	for _, tt := range []struct {
		name, client, file string
		lines              []string
		want               string
		unread             int
	}{
		{"Claude Code: a prompt that is an image only", "claude", "1.jsonl", []string{
			claudeHead + `"type":"user","uuid":"u1","message":{"content":[{"type":"image","source":{"type":"base64","data":"aGk="}}]}}`,
			claudeHead + `"type":"assistant","uuid":"u2","message":{"model":"m","content":[{"type":"text","text":"A crane."}]}}`,
		}, "prompt [image]\ntext A crane.", 0},
		{"Claude Code: words of the person beside results", "claude", "1.jsonl", []string{
			claudeHead + `"type":"user","uuid":"u1","message":{"content":"Raise the jetty."}}`,
			claudeHead + `"type":"assistant","uuid":"u2","message":{"model":"m","content":[{"type":"tool_use","id":"c1","name":"Bash","input":{"command":"ls"}},{"type":"tool_use","id":"c2","name":"Bash","input":{"command":"rm a"}}]}}`,
			claudeHead + `"type":"user","uuid":"u3","message":{"content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"a"}]},{"type":"text","text":"And oil it."}]}}`,
			claudeHead + `"type":"user","uuid":"u4","message":{"content":[{"type":"tool_result","tool_use_id":"c2","is_error":true,"content":"The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nKeep a."},{"type":"text","text":"[Request interrupted by user for tool use]"}]}}`,
		}, "prompt Raise the jetty.\ncall Bash ls\nprompt And oil it.\nfailed Bash rm a\nprompt Keep a.", 0},
		{"Claude Code: a branch names the lines that it copied", "claude", "1.jsonl", []string{
			claudeHead + `"type":"user","uuid":"u1","forkedFrom":{"sessionId":"s0","messageUuid":"u1"},"message":{"content":"Raise the jetty."}}`,
			claudeHead + `"type":"assistant","uuid":"u2","forkedFrom":{"sessionId":"s0","messageUuid":"u2"},"message":{"model":"m","content":[{"type":"text","text":"Raised."}]}}`,
			claudeHead + `"type":"user","uuid":"u3","parentUuid":"u2","message":{"content":"Paint it."}}`,
		}, "prompt Paint it.", 0},
		{"Claude Code: tools that the server runs, and many blocks in a line", "claude", "1.jsonl", []string{
			claudeHead + `"type":"user","uuid":"u1","message":{"content":"Which tide?"}}`,
			claudeHead + `"type":"assistant","uuid":"u2","message":{"model":"m","content":[{"type":"server_tool_use","id":"w1","name":"web_search","input":{"query":"tide"}},{"type":"web_search_tool_result","tool_use_id":"w1","content":[{"type":"web_search_result","title":"Tides"}]},{"type":"text","text":"2"},{"type":"text","text":"3"},{"type":"text","text":"4"},{"type":"text","text":"5"},{"type":"text","text":"6"},{"type":"text","text":"7"},{"type":"text","text":"8"},{"type":"text","text":"9"},{"type":"text","text":"10"},{"type":"text","text":"11"},{"type":"text","text":"12"}]}}`,
		}, "prompt Which tide?\ncall web_search\ntext 2\ntext 3\ntext 4\ntext 5\ntext 6\ntext 7\ntext 8\ntext 9\ntext 10\ntext 11\ntext 12", 0},
		{"two objects in a line, and an object after a torn one", "claude", "1.jsonl", []string{
			claudeHead + `"type":"user","uuid":"u1","message":{"content":"Raise the jetty."}}` +
				claudeHead + `"type":"user","uuid":"u2","message":{"content":"Oil it."}}`,
			claudeHead + `"type":"user","uuid":"u3","message":{"content":"Pai` +
				claudeHead + `"type":"user","uuid":"u4","message":{"content":"Sail."}}`,
			"\x00\x00\x00" +
				claudeHead + `"type":"user","uuid":"u5","message":{"content":"}{ is no end."}}` + "\x00\x00",
			claudeHead + `"type":"user","uuid":"u6","message":{"content":"Row."}} and noise`,
		}, "prompt Raise the jetty.\nprompt Oil it.\nprompt Sail.\nprompt }{ is no end.\nprompt Row.", 2},
		{"CRLF, a byte order mark, and an incomplete last line", "claude", "1.jsonl", []string{
			"\ufeff" + claudeHead + `"type":"user","uuid":"u1","message":{"content":"Raise the jetty."}}` + "\r\n\r\n" +
				claudeHead + `"type":"user","uuid":"u2","message":{"content":"Oil it."}}` + "\r\n" +
				claudeHead + `"type":"us`,
		}, "prompt Raise the jetty.\nprompt Oil it.", 1},
		{"Codex: a newer version continues the session", "codex", "rollout-1.jsonl", []string{
			codexMeta,
			codexHead + `"turn_context","payload":{"turn_id":"t1"}}`,
			codexHead + `"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>x</environment_context>"}]}}`,
			codexHead + `"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Go on."}]}}`,
			codexHead + `"event_msg","payload":{"type":"user_message","message":"Go on."}}`,
			codexHead + `"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}}`,
			codexHead + `"turn_context","payload":{"turn_id":"t2"}}`,
			codexHead + `"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Go on."}]}}`,
			codexHead + `"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done again."}]}}`,
			codexHead + `"turn_context","payload":{"turn_id":"t3"}}`,
			codexHead + `"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"The plug-in says hi."}],"internal_chat_message_metadata_passthrough":{"content_item_kinds":["plugin.text"]}}}`,
			codexHead + `"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<my_tag> is broken."}],"internal_chat_message_metadata_passthrough":{"content_item_kinds":["user.text"]}}}`,
		}, "prompt Go on.\ntext Done.\nprompt Go on.\ntext Done again.\nprompt <my_tag> is broken.", 0},
		{"Codex: images, markup before a prompt, and a search by the server", "codex", "rollout-1.jsonl", []string{
			codexMeta,
			codexHead + `"turn_context","payload":{"turn_id":"t1"}}`,
			codexHead + `"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<image name=[Image #1]>"},{"type":"input_image","image_url":"data:x"},{"type":"input_text","text":"</image>"},{"type":"input_text","text":"What is this?"}]}}`,
			codexHead + `"response_item","payload":{"type":"web_search_call","status":"completed","action":{"type":"search","query":"tide"}}}`,
			codexHead + `"turn_context","payload":{"turn_id":"t2"}}`,
			codexHead + `"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<div> is broken."}]}}`,
			codexHead + `"turn_context","payload":{"turn_id":"t3"}}`,
			codexHead + `"event_msg","payload":{"type":"user_message","message":"","images":["data:x"]}}`,
		}, "prompt What is this?\ncall web_search_call\nprompt <div> is broken.\nprompt [image]", 0},
		{"Codex: a fork whose copied lines keep their times", "codex", "rollout-1.jsonl", []string{
			`{"timestamp":"2026-02-03T10:00:00.000Z","type":"session_meta","payload":{"id":"s2","forked_from_id":"s1","cwd":"/home/pat/harbor"}}`,
			`{"timestamp":"2026-02-01T10:00:00.000Z","type":"event_msg","payload":{"type":"user_message","message":"Build the pier."}}`,
			`{"timestamp":"2026-02-01T10:07:00.001Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Built."}]}}`,
			`{"timestamp":"2026-02-03T10:05:00.000Z","type":"event_msg","payload":{"type":"user_message","message":"Paint the pier."}}`,
		}, "prompt Paint the pier.", 0},
		{"Codex until May 2025", "codex", "rollout-1.json", []string{
			`{"session":{"timestamp":"2025-04-20T10:00:00.000Z","id":"s1","instructions":""},"items":[`,
			`{"type":"message","role":"user","content":[{"type":"input_text","text":"Mend the crane."}]},`,
			`{"type":"function_call","id":"fc1","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"ls\"]}","call_id":"c1"},`,
			`{"type":"function_call_output","call_id":"c1","output":"{\"output\":\"no\",\"metadata\":{\"exit_code\":2}}"},`,
			`{"type":"message","id":"m1","role":"assistant","content":[{"type":"output_text","text":"Mended."}]}]}`,
		}, "prompt Mend the crane.\nfailed Bash ls\ntext Mended.", 0},
		{"Gemini CLI: a file that the person named, and an image", "gemini", "session-1.jsonl", []string{
			`{"sessionId":"s1","projectHash":"h","startTime":"2026-03-30T10:28:00.000Z","kind":"main"}`,
			`{"id":"m1","timestamp":"2026-03-30T10:28:04.070Z","type":"user","content":[{"text":"Read @a.go"},{"text":"package a"}],"displayContent":[{"text":"Read @a.go"}]}`,
			`{"id":"m2","timestamp":"2026-03-30T10:28:05.070Z","type":"gemini","content":"Read.","model":"g"}`,
			`{"id":"m3","timestamp":"2026-03-30T10:28:06.070Z","type":"user","content":[{"inlineData":{"mimeType":"image/png","data":"aGk="}}]}`,
		}, "prompt Read @a.go\ntext Read.\nprompt [file]", 0},
		{"Gemini CLI: a call that ends after the person wrote", "gemini", "session-1.jsonl", []string{
			`{"sessionId":"s1","projectHash":"h","startTime":"2026-03-30T10:28:00.000Z","kind":"main"}`,
			`{"id":"m1","timestamp":"2026-03-30T10:28:04.070Z","type":"user","content":"List."}`,
			`{"id":"m2","timestamp":"2026-03-30T10:28:05.070Z","type":"gemini","content":"","model":"g","toolCalls":[{"id":"c1","name":"run_shell_command","args":{"command":"ls"},"status":"executing"}]}`,
			`{"id":"m3","timestamp":"2026-03-30T10:28:06.070Z","type":"user","content":"Faster."}`,
			`{"id":"m2","timestamp":"2026-03-30T10:28:05.070Z","type":"gemini","content":"Listed.","model":"g","toolCalls":[{"id":"c1","name":"run_shell_command","args":{"command":"ls"},"status":"success","result":[{"functionResponse":{"response":{"output":"a"}}}]}]}`,
		}, "prompt List.\nprompt Faster.\ntext Listed.\ncall run_shell_command ls", 0},
		{"Copilot CLI in a file of its own, and a prompt of files", "copilot", "s1.jsonl", []string{
			`{"type":"session.start","timestamp":"2026-03-01T10:01:00Z","data":{"sessionId":"s1","producer":"copilot-agent"}}`,
			`{"type":"user.message","timestamp":"2026-03-01T10:01:01Z","data":{"content":"","attachments":[{"type":"file"}],"interactionId":"i1"}}`,
		}, "prompt [file]", 0},
		{"Copilot CLI, the first versions", "copilot", "session_s1_1.json", []string{
			`{"sessionId":"s1","startTime":"2025-10-08T21:10:16.398Z","chatMessages":[{"role":"user","content":"Raise the jetty."},`,
			`{"role":"assistant","content":"I look.","tool_calls":[{"id":"c1","type":"function","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}}]},`,
			`{"role":"tool","tool_call_id":"c1","content":"a\n<exited with exit code 0>"},{"role":"assistant","content":"Raised."},{"role":"user","content":"Thanks."}],`,
			`"timeline":[{"type":"user","text":"Raise the jetty.","timestamp":"2025-10-08T21:10:20.000Z"},{"type":"copilot","text":"Raised."},{"type":"user","text":"Thanks.","timestamp":"2025-10-08T21:12:00.000Z"}]}`,
		}, "prompt Raise the jetty.\ntext I look.\ncall bash ls\ntext Raised.\nprompt Thanks.", 0},
		{"Copilot CLI, the first versions with the timeline only", "copilot", "session_s1_1.json", []string{
			`{"sessionId":"s1","startTime":"2025-09-26T15:09:16.679Z","timeline":[{"type":"user","text":"Raise the jetty.","timestamp":"2025-09-26T15:09:20.000Z"},`,
			`{"type":"copilot","text":"Raised.","timestamp":"2025-09-26T15:09:30.000Z"}]}`,
		}, "prompt Raise the jetty.\ntext Raised.", 0},
		{"Qwen Code: typed while it worked, and a last prompt without an answer", "qwen", "1.jsonl", []string{
			`{"uuid":"u1","sessionId":"s1","timestamp":"2026-03-01T10:01:00Z","type":"user","message":{"parts":[{"text":"Raise the jetty.\n--- a.go ---\npackage a"}]},"systemPayload":{"displayText":"Raise the jetty."}}`,
			`{"uuid":"u2","sessionId":"s1","timestamp":"2026-03-01T10:01:01Z","type":"assistant","message":{"parts":[{"text":"I do."}]}}`,
			`{"uuid":"u3","sessionId":"s1","timestamp":"2026-03-01T10:01:02Z","type":"user","subtype":"mid_turn_user_message","message":{"parts":[{"text":"[User message received during tool execution] Oil it."}]},"systemPayload":{"displayText":"Oil it."}}`,
			`{"uuid":"u4","sessionId":"s1","timestamp":"2026-03-01T10:01:03Z","type":"user","subtype":"cron","message":{"parts":[{"text":"Look again."}]}}`,
			`{"uuid":"u5","sessionId":"s1","timestamp":"2026-03-01T10:01:04Z","type":"user","message":{"parts":[{"inlineData":{"mimeType":"image/png","data":"aGk="}}]}}`,
		}, "prompt Raise the jetty.\ntext I do.\nprompt Oil it.\nprompt [file]", 0},
		{"Qwen Code in 2025", "qwen", "session-1.json", []string{
			`{"sessionId":"s1","projectHash":"h","startTime":"2025-11-01T10:28:04.070Z","messages":[{"id":"m1","timestamp":"2025-11-01T10:28:04.070Z","type":"user","content":"Where is the dredger?"},`,
			`{"id":"m2","timestamp":"2025-11-01T10:28:16.793Z","type":"qwen","content":"At the north quay.","model":"qwen3-coder"}]}`,
		}, "prompt Where is the dredger?\ntext At the north quay.", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := write(t, tt.file, tt.lines...)
			if tt.unread == 1 {
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, bytes.TrimRight(text, "\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			events, unread := readWhole(t, tt.client, path)
			if got := told(events); got != tt.want {
				t.Errorf("the events are\n%s\nwant\n%s", got, tt.want)
			}
			if len(unread) != tt.unread {
				t.Errorf("unread: %q, want %d", unread, tt.unread)
			}
			for _, e := range events {
				if e.Time.IsZero() {
					t.Errorf("the event %q has no time", e.Text)
				}
			}
			ids := map[string]bool{}
			for _, e := range events {
				if e.Kind == session.KindText && e.ID != "" && ids[e.ID] {
					t.Errorf("two texts have the ID %s", e.ID)
				}
				ids[e.ID] = true
			}
		})
	}
}

// put writes a file, and creates its directory.
func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestPlaces tests that transcripts are found where older versions stored them, behind symbolic links, and after the
// person has compressed them.
func TestPlaces(t *testing.T) {
	home := t.TempDir()
	ask := claudeHead + `"type":"user","uuid":"u1","message":{"content":"Raise the jetty."}}` + "\n"
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte(ask)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	in := func(names ...string) string { return filepath.Join(append([]string{home}, names...)...) }
	storage := in(".local", "share", "opencode", "storage")
	old := in(".local", "share", "opencode", "project", "harbor", "storage", "session")
	for path, text := range map[string]string{
		in(".claude", "projects", "p", "packed.jsonl.gz"):            packed.String(),
		in(".config", "claude", "projects", "p", "xdg.jsonl"):        ask,
		in("elsewhere", "p", "linked.jsonl"):                         ask,
		in(".codex", "sessions", "rollout-2025-04-20-a.json"):        `{"session":{"id":"s1"},"items":[]}`,
		in(".copilot", "session-state", "flat.jsonl"):                ask,
		in(".copilot", "session-state", "s2", "events.jsonl"):        ask,
		in(".copilot", "session-state", "s2", "files", "data.jsonl"): ask,
		in(".copilot", "history-session-state", "session_s3_1.json"): `{}`,
		in(".qwen", "tmp", "h", "chats", "session-1.json"):           `{}`,

		filepath.Join(storage, "session", "p1", "ses_1.json"): `{"id":"ses_1","directory":"/home/pat/harbor"}`,
		filepath.Join(storage, "message", "ses_1", "msg_1.json"): `{"id":"msg_1","role":"user",
			"time":{"created":1760000000000}}`,
		filepath.Join(storage, "message", "ses_1", "msg_2.json"): `{"id":"msg_2","role":"assistant","modelID":"m",
			"time":{"created":1760000001000}}`,
		filepath.Join(storage, "message", "ses_1", "msg_3.json"): `{"id":"msg_3`,
		filepath.Join(storage, "part", "msg_1", "prt_1.json"): `{"id":"prt_1","type":"text",
			"text":"Paint the pier."}`,
		filepath.Join(storage, "part", "msg_2", "prt_2.json"): `{"id":"prt_2","type":"text","text":"Painted."}`,
		filepath.Join(old, "info", "ses_2.json"):              `{"id":"ses_2"}`,
		filepath.Join(old, "message", "ses_2", "msg_4.json"): `{"id":"msg_4","role":"user",
			"time":{"created":1750000000000}}`,
		filepath.Join(old, "part", "ses_2", "msg_4", "prt_4.json"): `{"id":"prt_4","type":"text",
			"text":"Build the pier."}`,
	} {
		put(t, path, text)
	}
	link := func(to, from string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(from), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, from); err != nil {
			t.Skipf("symbolic links cannot be made: %v", err)
		}
	}
	link(in("elsewhere", "p"), in(".claude", "projects", "linked"))
	link(in(".claude", "projects"), in(".claude", "projects", "circle"))
	link(in("missing"), in(".claude", "projects", "nowhere"))
	link(in("missing"), in(".claude", "projects", "nowhere.jsonl"))
	got := map[string]transcript.FoundTranscript{}
	for _, f := range transcript.FindTranscripts(home, func(string) string { return "" },
		"claude", "codex", "copilot", "qwen", "opencode") {
		got[filepath.Base(f.Path)] = f
	}
	want := []string{"events.jsonl", "flat.jsonl", "linked.jsonl", "nowhere.jsonl", "packed.jsonl.gz",
		"rollout-2025-04-20-a.json", "ses_1.json", "ses_2.json", "session-1.json", "session_s3_1.json", "xdg.jsonl"}
	var names []string
	for name := range got {
		names = append(names, name)
	}
	slices.Sort(names)
	if !slices.Equal(names, want) {
		t.Fatalf("found %q, want %q", names, want)
	}
	for name, want := range map[string]string{
		"packed.jsonl.gz": "prompt Raise the jetty.", "linked.jsonl": "prompt Raise the jetty.",
		"ses_1.json": "prompt Paint the pier.\ntext Painted.", "ses_2.json": "prompt Build the pier.",
	} {
		events, unread := readWhole(t, got[name].Client, got[name].Path)
		if told(events) != want {
			t.Errorf("%s: the events are\n%s\nwant\n%s", name, told(events), want)
		}
		if isDamaged := name == "ses_1.json"; isDamaged != (len(unread) == 1) {
			t.Errorf("%s: unread %q", name, unread)
		}
	}
	read := transcript.NewReader(strings.TrimSpace, nil)
	if _, _, err := read(t.Context(), "claude", got["nowhere.jsonl"].Path, ""); err == nil {
		t.Error("a link that leads nowhere is read")
	}
}
