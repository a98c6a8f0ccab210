// This file tests transcripts that grow or are rewritten between two imports, long lines, and lists of prompts.

package transcript_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/agent/session/transcript"
)

// importTo reads the part of a transcript after the argument cursor. It appends the events to the slice *all, and
// returns the cursor at the end of the transcript.
func importTo(t *testing.T, all *[]session.Event, client, path, cursor string) string {
	t.Helper()
	read := transcript.NewFinishedTranscriptReader(strings.TrimSpace, nil)
	for {
		events, next, err := read(t.Context(), client, path, cursor)
		if err != nil {
			t.Fatal(err)
		}
		*all = append(*all, events...)
		if next == cursor {
			return next
		}
		cursor = next
	}
}

// describeTurns returns the turns that consist of the events, as text.
func describeTurns(events []session.Event) string {
	var b strings.Builder
	for _, turn := range session.BuildTurns(events) {
		fmt.Fprintf(
			&b,
			"%d %s %v %v %s\n%s\n",
			turn.Number,
			turn.PromptID,
			turn.StartTime,
			turn.EndTime,
			turn.Dir(),
			told(turn.Events),
		)
	}
	return b.String()
}

// TestGrowing imports each recorded transcript many times while it grows by a few bytes, so that many imports end
// within a line. The resulting turns must be those of a single import.
func TestGrowing(t *testing.T) {
	for _, file := range recorded(t) {
		client := clientOf(file)
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(filepath.Dir(file))+"-"+filepath.Base(file), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), filepath.Base(file))
			put(t, path, string(whole))
			var want, got []session.Event
			importTo(t, &want, client, path, "")
			cursor := ""
			step := max(1, len(whole)/41)
			for end := step; end < len(whole)+step; end += step {
				put(t, path, string(whole[:min(end, len(whole))]))
				cursor = importTo(t, &got, client, path, cursor)
			}
			if g, w := describeTurns(got), describeTurns(want); g != w {
				t.Errorf("the turns of many imports differ from those of one: %s", difference(g, w))
			}
			var again []session.Event
			if next := importTo(t, &again, client, path, cursor); next != cursor || len(again) > 0 {
				t.Errorf(
					"an import of the same file gave %d events and the cursor %q, want %q",
					len(again),
					next,
					cursor,
				)
			}
		})
	}
}

// TestRewritten imports a transcript, and imports it again after the client has rewritten it. The rewritten file has
// lost its beginning, is longer than before, or has the same length. After both imports, the events must contain each
// of the four turns once.
func TestRewritten(t *testing.T) {
	ask := func(uuid, text string) string {
		return claudeHead + `"type":"user","uuid":"` + uuid + `","promptId":"` + uuid + `",` +
			`"message":{"content":"` + text + `"}}`
	}
	begin := []string{ask("u1", "Build the pier."), ask("u2", "Paint the pier."), ask("u3", "Raise the jetty.")}
	for name, rewritten := range map[string][]string{
		"without the beginning": {ask("u3", "Raise the jetty."), ask("u4", "Oil it.")},
		"longer than before": {ask("u3", "Raise the jetty."), ask("u4", "Oil it."),
			`{"type":"mode","sessionId":"s1","mode":"` + strings.Repeat("t", 600) + `"}`},
		"with the same length": {ask("u1", "Build the pier."), ask("u2", "Paint the pier."),
			ask("u4", "Oil it........ .")},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, "1.jsonl", begin...)
			var got []session.Event
			cursor := importTo(t, &got, "claude", path, "")
			put(t, path, strings.Join(rewritten, "\n")+"\n")
			importTo(t, &got, "claude", path, cursor)
			prompts := map[string]bool{}
			for _, turn := range session.BuildTurns(got) {
				if prompts[turn.PromptID] {
					t.Errorf("the turn %s occurs twice", turn.PromptID)
				}
				prompts[turn.PromptID] = true
			}
			if ids := slices.Sorted(maps.Keys(prompts)); !slices.Equal(ids, []string{"u1", "u2", "u3", "u4"}) {
				t.Errorf("the turns are %q", ids)
			}
		})
	}
}

// TestLongLines reads lines that are longer than any buffer. A line of more than 64 MB must be reported, and the lines
// after it must be read.
func TestLongLines(t *testing.T) {
	for _, tt := range []struct {
		name           string
		size           int
		prompts        int
		unread         string
		isLast, isTorn bool
	}{
		{name: "20 MB", size: 20 << 20, prompts: 3},
		{name: "20 MB at the end", size: 20 << 20, prompts: 2, isLast: true},
		{name: "70 MB", size: 70 << 20, prompts: 2, unread: "it is longer than 64 MB"},
		{name: "70 MB at the end", size: 70 << 20, prompts: 1, isLast: true, unread: "it is longer than 64 MB"},
		{name: "70 MB at the end, incomplete", size: 70 << 20, prompts: 1, isLast: true, isTorn: true,
			unread: "it is longer than 64 MB"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := claudeHead + `"type":"user","uuid":"u1","promptId":"p1","message":{"content":"Raise the jetty."}}` + "\n" +
				claudeHead + `"type":"user","uuid":"u2","promptId":"p2","message":{"content":[{"type":"text","text":"What is this?"},` +
				`{"type":"image","source":{"data":"` + strings.Repeat(
				"x",
				tt.size,
			)
			if !tt.isTorn {
				text += `"}}]}}` + "\n"
			}
			if !tt.isLast {
				text += claudeHead + `"type":"user","uuid":"u3","promptId":"p3","message":{"content":"Oil it."}}` + "\n"
			}
			path := filepath.Join(t.TempDir(), "1.jsonl")
			put(t, path, text)
			events, unread := readWhole(t, "claude", path)
			if len(events) != tt.prompts || strings.Join(unread, "") != tt.unread {
				t.Errorf("%d events, unread %q; want %d and %q", len(events), unread, tt.prompts, tt.unread)
			}
		})
	}
}

// TestPromptLists reads the lists of prompts of four clients. A prompt must be reported only if its session has no
// transcript.
func TestPromptLists(t *testing.T) {
	home := t.TempDir()
	in := func(names ...string) string { return filepath.Join(append([]string{home}, names...)...) }
	const gone, kept = "9c1b2a34-0000-4000-8000-000000000001", "5d2e7f88-0000-4000-8000-000000000002"
	claude := func(session, text, pasted string) string {
		return `{"display":"` + text + `","pastedContents":` + pasted + `,"timestamp":1788188400000,` +
			`"project":"/home/pat/harbor","sessionId":"` + session + `"}` + "\n"
	}
	logs := func(session, text string) string {
		return `{"sessionId":"` + session + `","messageId":0,"type":"user","message":"` + text + `",` +
			`"timestamp":"2026-08-31T15:00:00.000Z"}`
	}
	for path, text := range map[string]string{
		in(".claude", "history.jsonl"): claude(gone, "Raise the jetty.", "{}") + claude(kept, "Oil it.", "{}") +
			claude(gone, "/clear ", "{}") + claude(gone, "! ls", "{}") + claude(kept, "! ls", "{}") +
			// The prompt of session "000002" is reported, because no transcript belongs to this session. The name of a
			// transcript only ends with these digits.
			claude("", "Of an old version.", "{}") + claude("000002", "Short.", "{}") +

			claude(gone, "See [Pasted text #1 +2 lines] and [Pasted text #2 +9 lines].",
				`{"1":{"content":"one\ntwo"},"2":{"contentHash":"x"}}`),
		in(".claude", "projects", "-home-pat-harbor", kept+".jsonl"): "",
		in(".codex", "history.jsonl"): `{"session_id":"` + gone + `","ts":1788188400,"text":"Paint the pier."}` + "\n" +
			`{"session_id":"` + kept + `","ts":1788188400,"text":"Build the pier."}` + "\n",
		in(".codex", "archived_sessions", "rollout-2026-08-31T15-00-00-"+kept+".jsonl.zst"): "",
		in(".gemini", "tmp", "h", "logs.json"): "[\n" + logs(gone, "Where is the dredger?") + ",\n" +
			logs(kept, "At the quay.") + ",\n" + logs(gone, "/quit") + "\n]",
		in(".gemini", "tmp", "h", ".project_root"):                                        "/home/pat/harbor",
		in(".gemini", "tmp", "h", "chats", "session-2026-08-31T15-00-"+kept[:8]+".jsonl"): geminiHead,
		in(".qwen", "tmp", "h", "logs.json"): "[" +
			logs(gone, "Is the tide high?") + "]",
	} {
		put(t, path, text)
	}
	for client, want := range map[string]string{
		"claude": "prompt Raise the jetty.\nprompt Short.\nprompt See one\ntwo and [Pasted text #2 +9 lines].",
		"codex":  "prompt Paint the pier.",
		"gemini": "prompt Where is the dredger?",
		"qwen":   "prompt Is the tide high?",
	} {
		found := transcript.FindTranscripts(home, func(string) string { return "" }, client)
		i := slices.IndexFunc(found, func(f transcript.FoundTranscript) bool {
			base := filepath.Base(f.Path)
			return base == "history.jsonl" || base == "logs.json"
		})
		if i < 0 {
			t.Errorf("%s: the list of prompts was not found: %+v", client, found)
			continue
		}
		events, parts := countParts(t, client, found[i].Path)
		if events != want {
			t.Errorf("%s: the events are\n%s\nwant\n%s", client, events, want)
		}
		var leftOut []string
		if client == "claude" {
			leftOut = []string{"1 commands of the person without their output", "1 prompts without a session"}
		}
		if !slices.Equal(parts, leftOut) {
			t.Errorf("%s: the parts are %q", client, parts)
		}
	}
}

// TestGrowingNumbered imports a transcript without IDs after each line that the client wrote. Line numbers are a part
// of the event IDs, so the turns must be those of a single import.
func TestGrowingNumbered(t *testing.T) {
	const cursorLine = `{"role":%q,"message":{"content":[{"type":"text","text":"<user_query>\n%s\n</user_query>"}]}}`
	const gooseLine = `{"role":%q,"created":1788188400,"content":[{"type":"text","text":%q}]}`
	for client, file := range map[string]struct{ path, first, line string }{
		"cursor": {".cursor/projects/p/agent-transcripts/c9/c9.jsonl", "", cursorLine},
		"goose":  {"sessions/20250801_101500.jsonl", `{"working_dir":"/src","message_count":6}`, gooseLine},
	} {
		path := filepath.Join(t.TempDir(), filepath.FromSlash(file.path))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		var want, got []session.Event
		text, cursor := "", ""
		if file.first != "" {
			text = file.first + "\n"
		}
		for i := range 3 {
			for _, role := range []string{"user", "assistant"} {
				text += fmt.Sprintf(file.line, role, fmt.Sprint("step ", i)) + "\n"
				put(t, path, text)
				cursor = importTo(t, &got, client, path, cursor)
			}
		}
		importTo(t, &want, client, path, "")
		if g, w := session.BuildTurns(got), session.BuildTurns(want); len(g) != 3 || len(w) != 3 ||
			told(g[2].Events) != told(w[2].Events) {
			t.Errorf("%s: in parts\n%s\nwant\n%s", client, describeTurns(got), describeTurns(want))
		}
	}
}
