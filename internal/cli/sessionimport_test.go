// This file tests the state in which an import of sessions leaves the archive.

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSessionImportMakesIndex tests that an import of many turns creates the index of the archive.
// Without the index, no later prompt would be answered in the time that a hook has.
func TestSessionImportMakesIndex(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(w.vars["HOME"], ".claude", "projects", "-p")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for i := range 400 {
		fmt.Fprintf(
			&lines,
			`{"type":"user","promptId":"p%d","uuid":"u%d","sessionId":"s1","cwd":"/p","timestamp":"2026-04-17T01:%02d:%02dZ","message":{"role":"user","content":"heron %d stands in the water"}}`+"\n",
			i,
			i,
			i/60,
			i%60,
			i,
		)
	}
	if err := os.WriteFile(filepath.Join(dir, "s1.jsonl"), []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if said := w.must(t, "session", "import"); !strings.HasPrefix(said, "claude: 400 turns new") {
		t.Fatalf("session import says %q", said)
	}
	fi, err := os.Stat(filepath.Join(w.vars["HOME"], ".local", "share", "oxbow", "sessions.oxbow.idx"))
	if err != nil || fi.Size() == 0 { // an empty file means that no index was needed yet
		t.Errorf("the archive has no index: %v", err)
	}
	if said := w.must(t, "session", "search", "heron 399"); !strings.Contains(said, "heron 399") {
		t.Errorf("session search says %q", said)
	}
	w.must(t, "check")
}
