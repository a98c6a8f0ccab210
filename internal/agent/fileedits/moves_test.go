// This file tests patches of files whose text contains lines like the headers of a patch, and files that are renamed
// between two edits.

package fileedits

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/code/annotate"
)

// rollout returns a Codex transcript with a call of apply_patch for each patch. The transcript contains no line
// numbers.
func rollout(t *testing.T, dir string, patches ...string) *Transcript {
	t.Helper()
	var b strings.Builder
	line := func(typ string, payload map[string]any) {
		text, err := json.Marshal(map[string]any{"timestamp": "2026-05-02T10:00:00Z", "type": typ, "payload": payload})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(text, '\n'))
	}
	line("session_meta", map[string]any{"id": "s", "cwd": dir})
	for i, p := range patches {
		line(
			"response_item",
			map[string]any{
				"type":    "message",
				"role":    "assistant",
				"content": []any{map[string]any{"type": "output_text", "text": fmt.Sprint("reason ", i)}},
			},
		)
		line(
			"response_item",
			map[string]any{
				"type":    "custom_tool_call",
				"call_id": fmt.Sprint("call", i),
				"name":    "apply_patch",
				"input":   "*** Begin Patch\n" + p + "*** End Patch",
			},
		)
		line(
			"response_item",
			map[string]any{
				"type":    "custom_tool_call_output",
				"call_id": fmt.Sprint("call", i),
				"output":  "Success. Updated the following files:\n",
			},
		)
	}
	tr, err := ReadTranscript(strings.NewReader(b.String()), "")
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestPatchOfTextThatReadsLikeOne(t *testing.T) {
	const patch = "*** Begin Patch\n" +
		"*** Update File: notes.md\n" +
		"@@\n" +
		" *** Update File: is how a patch names a file\n" +
		" \t*** End Patch\n" +
		"-*** End of File\n" +
		"+*** Delete File: x\n" +
		"+@@ of the text\n" +
		" @@ of the context\n" +
		"*** Add File: new.md\n" +
		"+*** End Patch\n" +
		"*** End Patch"
	got, err := parsePatchEnvelope(patch)
	if err != nil || len(got) != 2 || got[0].path != "notes.md" || got[1].path != "new.md" || len(got[0].hunks) != 1 {
		t.Fatalf("parsePatchEnvelope = %+v, %v, want two files, the first with a hunk", got, err)
	}
	es := got[0].hunks[0].splitIntoEdits(Edit{})
	if len(es) != 1 || strings.Join(es[0].NewLines, "|") != "*** Delete File: x|@@ of the text" ||
		strings.Join(es[0].LinesBefore, "|") != "*** Update File: is how a patch names a file|\t*** End Patch" {
		t.Errorf("its edits are %+v", es)
	}
	if l := got[1].hunks[0].lines; len(l) != 1 || l[0] != "+*** End Patch" {
		t.Errorf("the new file has %q", l)
	}
}

func TestEditsBeforeAndAfterAMove(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b, err := annotate.OpenDir(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	patches := []string{
		"*** Update File: one.go\n@@\n first line of the file\n+the first edit\n",
		"*** Update File: one.go\n*** Move to: two.go\n@@\n second line of the file\n+the second edit\n",
		"*** Update File: two.go\n*** Move to: three.go\n@@\n third line of the file\n+the third edit\n",
		"*** Add File: one.go\n+another file of the old name\n",
	}
	text := "first line of the file\nthe first edit\nsecond line of the file\nthe second edit\nthird line of the file\n"
	join := func(n int) map[string]string {
		t.Helper()
		j, err := MakeRecords(b, rollout(t, dir, patches[:n]...), nil)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, r := range j.Records {
			got[r.Why] = r.File + ":" + r.Span.String()
			if _, err := b.Add(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		return got
	}
	write("two.go", text)
	if got, want := join(2), (map[string]string{
		"reason 0": "two.go:2",
		"reason 1": "two.go:4",
	}); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("after one move: %v, want %v", got, want)
	}
	// Rename the file a second time. MakeRecords must follow both moves, although the file two.go no longer exists.
	if err := os.Rename(filepath.Join(dir, "two.go"), filepath.Join(dir, "three.go")); err != nil {
		t.Fatal(err)
	}
	write("three.go", text+"the third edit\n")
	want := map[string]string{"reason 0": "three.go:2", "reason 1": "three.go:4", "reason 2": "three.go:6"}
	if got := join(3); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("after two moves: %v, want %v", got, want)
	}
	found, err := b.Lookup(t.Context(), "three.go", annotate.LineSpan{})
	if err != nil || len(found) != 3 {
		t.Errorf("Lookup(three.go) = %d annotations, %v, want each of 3 once", len(found), err)
	}
	// If another file gets the first name, one.go, nobody can tell which of the two files the first edit belongs to.
	// The record of this edit then names one.go, and has either no lines or the span 0.
	write("one.go", "another file of the old name\n")
	if got := join(4); (got["reason 0"] != "one.go:0-0" && got["reason 0"] != "one.go:0") ||
		got["reason 3"] != "one.go:1" || got["reason 2"] != "three.go:6" {
		t.Errorf("with another file of the old name: %v", got)
	}
	if r, err := b.CheckSidecars(t.Context()); err != nil || len(r.Problems) > 0 {
		t.Errorf("Check = %+v, %v", r, err)
	}
}
