// This file tests that a transcript can be read further from a stored position (the cursor), and that files that are
// not transcripts are handled correctly.

package transcript_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/agent/session/transcript"
	"github.com/oxbow-memory/oxbow/test/testenv"
)

// recorded returns the paths of the recorded transcripts.
func recorded(tb testing.TB) []string {
	tb.Helper()
	files, err := filepath.Glob("../../../hook/testdata/*/transcript*")
	if err != nil || len(files) == 0 {
		tb.Fatalf("no recorded transcripts: %v", err)
	}
	return files
}

func clientOf(file string) string {
	client, _, _ := strings.Cut(filepath.Base(filepath.Dir(file)), "-")
	return client
}

// readAll reads from a cursor until nothing is left to read. It returns the events and the last cursor.
func readAll(t *testing.T, client, path, cursor string) (all []session.Event, at string) {
	t.Helper()
	read := transcript.NewReader(strings.TrimSpace, nil)
	for at = cursor; ; {
		events, next, err := read(t.Context(), client, path, at)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, events...)
		if next == at {
			return all, at
		}
		at = next
	}
}

func folded(t *testing.T, events []session.Event) string {
	t.Helper()
	b, err := json.MarshalIndent(session.BuildTurns(events), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestOtherClient tests that a recorded transcript is read only as a session of the client that wrote it, and that
// hook reports of a client are not read as another client's session.
func TestOtherClient(t *testing.T) {
	files := recorded(t)
	reports, err := filepath.Glob("../../../hook/testdata/*/hooks.jsonl")
	if err != nil || len(reports) == 0 {
		t.Fatalf("no recorded reports: %v", err)
	}
	for _, file := range append(files, reports...) {
		for _, c := range clientfile.EventClients {
			if c.Name == clientOf(file) {
				continue
			}
			events, _, err := transcript.NewReader(strings.TrimSpace, nil)(t.Context(), c.Name, file, "")
			if len(events) > 0 {
				t.Errorf("%s is a session of %s with %d events, error %v", file, c.Name, len(events), err)
			}
		}
	}
}

// TestCursor reads a transcript that ends anywhere, also within a line, and reads it again after it has grown. The
// turns must be the same as when it is read at once, and nothing must be left at the end.
func TestCursor(t *testing.T) {
	testenv.SkipInShortMode(t)
	for _, file := range recorded(t) {
		t.Run(filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file), func(t *testing.T) {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "transcript.jsonl")
			write := func(b []byte) {
				if err := os.WriteFile(path, b, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write(b)
			whole, _ := readAll(t, clientOf(file), path, "")
			want := folded(t, whole)
			for n := 0; n < len(b); n += 1 + len(b)/60 {
				write(b[:n])
				first, at := readAll(t, clientOf(file), path, "")
				write(b)
				rest, end := readAll(t, clientOf(file), path, at)
				if got := folded(t, append(first, rest...)); got != want {
					t.Fatalf("cut at %d, cursor %q: turns differ at\n%s", n, at, difference(got, want))
				}
				if more, again := readAll(t, clientOf(file), path, end); len(more) > 0 || again != end {
					t.Fatalf("after the end are %d events, at %q", len(more), again)
				}
			}
		})
	}
}

// TestStrange tests the reader with a damaged transcript, a directory and a missing file. In the damaged transcript,
// the reader must count the bad lines and return the events of all other lines. For the directory and the missing file,
// the reader must return an error.
func TestStrange(t *testing.T) {
	dir := t.TempDir()
	long := filepath.Join(dir, "long")
	line := `{"type":"user","sessionId":"s","promptId":"p%d","timestamp":"2026-11-23T01:30:0%dZ","message":{"content":"ask %d"}}` + "\n"
	text := fmt.Sprintf(line, 1, 1, 1) + "not JSON\n{\"type\":\n\n[]\n\x00\xff\n{\"type\":\"new\",\"data\":{}}\n" +
		strings.Repeat("x", 65<<20) + "\n" + fmt.Sprintf(line, 2, 2, 2)
	if err := os.WriteFile(long, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	bad := 0
	events, _, err := transcript.NewFinishedTranscriptReader(strings.TrimSpace, func(r transcript.ReadReport) {
		bad += r.BadLines
	})(t.Context(), "claude", long, "")
	if err != nil || len(events) != 2 || events[1].Text != "ask 2" || bad != 5 {
		t.Errorf("read %d events and %d bad lines, %v", len(events), bad, err)
	}
	for _, path := range []string{dir, filepath.Join(dir, "missing")} {
		if _, _, err := transcript.NewReader(strings.TrimSpace, nil)(t.Context(), "claude", path, ""); err == nil {
			t.Errorf("%s is read", path)
		}
	}
	// A cursor that does not fit the file is ignored, and the file is read from its start.
	if events, _, err := transcript.NewReader(strings.TrimSpace, nil)(
		t.Context(),
		"claude",
		long,
		"7 999999999999",
	); err != nil || len(events) != 2 {
		t.Errorf("with a cursor beyond the end are %d events, %v", len(events), err)
	}
}

// TestClock tests a session during which the computer's clock is set back to a time before the beginning of the
// session.
func TestClock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	line := `{"type":"user","uuid":"u%[1]d","sessionId":"s","promptId":"p%[1]d","timestamp":"2026-11-23T01:%02[2]d:00Z","message":{"content":"ask %[1]d"}}` + "\n"
	// The second line of head is copied from another session: its time is before that of the first line.
	head := `{"type":"queue-operation","timestamp":"2026-11-23T01:30:00Z","sessionId":"s"}` + "\n" +
		fmt.Sprintf(line, 0, 10)
	if err := os.WriteFile(
		path,
		[]byte(head+fmt.Sprintf(line, 1, 31)+fmt.Sprintf(line, 2, 5)+fmt.Sprintf(line, 3, 40)),
		0o600,
	); err != nil {
		t.Fatal(err)
	}
	all, _ := readAll(t, "claude", path, "")
	var said []string
	for _, e := range all {
		said = append(said, e.Text)
	}
	if got := strings.Join(said, ", "); got != "ask 1, ask 2, ask 3" {
		t.Errorf("what was asked is %s", got)
	}
}

// FuzzReader reads any bytes as a transcript of each client. No call may panic. Each event must have a client, a
// session and a kind. If the reader is called again at the end of the file, it must return the same position.
func FuzzReader(f *testing.F) {
	for _, file := range recorded(f) {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for l := range bytes.Lines(b) {
			f.Add(l)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "transcript.jsonl")
		document := filepath.Join(filepath.Dir(path), "session-1.json") // the name of a Gemini CLI document
		// the name of a transcript that Codex has compressed
		compressed := filepath.Join(filepath.Dir(path), "transcript.zst")
		for _, p := range []string{path, document, compressed} {
			if err := os.WriteFile(p, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for client, p := range map[string]string{"gemini": document, "codex": compressed} {
			_, next, err := transcript.NewReader(strings.TrimSpace, nil)(t.Context(), client, p, "")
			if _, again, _ := transcript.NewReader(strings.TrimSpace, nil)(t.Context(), client, p, next); err == nil &&
				again != next {
				t.Errorf("%s: after %q comes %q", filepath.Base(p), next, again)
			}
		}
		for _, c := range []string{"claude", "codex", "gemini", "copilot", "qwen", "opencode"} {
			events, next, err := transcript.NewReader(strings.TrimSpace, nil)(t.Context(), c, path, "")
			if err != nil && c != "opencode" && !strings.Contains(err.Error(), "it was written by") {
				t.Fatal(err)
			}
			for _, e := range events {
				if e.Client != c || e.Session == "" || e.Kind == "" {
					t.Errorf("%s: %+v", c, e)
				}
			}
			if _, again, _ := transcript.NewReader(strings.TrimSpace, nil)(t.Context(), c, path, next); err == nil &&
				again != next {
				t.Errorf("%s: after %q comes %q", c, next, again)
			}
		}
	})
}

// difference returns the first line of got that differs from want.
func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			return g[i] + "\nwant\n" + strings.Join(w[min(i, len(w)):min(i+1, len(w))], "")
		}
	}
	return "the end"
}

// TestFindDir tests that transcripts are found in the directories that environment variables name.
func TestFindDir(t *testing.T) {
	dir := t.TempDir()
	variables := map[string]string{"CLAUDE_CONFIG_DIR": "claude", "CODEX_HOME": "codex", "GEMINI_CLI_HOME": "gemini",
		"COPILOT_HOME": "copilot", "QWEN_HOME": "qwen"}
	getenv := func(name string) string { return filepath.Join(dir, variables[name]) }
	for _, p := range []string{"claude/projects/p/s.jsonl", "codex/sessions/rollout-s.jsonl",
		"gemini/.gemini/tmp/h/chats/s.jsonl", "copilot/session-state/s/events.jsonl",
		"qwen/projects/p/chats/s.jsonl"} {
		p = filepath.Join(dir, filepath.FromSlash(p))
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if found := transcript.FindTranscripts(t.TempDir(), getenv, "claude", "codex", "gemini", "copilot", "qwen"); len(
		found,
	) != 5 {
		t.Errorf("Find = %v, want one of each client", found)
	}
}

// TestFindDirectories tests that FindDirectories finds the default directories of Claude and Codex. It must also find
// the directories that CLAUDE_CONFIG_DIR names. If a project is given, only the project's directory is returned from
// its parent directory.
func TestFindDirectories(t *testing.T) {
	home := t.TempDir()
	for _, dir := range []string{".claude/projects/-home-pat-harbor", ".claude/projects/-home-pat-pier",
		".config/claude/projects/-home-pat-pier", "more/projects", "more, one/projects", ".codex/sessions"} {
		if err := os.MkdirAll(filepath.Join(home, filepath.FromSlash(dir)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(home, ".codex", "history.jsonl"), "")
	find := func(claude string, projects ...string) string {
		var all []string
		for _, d := range transcript.FindDirectories(home, func(name string) string {
			if name == "CLAUDE_CONFIG_DIR" {
				return claude
			}
			return ""
		}, projects...) {
			rel, err := filepath.Rel(home, d.Path)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, d.Client+" "+filepath.ToSlash(rel))
		}
		return strings.Join(all, "\n")
	}
	more := filepath.Join(home, "more")
	for _, tt := range []struct{ got, want string }{
		{find(""), "claude .claude/projects\nclaude .config/claude/projects\ncodex .codex/sessions"},
		{find("", "/home/pat/harbor"), "claude .claude/projects/-home-pat-harbor\nclaude .config/claude/projects\n" +
			"codex .codex/sessions"},
		{find(more+","+filepath.Join(home, ".claude"), "/home/pat/pier"),
			"claude more/projects\nclaude .claude/projects/-home-pat-pier\ncodex .codex/sessions"},
		{find(more + ", one"), "claude more, one/projects\ncodex .codex/sessions"},
	} {
		if tt.got != tt.want {
			t.Errorf("FindDirectories returned\n%s\nwant\n%s", tt.got, tt.want)
		}
	}
}
