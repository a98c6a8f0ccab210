// This file tests that transcripts are found in the directories that environment variables name.

package transcript_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/agent/session/transcript"
)

// TestVariables finds transcripts in the directories that environment variables name.
func TestVariables(t *testing.T) {
	home := t.TempDir()
	in := func(names ...string) string { return filepath.Join(append([]string{home}, names...)...) }
	for _, tt := range []struct {
		client, variable, value string
		files                   []string
	}{
		{"claude", "CLAUDE_CONFIG_DIR", in("a") + ", " + in("b") + ",",
			[]string{"a/projects/p/1.jsonl", "b/projects/p/2.jsonl"}},
		{"claude", "CLAUDE_CONFIG_DIR", in("with,comma"), []string{"with,comma/projects/p/1.jsonl"}},
		{"claude", "XDG_CONFIG_HOME", in("xdg"),
			[]string{".claude/projects/p/1.jsonl", "xdg/claude/projects/p/2.jsonl"}},
		{"codex", "CODEX_HOME", in("codex"), []string{"codex/sessions/rollout-1.jsonl"}},
		{"gemini", "GEMINI_CLI_HOME", in("g"), []string{"g/.gemini/tmp/h/chats/session-1.jsonl"}},
		{"gemini", "", "", []string{".cache/.gemini/tmp/h/chats/session-2.jsonl"}},
		{"copilot", "COPILOT_HOME", in("c"), []string{"c/session-state/s/events.jsonl"}},
		{"copilot", "XDG_STATE_HOME", in("state"), []string{"state/.copilot/session-state/s/events.jsonl"}},
		{"qwen", "QWEN_HOME", in("q"), []string{"q/projects/p/chats/1.jsonl"}},
		{"qwen", "QWEN_RUNTIME_DIR", in("r"), []string{"r/projects/p/chats/archive/1.jsonl"}},
		{"opencode", "XDG_DATA_HOME", in("data"), []string{"data/opencode/storage/session/p/ses_1.json"}},
		{"goose", "GOOSE_PATH_ROOT", in("goose"), []string{"goose/data/sessions/1.jsonl"}},
		{"cline", "CLINE_DATA_DIR", in("cline"), []string{"cline/tasks/1/ui_messages.json"}},
		{"kimi", "KIMI_CODE_HOME", in("kimi"), []string{"kimi/sessions/s/wire.jsonl"}},
		{"openclaw", "OPENCLAW_HOME", in("claw"), []string{"claw/.openclaw/agents/a/sessions/1.jsonl"}},
		{"cursor", "CURSOR_CONFIG_DIR", in("cursor"), []string{"cursor/projects/p/agent-transcripts/1.jsonl"}},
	} {
		for _, file := range tt.files {
			put(t, in(filepath.FromSlash(file)), "{}")
		}
		var got []string
		for _, f := range transcript.FindTranscripts(home, func(name string) string {
			if name == tt.variable {
				return tt.value
			}
			return ""
		}, tt.client) {
			rel, err := filepath.Rel(home, f.Path)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, filepath.ToSlash(rel))
		}
		slices.Sort(got)
		if !slices.Equal(got, tt.files) {
			t.Errorf("%s with %s=%s: found %q, want %q", tt.client, tt.variable, tt.value, got, tt.files)
		}
		if err := os.RemoveAll(home); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDatabaseVariable tests that FindTranscripts finds the database whose path is in the environment variable
// OPENCODE_DB. The file may have any name and directory. Nothing is found if the value is ":memory:" or the file is
// missing.
func TestDatabaseVariable(t *testing.T) {
	home := t.TempDir()
	database, err := os.ReadFile(filepath.Join(clientsHome, ".local", "share", "opencode", "opencode.db"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(home, "elsewhere", "mine.db")
	put(t, path, string(database))
	for _, value := range []string{path, ":memory:", "missing.db"} {
		found := transcript.FindTranscripts(home, func(name string) string {
			if name == "OPENCODE_DB" {
				return value
			}
			return ""
		}, "opencode")
		if isOne := len(found) == 1 && found[0].Path == path+"/ses_1"; isOne != (value == path) {
			t.Errorf("with OPENCODE_DB=%s, found %+v", value, found)
		}
	}
}
