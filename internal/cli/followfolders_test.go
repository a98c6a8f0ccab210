// This file tests that a running server notices changed files in folders that were added to the memory.

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestServersFollowFolders tests that changed files of a folder are found by the next recall over MCP, over HTTP and
// on a page, and that texts written by an agent are written into the files.
func TestServersFollowFolders(t *testing.T) {
	w := newWorld(t)
	vault := filepath.Join(w.dir, "vault")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(vault, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(vault, 0o700); err != nil {
		t.Fatal(err)
	}
	write("kayak.md", "The kayak is red.\n")
	w.must(t, "init")
	w.must(t, "folder", "add", "vault", "--write")
	const secret = "secret-of-all-there-is"
	if err := os.WriteFile(filepath.Join(w.dir, "tokens"), []byte("all "+secret+" rw\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	mcpURL, stopMCP := w.serve(t, "--tokens", "tokens")
	call := func(tool string, args map[string]any) string {
		said, _ := callTool(t, mcpURL+"/mcp", secret, tool, args)
		return said
	}
	recall := func() string { return call("recall", map[string]any{"query": "kayak"}) }
	if said := recall(); !strings.Contains(said, "red") {
		t.Errorf("at first, recall says %q, want red in it", said)
	}
	write("kayak.md", "The kayak is blue.\n")
	if said := recall(); !strings.Contains(said, "blue") {
		t.Errorf("after an edit, recall says %q, want blue in it", said)
	}
	if err := os.Rename(filepath.Join(vault, "kayak.md"), filepath.Join(vault, "canoe.md")); err != nil {
		t.Fatal(err)
	}
	if said := call("list", nil); !strings.Contains(said, "canoe") || strings.Contains(said, "kayak\n") {
		t.Errorf("after a rename, list says %q, want canoe and not kayak", said)
	}
	call("remember", map[string]any{"name": "canoe", "content": "The canoe is green."})
	recall() // The next call writes the files first.
	if b, err := os.ReadFile(filepath.Join(vault, "canoe.md")); err != nil || string(b) != "The canoe is green.\n" {
		t.Errorf("the file is %q, %v; want what the agent wrote", b, err)
	}
	if status, said := stopMCP(); status != exitSuccess || strings.Contains(said, "folder") {
		t.Errorf("the server ended with %d: %s", status, said)
	}

	pageURL, stopPages := w.serveCommand(t, "serve", "--tokens", "tokens", "--http", "127.0.0.1:0")
	write("sextant.md", "The sextant is in the drawer.\n")
	if page := get(t, pageURL+"/api/v1/entries", secret); !strings.Contains(page, "drawer") {
		t.Errorf("the HTTP API says %q, want the new note", page)
	}
	stopPages()
	write("compass.md", "The compass is lost.\n")
	if page := w.pages(t, "ui", "--no-open", "--http", "127.0.0.1:0"); !strings.Contains(page, "compass") {
		t.Errorf("the page is %q, want the new note in it", page)
	}
	w.must(t, "check")
}
