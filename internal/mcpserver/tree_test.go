// This file tests a long-running server whose files people edit. The next answer must contain each edit.

package mcpserver

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/layout/duragent"
	"github.com/oxbow-memory/oxbow/layout/entryfiles"
	"github.com/oxbow-memory/oxbow/vfs"
)

// treeServer returns a server for a home in dir. It offers the tools of the layout, and those tools of oxbow whose
// names are still free.
func treeServer(t *testing.T, d layout.Dialect, dir string) *Server {
	t.Helper()
	fsys, err := vfs.Dir(dir)
	if err != nil {
		t.Fatal(err)
	}
	o := layout.Options{FS: fsys, Path: dir}
	if _, err := d.Init(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	h, err := d.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if r, err := h.Memory().Check(context.Background()); err != nil || len(r.Problems) > 0 {
			t.Errorf("Check = %v, %v, want no problems", r.Problems, err)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		if err := fsys.Close(); err != nil {
			t.Error(err)
		}
	})
	tools := h.Tools()
	taken := map[string]bool{}
	for _, own := range tools {
		taken[own.Name] = true
	}
	for _, other := range verb.Tools() {
		if !taken[other.Name] {
			tools = append(tools, other)
		}
	}
	workspace := &verb.Workspace{
		Written: h.Written(),
		Open: func(context.Context, verb.MemoryAccess) (*oxbow.Memory, error) {
			return h.Memory(), nil
		},
	}
	return New(workspace, &Options{Tools: tools, Home: h})
}

// TestSessionsAreShownTheirOwn checks that a write is compared with what the same session was shown, and not with what
// another session was shown.
func TestSessionsAreShownTheirOwn(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "memory", "MEMORY.md")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("of one\n"), 0o644); err != nil { // A person writes the file.
		t.Fatal(err)
	}
	s := treeServer(t, entryfiles.Dialect(), dir)
	srv := httptest.NewServer(
		s.Handler(auth.RequestGuard{Tokens: auth.Tokens{auth.NewToken("", token, auth.Permissions{})}}),
	)
	t.Cleanup(srv.Close)
	open := func() *mcp.ClientSession {
		cs := client(
			t,
			&mcp.StreamableClientTransport{Endpoint: srv.URL, HTTPClient: &http.Client{Transport: bearer{token}}},
			versions[1],
		)
		t.Cleanup(func() { cs.Close() })
		return cs
	}
	memory := func(cs *mcp.ClientSession, content string) (said string, refused bool) {
		t.Helper()
		res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "memory", Arguments: obj{"content": content}})
		if err != nil {
			t.Fatal(err)
		}
		return textOf(res), res.IsError
	}
	one, two := open(), open()
	if said, refused := memory(one, "of one\n"); refused { // The session writes the text that the file already has.
		t.Fatal(said)
	}
	if said, refused := memory(two, "of two\n"); !refused || !strings.Contains(said, "of one") {
		t.Errorf("a session that was shown nothing overwrites: %q", said)
	}
	if said, refused := memory(two, "of one\nof two\n"); refused {
		t.Errorf("what was shown cannot be replaced: %q", said)
	}
	if said, refused := memory(one, "one again\n"); !refused || !strings.Contains(said, "of two") {
		t.Errorf("a session overwrites what another wrote since: %q", said)
	}
	if said, refused := memory(one, ""); refused || !strings.Contains(said, "of one\nof two") {
		t.Errorf("MEMORY.md says %q", said)
	}
}

func TestEditsShowInTheNextAnswer(t *testing.T) {
	write := func(t *testing.T, dir, name, text string) {
		t.Helper()
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		layout layout.Dialect
		file   string // path of the file of entry n
		text   func(content string) string
		search string // tool of the layout that searches for words
	}{
		{entryfiles.Dialect(), "memory/entries/e%d.md", func(c string) string {
			return "---\nname: entry\n---\n" + c + "\n"
		}, "recall"},
		{duragent.Dialect(), ".duragent/memory/world/e%d.md", func(c string) string {
			return c + "\n"
		}, "search_memory"},
	} {
		for _, files := range []int{1, 80} { // The larger directory is watched if the system supports it.
			t.Run(fmt.Sprint(tt.layout.Name, " ", files), func(t *testing.T) {
				dir := t.TempDir()
				for i := range files - 1 {
					text := strings.Replace(tt.text("filler"), "name: entry", fmt.Sprint("name: filler ", i), 1)
					write(t, dir, fmt.Sprintf(tt.file, i), text)
				}
				cs := overMemory(t, treeServer(t, tt.layout, dir), versions[1])
				ask := func(word string) string {
					t.Helper()
					res, err := cs.CallTool(
						t.Context(),
						&mcp.CallToolParams{Name: tt.search, Arguments: obj{"query": word}},
					)
					if err != nil || res.IsError {
						t.Fatalf("%s(%s): %v %v", tt.search, word, res, err)
					}
					return textOf(res)
				}
				own := fmt.Sprintf(tt.file, files)
				for i, word := range []string{"quince", "medlar", "sorb", "loquat"} {
					write(t, dir, own, tt.text(word+" tree"))
					if got := ask(word); !strings.Contains(got, word+" tree") {
						t.Errorf("after edit %d, %s says %q", i, tt.search, got)
					}
					if got, want := say(
						t,
						cs,
						"list",
						obj{"limit": 1},
					), fmt.Sprintf("1 of %d entr", files); !strings.HasPrefix(got, want) {
						t.Errorf("after edit %d, list says %.40q, want %q", i, got, want)
					}
				}
				if got := ask("quince"); strings.Contains(got, "quince tree") {
					t.Errorf("what an edit took away is still found: %q", got)
				}
				res, err := cs.ListResources(t.Context(), nil)
				if err != nil || len(res.Resources) == 0 {
					t.Errorf("resources: %v, %v", res, err)
				}
				if err := os.Remove(filepath.Join(dir, filepath.FromSlash(own))); err != nil {
					t.Fatal(err)
				}
				if got := ask("loquat"); strings.Contains(got, "loquat tree") {
					t.Errorf("a file that was removed is still found: %q", got)
				}
			})
		}
	}
}
