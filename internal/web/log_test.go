// This file tests the page Log, and undoing changes.

package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

func TestLog(t *testing.T) {
	b := open(t, auth.Permissions{})
	b.remember("n", "one\n")
	agent := oxbow.WithSource(t.Context(), oxbow.Source{Actor: oxbow.Agent, Door: "mcp", Session: "0123456789abcdef"})
	for _, op := range []oxbow.Op{
		oxbow.Update{Name: "n", Content: "two\n", Labels: []oxbow.Label{{Key: "tag", Value: "x"}}},
		oxbow.Add{Name: "m", Content: "of the agent"},
	} {
		if err := b.memory.Apply(agent, op); err != nil {
			t.Fatal(err)
		}
	}
	shown := b.get(page.RootPath+"log", http.StatusOK)
	b.has(shown, `Added <a href="/ui/entries/m"><bdi>m</bdi></a>`, "session <bdi>01234567</bdi>", `href="/ui/log/2"`)
	shown = b.get(page.RootPath+"log?by=person", http.StatusOK)
	if strings.Contains(shown, "<bdi>m</bdi>") || !strings.Contains(shown, "<bdi>n</bdi>") {
		t.Errorf("by a person:\n%s", shown)
	}
	shown = b.get(page.RootPath+"log?entry=m", http.StatusOK)
	if strings.Contains(shown, "<bdi>n</bdi>") {
		t.Errorf("of one entry:\n%s", shown)
	}
	b.has(b.get(page.RootPath+"log?by=import", http.StatusOK), "No change matches", "All changes")
	b.get(page.RootPath+"log?entry=unknown", http.StatusNotFound)
	shown = b.get(page.RootPath+"log/2", http.StatusOK)
	b.has(shown, `id="change"`, "<del>− <bdi>one</bdi></del><ins>+ <bdi>two</bdi></ins>", "tag:x")
	// The page of a change is shown even if a later change of the same entry prevents undoing the change.
	b.has(b.get(page.RootPath+"log/1", http.StatusOK), `id="change"`, "<ins>+ <bdi>one</bdi></ins>")
	for path, status := range map[string]int{
		"log/99": http.StatusNotFound,
		"log/x":  http.StatusBadRequest,
		"log/0":  http.StatusBadRequest,
	} {
		b.get(page.RootPath+path, status)
	}

	// All changes of the session are undone, except for entries that a person has changed since.
	b.submit(b.get(at("m", "/edit"), http.StatusOK), "Save", url.Values{"content": {"a person's"}}, http.StatusOK)
	shown = b.get(page.RootPath+"log?session=0123456789abcdef", http.StatusOK)
	b.has(shown, "Undo all of them…")
	shown = b.get(page.RootPath+"log/revert?session=0123456789abcdef", http.StatusOK)
	b.has(
		shown,
		"1 change would be undone",
		"<bdi>n</bdi></a> gets its earlier text back",
		"What others changed since",
		"<bdi>m</bdi></a>: ",
	)
	if b.content("n") != "two\n" {
		t.Error("a look took something back")
	}
	shown = b.submit(shown, "Undo the session", nil, http.StatusOK)
	b.has(shown, "Undo")
	if b.content("n") != "one\n" || b.content("m") != "a person's" {
		t.Errorf("after it: %q, %q", b.content("n"), b.content("m"))
	}
	b.submit(shown, "Undo", nil, http.StatusOK)
	if b.content("n") != "two\n" {
		t.Errorf("after undo: %q", b.content("n"))
	}
	b.has(b.get(page.RootPath+"log/revert?session=unknown", http.StatusOK), "This session changed nothing")
	b.post(page.RootPath+"log/revert", nil, http.StatusBadRequest)
}

// TestProgramsDecideNothing tests that a browser that signed in with a program's token cannot make a
// person's decisions.
func TestProgramsDecideNothing(t *testing.T) {
	b := open(t, auth.Permissions{})
	b.remember("n", "text")
	b.client = b.fresh()
	b.post(page.RootPath+"enter", url.Values{"token": {token}}, http.StatusOK)
	for _, path := range []string{"log/revert?session=x", "entries/n/redact"} {
		b.has(b.get(page.RootPath+path, http.StatusForbidden), "This needs a person")
	}
	b.post(page.RootPath+"log/revert", url.Values{"session": {"x"}}, http.StatusForbidden)
	b.post(page.RootPath+"entries/n/redact", nil, http.StatusForbidden)
	if b.content("n") != "text" {
		t.Error("the entry is another")
	}
}
