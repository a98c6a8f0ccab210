// This file tests the exports of chat services.

package transcript

import (
	"archive/zip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
)

// chatGPTExport contains an edited prompt, an answer that was generated again, a hidden message, an image, and a call
// of a tool.
const chatGPTExport = `[{"title":"Berths","create_time":1760000000.5,"conversation_id":"c-1","current_node":"a3","mapping":{
"root":{"id":"root","message":null,"parent":null,"children":["s"]},
"s":{"id":"s","parent":"root","message":{"author":{"role":"system"},"create_time":null,"content":{"content_type":"text","parts":[""]}}},
"h":{"id":"h","parent":"s","message":{"author":{"role":"user"},"create_time":1,"content":{"content_type":"user_editable_context","user_profile":"x"},"metadata":{"is_visually_hidden_from_conversation":true}}},
"u1":{"id":"u1","parent":"h","message":{"author":{"role":"user"},"create_time":1760000000.5,"content":{"content_type":"text","parts":["Which boats use berth 7?"]}}},
"a1":{"id":"a1","parent":"u1","message":{"author":{"role":"assistant"},"create_time":1760000002,"recipient":"all","content":{"content_type":"text","parts":["Small ones."]},"metadata":{"model_slug":"gpt-4o"}}},
"t1":{"id":"t1","parent":"u1","message":{"author":{"role":"assistant"},"create_time":1760000004,"recipient":"python","content":{"content_type":"code","text":"print(7)"}}},
"r1":{"id":"r1","parent":"t1","message":{"author":{"role":"tool"},"create_time":1760000005,"content":{"content_type":"execution_output","text":"7"}}},
"a2":{"id":"a2","parent":"r1","message":{"author":{"role":"assistant"},"create_time":1760000006,"recipient":"all","content":{"content_type":"text","parts":["Boats over 12 m."]}}},
"u2":{"id":"u2","parent":"a2","message":{"author":{"role":"user"},"create_time":1760000008,"content":{"content_type":"multimodal_text","parts":[{"content_type":"image_asset_pointer"},"And this one, <private>owned by Ada</private>?"]}}},
"a3":{"id":"a3","parent":"u2","message":{"author":{"role":"assistant"},"create_time":1760000009,"recipient":"all","content":{"content_type":"text","parts":["No."]}}}}}]`

const claudeExport = `[{"uuid":"d-1","name":"Tides","chat_messages":[
{"uuid":"m1","text":"","content":[{"type":"text","text":"Where does the tide table come from?"}],"sender":"human","created_at":"2026-03-02T10:00:00.5Z","attachments":[{"file_name":"port.txt","extracted_content":"The office opens at nine."}],"files":[{"file_name":"photo.png"}]},
{"uuid":"m2","content":[{"type":"tool_use","name":"web_search"},{"type":"text","text":"From the port office."}],"sender":"assistant","created_at":"2026-03-02T10:00:09Z"},
{"uuid":"m3","text":"Thanks","sender":"human","created_at":"2026-03-02T10:01:00Z"}]}]`

// told returns the events of an export as short lines. It checks that reading the file in parts returns the same
// events.
func told(t *testing.T, client, path string) (lines []string) {
	t.Helper()
	for _, most := range []int64{0, 1} {
		var part []string
		for cursor := ""; ; {
			f := &transcriptFile{clientName: client, filePath: path, cleanText: strings.TrimSpace, maxBytes: most}
			next, err := f.readFrom(t.Context(), cursor, &lineCounter{})
			if err != nil {
				t.Fatal(err)
			}
			if f.report.BadLines > 0 {
				t.Errorf("conversations cannot be read: %+v", f.report.FirstBadLines)
			}
			for _, e := range f.events {
				what := e.Text
				if e.Kind == session.KindToolCall {
					what = e.Call.Tool
				}
				part = append(part, fmt.Sprintf("%s/%s %s %s %s", e.Client, e.Session, e.TurnID, e.Kind, what))
			}
			if next == cursor {
				break
			}
			cursor = next
		}
		if lines != nil && !reflect.DeepEqual(part, lines) {
			t.Errorf("read in parts, %s gives\n%s\nnot\n%s", path, strings.Join(part, "\n"), strings.Join(lines, "\n"))
		}
		lines = part
	}
	return lines
}

func TestChatExports(t *testing.T) {
	for _, tt := range []struct{ client, text, want string }{
		{ChatGPT, chatGPTExport, `chatgpt/c-1 u1 prompt Which boats use berth 7?
chatgpt/c-1 u1 title Berths
chatgpt/c-1 u1 text Small ones.
chatgpt/c-1 u1 call python
chatgpt/c-1 u1 text Boats over 12 m.
chatgpt/c-1 u2 prompt [image]
And this one, […]?
chatgpt/c-1 u2 text No.`},
		{ClaudeAI, claudeExport, `claude-ai/d-1 m1 prompt Where does the tide table come from?

[port.txt]
The office opens at nine.

[photo.png]
claude-ai/d-1 m1 title Tides
claude-ai/d-1 m1 call web_search
claude-ai/d-1 m1 text From the port office.
claude-ai/d-1 m3 prompt Thanks`},
	} {
		dir := t.TempDir()
		plain := filepath.Join(dir, "conversations.json")
		if err := os.WriteFile(plain, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		archive := filepath.Join(dir, "export.zip")
		zipped(t, archive, map[string]string{"data/conversations.json": tt.text, "data/users.json": "[]"})
		for export, want := range map[string]string{
			plain: plain, dir: plain, archive: archive + "/data/conversations.json",
		} {
			files, err := FindChatFiles(export)
			if err != nil || len(files) != 1 || files[0] != want {
				t.Fatalf("FindChatFiles(%s) = %q, %v, want %q", export, files, err, want)
			}
			if got := FindChatService(files[0]); got != tt.client {
				t.Errorf("FindChatService(%s) = %q, want %q", files[0], got, tt.client)
			}
			if got := strings.Join(told(t, tt.client, files[0]), "\n"); got != tt.want {
				t.Errorf("%s gives\n%s\nwant\n%s", export, got, tt.want)
			}
		}
	}
}

func zipped(t *testing.T, path string, files map[string]string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(f)
	for name, text := range files {
		m, err := w.Create(name)
		if err == nil {
			_, err = m.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestChatExportParts reads many conversations in parts. A truncated file must return the conversations before the cut
// and then an error. Another file with the same name must be read from its beginning.
func TestChatExportParts(t *testing.T) {
	var all []json.RawMessage
	for i := range 50 {
		all = append(
			all,
			json.RawMessage(fmt.Sprintf(`{"uuid":"d-%d","chat_messages":[{"uuid":"m","text":"Number %d",`+
				`"sender":"human","created_at":"2026-03-02T10:00:00Z"}]}`, i, i)),
		)
	}
	text, err := json.MarshalIndent(all, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "conversations.json")
	write := func(b []byte) {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(text)
	if got := told(t, ClaudeAI, path); len(got) != 50 {
		t.Errorf("%d events, want 50: %q", len(got), got)
	}

	testLinesInParts(t, path, all)

	write(text[:len(text)/2])
	bad := 0
	read := NewFinishedTranscriptReader(strings.TrimSpace, func(r ReadReport) { bad += r.BadLines })
	events, cursor, err := read(t.Context(), ClaudeAI, path, "")
	if err != nil || len(events) < 20 || len(events) > 25 {
		t.Fatalf("of half a file, %d events, %v", len(events), err)
	}
	if _, _, err := read(t.Context(), ClaudeAI, path, cursor); err == nil {
		t.Error("the end that is missing is not reported")
	}
	write(text[:strings.LastIndex(string(text), "}")+1])
	events, _, err = read(t.Context(), ClaudeAI, path, "")
	if err != nil || len(events) != 50 || bad != 1 {
		t.Fatalf(
			"of an array without its end, %d events, %v, %d that cannot be read, want 50 and 1",
			len(events),
			err,
			bad,
		)
	}
	write(text)
	inName := strings.Index(string(text), "uuid")
	events, _, err = read(t.Context(), ClaudeAI, path, fmt.Sprintf("%d %d", inName, inName))
	if err != nil || len(events) != 50 {
		t.Errorf("of another file, %d events, %v, want 50", len(events), err)
	}
}

// testLinesInParts reads a file that contains the conversations in the list all. Each conversation is on a line of its
// own, because the file contains no JSON array. The field maxBytes is 1, so that the reader needs several calls. All
// conversations must be read, in at least half as many calls as there are conversations.
func testLinesInParts(t *testing.T, path string, all []json.RawMessage) {
	t.Helper()
	var lines strings.Builder
	for i, one := range all {
		if i > 0 {
			lines.WriteByte('\n')
		}
		lines.Write(one)
	}
	for end, wantBad := range map[string]int{"": 0, "\n": 0, "\n]\n": 1} {
		if err := os.WriteFile(path, []byte(lines.String()+end), 0o600); err != nil {
			t.Fatal(err)
		}
		count := 0
		bad := 0
		calls := 0
		for cursor := ""; ; calls++ {
			f := &transcriptFile{clientName: ClaudeAI, filePath: path, cleanText: strings.TrimSpace, maxBytes: 1}
			next, err := f.readFrom(t.Context(), cursor, &lineCounter{})
			if err != nil {
				t.Fatal(err)
			}
			count += len(f.events)
			bad += f.report.BadLines
			if f.lastTurnOffset == 0 {
				break
			}
			cursor = next
		}
		if count != len(all) || bad != wantBad || calls < len(all)/2 {
			t.Errorf("with the end %q, %d events and %d unreadable conversations in %d calls, want %d and %d",
				end, count, bad, calls, len(all), wantBad)
		}
	}
}

// FuzzChatExport reads any file as an export of a chat service, in parts. No call may panic. Each call must move the
// cursor forward, and each event must belong to a valid session and to the client.
func FuzzChatExport(f *testing.F) {
	f.Add(chatGPTExport, true)
	f.Add(claudeExport, false)
	f.Add(`[{"uuid":"a","chat_messages":[]}, 7]x`, false)
	f.Add("{\"uuid\":\"a\",\"chat_messages\":[]}\n7}", false)
	f.Add(
		`[{"id":"a","mapping":{"u":{"parent":"u","message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["x"]}}}}}`,
		true,
	)
	f.Fuzz(func(t *testing.T, text string, isChatGPT bool) {
		path := filepath.Join(t.TempDir(), "conversations.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		client := ClaudeAI
		if isChatGPT {
			client = ChatGPT
		}
		FindChatService(path)
		cursor := ""
		for n := 0; ; n++ {
			f := &transcriptFile{clientName: client, filePath: path, cleanText: strings.TrimSpace, maxBytes: 1}
			next, err := f.readFrom(context.Background(), cursor, &lineCounter{})
			for _, e := range f.events {
				if !session.IsValidID(e.Session) || e.Client != client {
					t.Errorf("an event of session %q of %q", e.Session, e.Client)
				}
			}
			if err != nil || next == cursor {
				break
			}
			if n > len(text)+2 {
				t.Fatalf("no end after %d calls, at %q", n, next)
			}
			cursor = next
		}
	})
}

// TestBlankExport reads exports with much consecutive white space. Reading must end with an error, because its time
// would otherwise grow with the square of the white space.
func TestBlankExport(t *testing.T) {
	blank := strings.Repeat(" ", 16<<20)
	const conversation = `{"uuid":"c1","chat_messages":[{"uuid":"m1","sender":"human","text":"Hello."}]}`
	for name, text := range map[string]string{
		"before the array":        blank + "[" + conversation + "]",
		"before a conversation":   "[" + blank + conversation + "]",
		"between conversations":   "[" + conversation + "," + blank + conversation + "]",
		"after the conversations": "[" + conversation + blank + "]",
	} {
		path := filepath.Join(t.TempDir(), "conversations.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		FindChatService(path)
		var problems []string
		read := NewFinishedTranscriptReader(strings.TrimSpace, func(r ReadReport) {
			for _, line := range r.FirstBadLines {
				problems = append(problems, line.Reason)
			}
		})
		cursor, err := "", error(nil)
		for next := "."; err == nil && next != cursor; {
			next = cursor
			_, cursor, err = read(t.Context(), ClaudeAI, path, cursor)
		}
		if err != nil {
			problems = append(problems, err.Error())
		}
		if !strings.Contains(strings.Join(problems, "\n"), "white space in a row") {
			t.Errorf("%s: the problems are %q", name, problems)
		}
	}
}
