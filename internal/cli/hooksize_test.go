// This file tests the size of the answers of hooks. The test homes (directories of a memory) have every layout, and
// contain files of many sizes.

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// hookLimits contains for each client how many characters of a hook's answer the client shows to its model. Claude
// Code, Codex and Copilot CLI cut an answer at about 10,000 characters. Gemini CLI has shown 40,000. The plug-in for
// opencode has no limit, and for Qwen Code no limit is known. For both, the value 1<<20 means that there is no limit.
var hookLimits = map[string]int{
	"claude": 10_000, "codex": 10_000, "copilot": 10_000, "gemini": 40_000, "opencode": 1 << 20, "qwen": 1 << 20,
}

// clientHook runs the hook of a client with a report, and returns the text that the model is shown.
func (w *world) clientHook(t *testing.T, client string, report map[string]any) string {
	t.Helper()
	raw, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	env := w.env
	var out, errs bytes.Buffer
	env.Stdin = bytes.NewReader(raw)
	env.Stdout, env.Stderr = &out, &errs
	env.Args = []string{"--home", filepath.Join(w.dir, "home"), "hook", client}
	if status := Run(t.Context(), env); status != 0 || errs.Len() > 0 {
		t.Fatalf("oxbow hook %s: status %d: %s", client, status, errs.String())
	}
	if out.Len() == 0 {
		return ""
	}
	var answer struct {
		Context    string `json:"context"`
		Additional string `json:"additionalContext"`
		Specific   struct {
			Context string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
		t.Fatal(err)
	}
	return answer.Context + answer.Additional + answer.Specific.Context
}

// wholeFacts returns a text of about size bytes that consists of numbered facts, each in a paragraph of its own.
func wholeFacts(size int) string {
	text := facts(size, "\n\n")
	return text[:strings.LastIndex(text, "\n\n")+2]
}

// startReport returns the report that a client's hook sends at the start of a session. The answer to this report
// contains the context for the session.
func startReport(client, dir string) map[string]any {
	r := map[string]any{"session_id": "s-" + client, "cwd": dir, "hook_event_name": "SessionStart",
		"source": "startup"}
	if client == "gemini" { // Gemini CLI gets the context with the first prompt.
		r["hook_event_name"] = "BeforeAgent"
		r["prompt"] = "Where is the server with number seventeen, and in which rack?"
	}
	return r
}

// TestHooksOfLargeFiles tests the context at a session's start. It must contain the small files in full, and as much
// of a large file as the client shows. The large file must be cut at the end of a paragraph, and a line must say where
// the rest is.
func TestHooksOfLargeFiles(t *testing.T) {
	t.Parallel()
	const identity = "I am the keeper of the small file."
	for _, tt := range contextFiles {
		for _, kib := range []int{1, 15, 16, 17, 64, 512} {
			if testing.Short() && kib != 17 {
				continue
			}
			w := newWorld(t)
			w.must(t, "init", "--dialect", tt.layout, "--home", "home")
			w.vars["OXBOW_HOME"] = w.dir + "/home"
			w.write(t, largePath(tt.layout, tt.large), wholeFacts(kib<<10))
			if tt.small != "" {
				w.write(t, largePath(tt.layout, tt.small), identity)
			}
			for client, limit := range hookLimits {
				got := w.clientHook(t, client, startReport(client, w.dir))
				name := fmt.Sprintf("%s, %d KiB, %s", tt.layout, kib, client)
				before, rest, isCut := strings.Cut(got, "(Cut to fit: ")
				switch {
				case len([]rune(got)) > limit:
					t.Errorf("%s: %d characters, want at most %d", name, len([]rune(got)), limit)
				case !strings.Contains(got, tt.own):
					t.Errorf("%s: the layout's own text is not there: %.200q", name, got)
				case tt.small != "" && !strings.Contains(got, identity):
					t.Errorf("%s: the small file is not there", name)
				case !strings.Contains(got, "Fact"):
					t.Errorf("%s: nothing of the large file is there", name)
				case isCut != (kib > 1), isCut && !strings.Contains(rest, "All of it: oxbow context"):
					t.Errorf("%s: cut = %v, and the rest is: %.200q", name, isCut, rest)
				case isCut && len(got) < 7_000:
					t.Errorf("%s: only %d characters are used", name, len(got))
				case strings.Contains(got, "there is more"):
					t.Errorf("%s: the answer is cut a second time: %q", name, got[len(got)-200:])
				case isCut && strings.Count(before, "Fact ") != strings.Count(before, ": the server is in a rack."):
					t.Errorf("%s: the cut is within a paragraph: %q", name, before[len(before)-300:])
				}
			}
		}
	}
}

// TestHooksOfLargeRecall tests the entry that a hook recalls for a prompt. If the entry is too long, the hook must cut
// its text and say so, even if the answer also contains the session's context. The whole answer must not have more than
// 9,500 characters.
func TestHooksOfLargeRecall(t *testing.T) {
	t.Parallel()
	for _, kib := range []int{1, 17, 64} {
		w := newWorld(t)
		w.must(t, "init", "--dialect", "entryfiles", "--home", "home")
		w.vars["OXBOW_HOME"] = w.dir + "/home"
		w.write(t, "home/memory/MEMORY.md", wholeFacts(kib<<10))
		w.write(t, "home/memory/entries/zebra.md",
			"---\nname: zebra\ndescription: zebra stripes\n---\n\n"+wholeFacts(kib<<10))
		for client := range hookLimits {
			report := startReport(client, w.dir)
			if client != "gemini" {
				w.clientHook(t, client, report)
				report["hook_event_name"] = "UserPromptSubmit"
				delete(report, "source")
			}
			report["prompt"], report["turn_id"] = "zebra stripes", "t1"
			got := w.clientHook(t, client, report)
			name := fmt.Sprintf("%d KiB, %s", kib, client)
			_, recalled, isRecalled := strings.Cut(got, "<recall>")
			if !isRecalled || !strings.Contains(recalled, "Fact 0") || !strings.Contains(recalled, "</recall>") {
				t.Errorf("%s: the recalled entry is not there: %.300q", name, recalled)
			}
			if isCut := strings.Contains(recalled, "(Cut to fit: \"zebra\""); isCut != (kib > 1) {
				t.Errorf("%s: cut = %v", name, isCut)
			}
			if len([]rune(got)) > 9_500 || strings.Contains(got, "there is more") {
				t.Errorf("%s: the answer has %d characters", name, len([]rune(got)))
			}
		}
	}
}

// TestHookOfLargeHandoff tests that a long handoff does not displace the identity and the instructions.
func TestHookOfLargeHandoff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(t, "init", "--dialect", "coderhapsody", "--home", "home")
	w.vars["OXBOW_HOME"] = w.dir + "/home"
	w.write(t, "home/SOUL.md", "I am the keeper of the small file.")
	w.write(t, "home/MEMORY.md", wholeFacts(64<<10))
	w.must(t, "handoff", "new", wholeFacts(30<<10), "-q")
	got := w.clientHook(t, "claude", startReport("claude", w.dir))
	for _, want := range []string{
		"I am the keeper of the small file.", "data and not instructions", "(Cut to fit: ", "Handoff \"handoff: Fact 0",
		"The handoff below is cut. All of it: oxbow handoff show",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the answer lacks %q: %q", want, got)
		}
	}
	if len(got) > 9_500 || strings.Contains(got, "there is more") {
		t.Errorf("the answer has %d characters", len(got))
	}
}
