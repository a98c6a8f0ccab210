// This file tests commands whose work is too large for one change of the log.

package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestWorkInParts approves an import with a low limit for the size of a change, so that the approval and the import
// consist of several changes. It undoes and redoes the approval, and then the import. Each undo and redo must treat all
// changes of the operation together.
func TestWorkInParts(t *testing.T) {
	const count = 40
	w := newWorld(t)
	w.env.MaxChangeBytes = 4000
	var lines strings.Builder
	for i := range count {
		fmt.Fprintf(&lines, `{"name":"berth %d","content":"Berth %d is %s."}`+"\n", i, i, strings.Repeat("long ", 40))
	}
	path := filepath.Join(w.dir, "notes.jsonl")
	if err := os.WriteFile(path, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	w.must(t, "init")
	_, _, said := w.run(t, "import", path)
	group := regexp.MustCompile(`--group ([0-9a-f]+)`).FindStringSubmatch(said)
	if group == nil {
		t.Fatalf("import says %q, want the group to approve", said)
	}
	listed := func(filter string) int {
		t.Helper()
		var out struct{ Total int }
		if err := json.Unmarshal([]byte(w.must(t, "list", filter, "--json")), &out); err != nil {
			t.Fatal(err)
		}
		return out.Total
	}
	redoOf := func(said string) []string {
		t.Helper()
		m := regexp.MustCompile(`to redo: oxbow (undo .*)`).FindStringSubmatch(said)
		if m == nil {
			t.Fatalf("undo says %q, want how to redo it", said)
		}
		return strings.Fields(m[1])
	}
	w.must(t, "approve", "--group", group[1])
	if n := listed("approved:person"); n != count {
		t.Fatalf("%d entries are approved, want %d", n, count)
	}
	log := w.must(t, "log")
	if !regexp.MustCompile(`(?m)^ *2 to \d+ .*label 40 entries \(label approve\)`).MatchString(log) {
		t.Errorf("the log is %q, want the approval as one operation with several changes", log)
	}
	_, out, said := w.run(t, "undo")
	if !strings.Contains(out, "undid 1 change") || listed("approved:person") != 0 {
		t.Errorf("undo says %q, and %d entries are approved, want 0", out, listed("approved:person"))
	}
	w.must(t, redoOf(said)...)
	if n := listed("approved:person"); n != count {
		t.Errorf("after the redo, %d entries are approved, want %d", n, count)
	}
	w.must(t, "undo", "--seq", "3") // one part of the approval
	if n := listed("approved:person"); n != 0 {
		t.Errorf("after the undo of one part, %d entries are approved, want 0", n)
	}
	_, _, said = w.run(t, "undo")
	if n := listed("kind:note"); n != 0 {
		t.Errorf("after the undo of the import, there are %d entries, want 0", n)
	}
	w.must(t, redoOf(said)...)
	if n := listed("kind:note"); n != count {
		t.Errorf("after the redo of the import, there are %d entries, want %d", n, count)
	}
	w.must(t, "check")
}
