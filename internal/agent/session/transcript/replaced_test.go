// This file tests that an edit and its opposite have the same hashes, for all clients.

package transcript

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
)

func TestReplaced(t *testing.T) {
	const before, after = "func Greet() {\n\tprintln(\"hello\")\n}\n", "func Greet() string {\n\treturn \"hello\"\n}\n"
	call := func(tool string, args map[string]string) *session.ToolCall {
		b, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		e, ok := CompleteCallEvent(session.Event{}, tool, b, CallOutcome{}, func(s string) string { return s })
		if !ok {
			t.Fatalf("%s is no call", tool)
		}
		return e.Call
	}
	patch := func(minus, plus string) string {
		return "*** Begin Patch\n*** Update File: a.go\n@@\n // Greet greets.\n-" + minus + "\n+" + plus +
			"\n*** End Patch\n"
	}
	for _, c := range []struct {
		name, tool string
		there      map[string]string
		back       map[string]string
	}{
		{
			"Claude Code",
			"Edit",
			map[string]string{"file_path": "a.go", "old_string": before, "new_string": after},
			map[string]string{"file_path": "a.go", "old_string": after, "new_string": before},
		},
		{
			"with more lines around",
			"replace",
			map[string]string{"file_path": "a.go", "old_string": before, "new_string": after},
			map[string]string{"file_path": "a.go", "old_string": "// x\n" + after + "\n// y", "new_string": "// x\n" +
				before + "\n// y"},
		},
		{
			"opencode",
			"edit",
			map[string]string{"filePath": "a.go", "oldString": before, "newString": after},
			map[string]string{"filePath": "a.go", "oldString": after, "newString": before},
		},
		{
			"Copilot CLI",
			"edit",
			map[string]string{"path": "a.go", "old_str": before, "new_str": after},
			map[string]string{"path": "a.go", "old_str": after, "new_str": before},
		},
		{
			"Codex",
			"apply_patch",
			map[string]string{"input": patch("println(1234567)", "return 1234567")},
			map[string]string{"input": patch("return 1234567", "println(1234567)")},
		},
	} {
		there, back := call(c.tool, c.there), call(c.tool, c.back)
		if there.OldTextHash == "" || there.OldTextHash == there.NewTextHash ||
			there.OldTextHash != back.NewTextHash ||
			there.NewTextHash != back.OldTextHash {
			t.Errorf(
				"%s: there %q to %q, back %q to %q",
				c.name,
				there.OldTextHash,
				there.NewTextHash,
				back.OldTextHash,
				back.NewTextHash,
			)
		}
	}
	for name, args := range map[string]map[string]string{
		"a short text":    {"file_path": "a.go", "old_string": "}", "new_string": "})"},
		"the same text":   {"file_path": "a.go", "old_string": before, "new_string": before},
		"a whole file":    {"file_path": "a.go", "content": before},
		"several files":   {"input": patch("println(1234567)", "return 1234567") + "*** Update File: b.go\n"},
		"no file is said": {"old_string": before, "new_string": after},
	} {
		if c := call("edit", args); (c.OldTextHash+c.NewTextHash != "" && len(c.WrittenFiles) != 1) ||
			(c.OldTextHash+c.NewTextHash != "" && name != "several files") {
			t.Errorf("%s: %q to %q, want nothing", name, c.OldTextHash, c.NewTextHash)
		}
	}
}

// TestReplacedFile tests that a call that writes a whole file has the hash of the new file, and the hash of the old
// file if the client reports it.
func TestReplacedFile(t *testing.T) {
	const old, now = "package a\n\nvar rate = 7\n", "package a\n\nvar rate = 8\n"
	call := func(tool string, args map[string]any, response string) *session.ToolCall {
		b, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		e, ok := CompleteCallEvent(
			session.Event{},
			tool,
			b,
			DecodeOutcome([]byte(response)),
			func(s string) string { return s },
		)
		if !ok {
			t.Fatalf("%s is no call", tool)
		}
		return e.Call
	}
	original, err := json.Marshal(map[string]string{"originalFile": old})
	if err != nil {
		t.Fatal(err)
	}
	edit := call(
		"Edit",
		map[string]any{"file_path": "a.go", "old_string": "rate = 7", "new_string": "rate = 8"},
		string(original),
	)
	if edit.FileHashBefore == "" || edit.FileHashAfter == "" || edit.FileHashBefore == edit.FileHashAfter {
		t.Fatalf("an edit of Claude Code: before %q, after %q", edit.FileHashBefore, edit.FileHashAfter)
	}
	for name, c := range map[string]*session.ToolCall{
		"Claude Code": call(
			"Write",
			map[string]any{"file_path": "a.go", "content": old},
			`{"type":"update","originalFile":null}`,
		),
		"Gemini CLI":  call("write_file", map[string]any{"file_path": "a.go", "content": strings.TrimSpace(old)}, ""),
		"Copilot CLI": call("create", map[string]any{"path": "a.go", "file_text": old}, ""),
	} {
		if c.FileHashAfter != edit.FileHashBefore || c.FileHashBefore != "" {
			t.Errorf(
				"%s: before %q, after %q; want %q after",
				name,
				c.FileHashBefore,
				c.FileHashAfter,
				edit.FileHashBefore,
			)
		}
	}
	if c := call("Write", map[string]any{"file_path": "a.go", "content": now},
		""); c.FileHashAfter != edit.FileHashAfter {
		t.Errorf("a file with the text of the edit: %q, want %q", c.FileHashAfter, edit.FileHashAfter)
	}
	if c := call(
		"Edit",
		map[string]any{"file_path": "a.go", "old_string": "rate = 9", "new_string": "x"},
		string(original),
	); c.FileHashAfter != "" {
		t.Errorf("an edit of a text that is not in the file leaves %q", c.FileHashAfter)
	}
}

// TestReplacedSecret tests that a hash does not depend on a secret, because the secret could be guessed from the hash.
func TestReplacedSecret(t *testing.T) {
	hash := func(secret string) string {
		args, _ := json.Marshal(map[string]string{
			"file_path":  "a.go",
			"old_string": "password = x",
			"new_string": "password = " + secret,
		})
		e, _ := CompleteCallEvent(session.Event{}, "Edit", args, CallOutcome{}, func(s string) string {
			return s[:min(len(s), len("password = "))] + "…"
		})
		return e.Call.NewTextHash
	}
	if hash("hunter2") != hash("hunter3") {
		t.Error("the hash depends on what may not be kept")
	}
}
