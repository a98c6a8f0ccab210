// This file tests that every command prints exactly one JSON object if --json is set.

package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/test/testenv"
)

// emptyHome returns a world that contains an empty memory, a dump of it, and a file without entries.
func emptyHome(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.must(t, "init")
	w.must(t, "dump", "tree")
	if err := os.WriteFile(filepath.Join(w.dir, "none.jsonl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return w
}

// TestEveryCommandGivesOneObject runs each command with --json in an empty home. The command must print one JSON object
// on one line. If the command fails, it may print the object on standard error instead. No field of the object may be
// null.
func TestEveryCommandGivesOneObject(t *testing.T) {
	testenv.SkipInShortMode(t)
	t.Parallel()
	// docs/json.md lists the commands whose output is not JSON. The command bench is another program.
	other := []string{"export", "help", "mcp", "serve", "ui", "bench"}
	lines := [][]string{{"trust", "--list"}, {"import", "none.jsonl"}, {"load", "tree"}}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if name := strings.Fields(c.CommandPath())[1:]; !slices.Contains(other, strings.Join(name, " ")) {
			lines = append(lines, name)
			for _, sub := range c.Commands() {
				walk(sub)
			}
		}
	}
	walk(newLazyMemory(newWorld(t).env).rootCommand(Run))
	for _, args := range lines {
		w := emptyHome(t)
		status, stdout, stderr := w.run(t, append(args, "--json")...)
		said := stdout
		if status != exitSuccess && stdout == "" {
			said = stderr
		}
		var object map[string]any
		if err := json.Unmarshal([]byte(said), &object); err != nil || strings.Count(said, "\n") != 1 {
			t.Errorf("oxbow %q --json = %d, %q, %q, want one object: %v", args, status, stdout, stderr, err)
		}
		for name, v := range object {
			if v == nil {
				t.Errorf("oxbow %q --json: %s is null", args, name)
			}
		}
	}
}

// TestListsOfNothing tests that lists in JSON are present even if they are empty.
func TestListsOfNothing(t *testing.T) {
	for line, want := range map[string][]string{
		"import none.jsonl": {"dry_run", "changes", "problems", "notes", "stale", "more"},
		"load tree":         {"dry_run", "added", "changed", "removed", "kept", "warnings"},
		"trust --list":      {"homes"},
		"consolidate":       {"steps"},
	} {
		w := emptyHome(t)
		var object map[string]any
		if err := json.Unmarshal([]byte(w.must(t, append(strings.Fields(line), "--json")...)), &object); err != nil {
			t.Fatal(err)
		}
		for _, name := range want {
			if object[name] == nil {
				t.Errorf("oxbow %s --json has no %s", line, name)
			}
		}
	}
}
