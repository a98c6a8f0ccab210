// This file tests annotations while a session runs. The tests use recorded hook reports of real clients, and the
// transcripts as they were when the reports were sent.

package fileedits

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
	"github.com/oxbow-memory/oxbow/internal/code/annotate"
)

// session is a recorded session in a temporary tree.
type session struct {
	t          *testing.T
	client     string
	dir        string
	transcript []byte
	reports    [][]byte
	b          *annotate.Store
}

func recordedSession(t *testing.T, client string) *session {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &session{t: t, client: client, dir: filepath.Join(dir, "proj")}
	read := func(names ...string) []byte {
		for _, n := range names {
			if text, err := os.ReadFile(n); err == nil {
				quoted, err := json.Marshal(s.dir)
				if err != nil {
					t.Fatal(err)
				}
				return bytes.ReplaceAll(text, []byte(recorded), bytes.Trim(quoted, `"`))
			}
		}
		return nil
	}
	s.transcript = read("testdata/live/"+client+".jsonl", "testdata/"+client+".jsonl")
	for l := range bytes.Lines(read("testdata/live/" + client + ".hooks")) {
		s.reports = append(s.reports, l)
	}
	if len(s.transcript) == 0 || len(s.reports) == 0 {
		t.Fatal("there is no recording")
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s.b, err = annotate.OpenDir(t.Context(), s.dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.b.Close() })
	return s
}

// at returns the time in a line, or the zero time if the line has none.
func at(line []byte) time.Time {
	var l struct {
		Time     time.Time `json:"timestamp"`
		Recorded time.Time `json:"recorded_at"`
	}
	_ = json.Unmarshal(line, &l)
	if !l.Recorded.IsZero() {
		return l.Recorded
	}
	return l.Time
}

// until returns the lines of s.transcript that were written at the time now or before. It leaves out the line of the
// tool call that is being reported at this time, because this line also contains the call's result. For opencode, the
// transcript consists only of hook reports.
func (s *session) until(now time.Time) []byte {
	var out []byte
	for l := range bytes.Lines(s.transcript) {
		var m struct {
			Calls []struct {
				Time time.Time `json:"timestamp"`
			} `json:"toolCalls"`
		}
		_ = json.Unmarshal(l, &m)
		// The time of a Gemini message is the time at which the message began.
		if len(m.Calls) > 0 && m.Calls[0].Time.After(now.Add(-10*time.Millisecond)) {
			continue
		}
		if !at(l).After(now) {
			out = append(out, l...)
		}
	}
	return out
}

// write writes the transcript to the place where the client stores it, and returns the hook's input for the report.
func (s *session) write(report, text []byte) HookInput {
	s.t.Helper()
	var l clientfile.HookReport
	if err := json.Unmarshal(report, &l); err != nil {
		s.t.Fatal(err)
	}
	home := filepath.Dir(s.dir)
	r := HookInput{
		ClientName:         s.client,
		CopilotHome:        home,
		OpencodeReportFile: filepath.Join(home, "noted"),
		RemoveSecrets: func(s string) string {
			return s
		},
	}
	l.TranscriptPath = filepath.Join(home, "t.jsonl")
	name := l.TranscriptPath
	switch s.client {
	case "copilot":
		name = r.transcriptPath(&l)
	case "opencode":
		name = r.OpencodeReportFile
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(name, text, 0o600); err != nil {
		s.t.Fatal(err)
	}
	var err error
	r.Stdin, err = json.Marshal(l)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// apply makes the edit of the client's report in the files of the test directory s.dir, as the client did. It ignores a
// patch that cannot be parsed, and an edit that does not match the file's text.
func (s *session) apply(report []byte) {
	s.t.Helper()
	var l clientfile.HookReport
	if err := json.Unmarshal(report, &l); err != nil {
		s.t.Fatal(err)
	}
	files, err := parsePatchEnvelope(parseCall(l.ToolName, l.ToolInput).patch)
	if err == nil {
		for _, f := range files {
			if f.isAddition {
				var text strings.Builder
				for _, h := range f.hunks[0].lines {
					text.WriteString(h[1:] + "\n")
				}
				s.put(f.path, text.String())
			}
		}
	}
	for _, c := range parseCall(l.ToolName, l.ToolInput).changedFiles() {
		path := c.path
		if !filepath.IsAbs(path) {
			path = filepath.Join(s.dir, path)
		}
		old, err := os.ReadFile(path)
		if err != nil {
			old = nil
		}
		if now, ok := c.apply(string(old)); ok {
			s.put(path, now)
		}
	}
}

func (s *session) put(path, text string) {
	s.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.dir, path)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

const hello = "package main\n\nimport \"fmt\"\n\n// Greet says hello.\nfunc Greet(name string) " +
	"{\n\tfmt.Println(\"hello, \" + name)\n}\n\nfunc main() {\n\tGreet(\"world\")\n}\n"

// brief formats records as short lines for comparison.
func brief(rs []annotate.Record) (out []string) {
	for _, r := range rs {
		out = append(
			out,
			fmt.Sprintf(
				"%s %s:%s %s %s | %s",
				r.ID,
				r.File,
				r.Span,
				hash(r.Block),
				r.Agent,
				strings.ReplaceAll(r.Why, "\n", " "),
			),
		)
	}
	return out
}

// TestLive tests that each edit of a recorded session is annotated from its hook report. Reading the whole transcript
// afterwards must give the same annotations with the same IDs.
func TestLive(t *testing.T) {
	for _, client := range []string{"claude", "codex", "gemini", "copilot", "qwen", "opencode"} {
		t.Run(client, func(t *testing.T) {
			s := recordedSession(t, client)
			s.put("hello.go", hello)
			var live []annotate.Record
			for _, report := range s.reports {
				var l clientfile.HookReport
				if err := json.Unmarshal(report, &l); err != nil {
					t.Fatal(err)
				}
				if l.ToolName == "" {
					continue
				}
				s.apply(report)
				got, err := AnnotationsForHook(t.Context(), s.b, s.write(report, s.until(at(report))))
				if err != nil {
					t.Fatal(err)
				}
				live = append(live, got...)
			}
			if len(live) < 2 {
				t.Fatalf("live annotations are %q", brief(live))
			}
			tr, err := ReadTranscript(bytes.NewReader(s.transcript), "")
			if err != nil {
				t.Fatal(err)
			}
			j, err := MakeRecords(s.b, tr, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := brief(live), brief(j.Records); !reflect.DeepEqual(got, want) {
				t.Errorf("live:\n%s\nread afterwards:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			end := []byte(fmt.Sprintf(
				`{"hook_event_name":%q,"session_id":%q}`,
				map[bool]string{true: "AfterAgent", false: "Stop"}[client == "gemini"],
				cmp.Or(live[0].Session, "s"),
			))
			at, err := AnnotationsForHook(t.Context(), s.b, s.write(end, s.transcript))
			if got, want := brief(at), brief(j.Records); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf(
					"at the end of the turn:\n%s, %v\nwant:\n%s",
					strings.Join(got, "\n"),
					err,
					strings.Join(want, "\n"),
				)
			}
		})
	}
}

// TestLiveLate tests that AnnotationsForHook waits for lines of the transcript that the client writes after the hook
// began. If the lines never come, AnnotationsForHook must return no annotation and no error within three seconds.
func TestLiveLate(t *testing.T) {
	s := recordedSession(t, "claude")
	s.put("hello.go", hello)
	report := s.reports[0]
	s.apply(report)
	whole := s.until(at(report))
	lines := bytes.SplitAfter(bytes.TrimSpace(whole), []byte("\n"))
	r := s.write(report, bytes.Join(lines[:len(lines)-2], nil))
	done := make(chan []annotate.Record)
	go func() {
		got, _ := AnnotationsForHook(t.Context(), s.b, r)
		done <- got
	}()
	s.write(report, whole)
	if got := <-done; len(got) != 1 || !strings.Contains(got[0].Why, "SAY-2") {
		t.Errorf("a late transcript gives %q", brief(got))
	}
	r = s.write(report, bytes.Join(lines[:2], nil))
	began := time.Now()
	if got, err := AnnotationsForHook(t.Context(), s.b, r); len(got) > 0 || err != nil ||
		time.Since(began) > 3*time.Second {
		t.Errorf("without the text: %q, %v after %v", brief(got), err, time.Since(began))
	}
}

// TestLiveNoted tests that earlier reports of opencode are read from the file in which hooks stored them. A text
// before another edit must not become the reason for this edit.
func TestLiveNoted(t *testing.T) {
	s := recordedSession(t, "opencode")
	s.put("hello.go", hello)
	noted := `{"client":"opencode","session":"ses_1","kind":"prompt","text":"do it"}
{"client":"opencode","session":"ses_1","kind":"text","text":"for the first"}
{"client":"opencode","session":"ses_1","kind":"call","id":"1","call":{"tool":"edit","wrote":["a.go"]}}
{"client":"opencode","session":"ses_1","kind":"text","text":"for the second"}
{"client":"opencode","session":"ses_1","kind":"call","id":"2","call":{"tool":"edit","wrote":["hello.go"]}}
{"client":"opencode","ses`
	report := fmt.Sprintf(
		`{"hook_event_name":"PostToolUse","session_id":"ses_1","cwd":%q,"tool_name":"edit","tool_use_id":"2","tool_input":{"filePath":"hello.go","oldString":"x","newString":"Greet(\"world\")"}}`,
		s.dir,
	)
	got, err := AnnotationsForHook(t.Context(), s.b, s.write([]byte(report), []byte(noted)))
	if err != nil || len(got) != 1 || got[0].Why != "for the second" ||
		got[0].Span != (annotate.LineSpan{First: 11, Last: 11}) {
		t.Errorf("annotations %q, %v", brief(got), err)
	}
}

// TestLiveSecret tests that lines with a secret are not copied into annotations, and that secrets are removed from the
// reasons.
func TestLiveSecret(t *testing.T) {
	s := recordedSession(t, "gemini")
	s.put("hello.go", hello)
	s.apply(s.reports[0])
	r := s.write(s.reports[0], s.until(at(s.reports[0])))
	r.RemoveSecrets = func(s string) string { return strings.ReplaceAll(s, "SAY-2", "[redacted]") }
	if got, err := AnnotationsForHook(t.Context(), s.b, r); err != nil || len(got) != 1 ||
		strings.Contains(got[0].Why, "SAY-2") ||
		!strings.Contains(got[0].Why, "[redacted]") {
		t.Errorf("reasoning with a secret: %q, %v", brief(got), err)
	}
	withKey := func(data []byte) []byte {
		return bytes.ReplaceAll(data, []byte("hello, "), []byte("ghp_a8Kz0QpL3vXw9RtY2mNb6CsD1fGh4JkE5uVi"))
	}
	report := withKey(s.reports[0])
	s.put("hello.go", string(withKey([]byte(hello))))
	s.apply(report)
	r = s.write(report, withKey(s.until(at(s.reports[0]))))
	if got, err := AnnotationsForHook(t.Context(), s.b, r); err != nil || len(got) != 0 {
		t.Errorf("lines with a secret: %q, %v", brief(got), err)
	}
}

// TestBefore tests that AnnotationsBeforeEdit returns the annotations of exactly the lines that a call is about to
// change.
func TestBefore(t *testing.T) {
	s := recordedSession(t, "claude")
	s.put("hello.go", hello)
	for _, a := range []annotate.Record{
		{Span: annotate.LineSpan{First: 6, Last: 8}, Why: "greets"},
		{Span: annotate.LineSpan{First: 10, Last: 12}, Why: "main"},
	} {
		a.File = "hello.go"
		if _, err := s.b.Add(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ tool, input, want string }{
		{"Edit", `{"file_path":"hello.go","old_string":"hello, ","new_string":"hi, "}`, "greets"},
		{"Edit", `{"file_path":"hello.go","old_string":"world","new_string":"you"}`, "main"},
		{"Edit", `{"file_path":"hello.go","old_string":"import","new_string":"import"}`, ""},
		{"Edit", `{"file_path":"hello.go","old_string":"not there","new_string":"x"}`, ""},
		{"Write", `{"file_path":"hello.go","content":"package main\n"}`, "greets main"},
		{"write_file", `{"file_path":"new.go","content":"package main\n"}`, ""},
		{
			"apply_patch",
			`{"command":"*** Begin Patch\n*** Update File: hello.go\n@@\n func main() {\n-\tGreet(\"world\")\n+\tGreet(\"you\")\n }\n*** End Patch"}`,
			"main",
		},
		{"apply_patch", `{"command":"*** Begin Patch\n*** Delete File: hello.go\n*** End Patch"}`, "greets main"},
		{"Edit", `{"file_path":"../outside.go","old_string":"a","new_string":"b"}`, ""},
		{"Bash", `{"command":"rm hello.go"}`, ""},
		{"Edit", `[]`, ""},
	} {
		raw := fmt.Sprintf(
			`{"hook_event_name":"PreToolUse","session_id":"s","cwd":%q,"tool_name":%q,"tool_input":%s}`,
			s.dir,
			c.tool,
			c.input,
		)
		found, err := AnnotationsBeforeEdit(t.Context(), s.b, HookInput{ClientName: "claude", Stdin: []byte(raw)})
		var got []string
		for _, f := range found {
			got = append(got, f.Why)
		}
		if strings.Join(got, " ") != c.want || err != nil {
			t.Errorf("before %s %s: %q, %v, want %q", c.tool, c.input, got, err, c.want)
		}
	}
}

// FuzzLive tests that no report causes a panic, or an annotation that cannot be stored.
func FuzzLive(f *testing.F) {
	for _, client := range []string{"claude", "codex", "gemini", "copilot", "qwen", "opencode"} {
		hooks, err := os.ReadFile("testdata/live/" + client + ".hooks")
		if err != nil {
			f.Fatal(err)
		}
		for l := range bytes.Lines(hooks) {
			f.Add(client, l, []byte("{}\n"))
		}
	}
	f.Add(
		"claude",
		[]byte(
			`{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Update File: a\n@@\n-x\n*** End Patch"}}`,
		),
		[]byte(""),
	)
	f.Fuzz(func(t *testing.T, client string, raw, text []byte) {
		dir := t.TempDir()
		noted := filepath.Join(dir, "noted")
		if err := os.WriteFile(noted, text, 0o600); err != nil {
			t.Fatal(err)
		}
		b, err := annotate.OpenDir(t.Context(), dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		r := HookInput{
			ClientName:         client,
			Stdin:              raw,
			CopilotHome:        dir,
			OpencodeReportFile: noted,
			RemoveSecrets: func(s string) string {
				return s
			},
		}
		if l, ok := r.parseReport(); ok && client != "opencode" && client != "copilot" {
			l.TranscriptPath = noted
			l.AgentID = ""
			l.AgentTranscript = noted
			r.Stdin, err = json.Marshal(l)
			if err != nil {
				t.Fatal(err)
			}
		}
		_ = r.SummarizeReport()
		l, ok := r.parseReport()
		if _, known := clientfile.FindEventClient(client); ok && known && isEditReport(l) {
			if _, err := r.readEditsOfReportedCall(l); err != nil {
				t.Logf("replay: %v", err)
			}
		}
		if _, err := AnnotationsBeforeEdit(t.Context(), b, r); err != nil {
			t.Logf("before: %v", err)
		}
	})
}

// TestLiveWithoutHooks tests that a report in the name of a client without hooks causes neither an annotation nor a
// panic.
func TestLiveWithoutHooks(t *testing.T) {
	s := recordedSession(t, "claude")
	transcript := filepath.Join(t.TempDir(), "s1.jsonl")
	if err := os.WriteFile(transcript, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	raw := fmt.Appendf(nil, `{"hook_event_name":"PostToolUse","session_id":"s1","cwd":"/p","transcript_path":%q,`+
		`"tool_name":"Edit","tool_use_id":"1",`+
		`"tool_input":{"file_path":"/p/a.go","old_string":"x","new_string":"y"}}`, transcript)
	for _, client := range []string{"cursor", "goose", "nobody"} {
		if got, err := AnnotationsForHook(t.Context(), s.b, HookInput{ClientName: client, Stdin: raw}); got != nil ||
			err != nil {
			t.Errorf("%s: %q, %v", client, brief(got), err)
		}
	}
}
