// This file tests the routes for directories of Markdown files.

package httpapi

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/folder"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/folders"
)

// TestFolders checks what a program may do with the folders of a person: it may list them and import edits of their
// files. It may not register or remove a folder, or confirm that files were deleted.
func TestFolders(t *testing.T) {
	h := newHome(t)
	vault := t.TempDir()
	file := filepath.Join(vault, "berths.md")
	h.must(os.WriteFile(file, []byte("Berth 7 is closed.\n"), 0o600))
	person := oxbow.WithSource(t.Context(), oxbow.Source{Door: "cli", Actor: oxbow.Person})
	w := h.views.Workspace
	_, err := folders.Add(person, w, folders.AddIn{Dir: vault, Name: "vault"})
	h.must(err)

	h.want(h.send("all", http.MethodGet, "/folders", ""), 200, `"name":"vault"`, `"files":1`, `"problems":[]`)
	h.want(h.send("a", http.MethodGet, "/folders", ""), 403, "")
	h.want(h.send("a", http.MethodPost, "/folders/sync", "{}"), 403, "")

	h.must(os.WriteFile(file, []byte("Berth 7 is open again, from March on.\n"), 0o600))
	h.must(os.Chtimes(file, time.Unix(1, 0), time.Unix(1, 0)))
	h.want(h.send("all", http.MethodPost, "/folders/sync", `{"dry_run":true}`), 200, `"updated":1`)
	if e, err := h.notes.Get(t.Context(), "berths"); err != nil || e.Content != "Berth 7 is closed.\n" {
		t.Errorf("after a dry run the entry is %q, %v", e.Content, err)
	}
	h.want(h.send("all", http.MethodPost, "/folders/sync", `{"folder":"vault"}`), 200, `"updated":1`)
	h.want(h.send("all", http.MethodPost, "/folders/sync", "{}"), 200, `"updated":0`)
	e, err := h.notes.Get(t.Context(), "berths")
	if err != nil || e.Content != "Berth 7 is open again, from March on.\n" || e.Trust() != oxbow.TrustImported {
		t.Errorf("after the comparison the entry is %q with trust %s, %v", e.Content, e.Trust(), err)
	}
	h.want(h.send("all", http.MethodPost, "/folders/sync", `{"folder":"none"}`), 404, "the folders are: vault")

	for _, c := range []struct{ method, path, body, want string }{
		{http.MethodPost, "/folders", object(map[string]any{"dir": vault, "write": true}), "only a person registers"},
		{http.MethodPost, "/folders/sync", `{"prune":true}`, "only a person confirms that files were deleted"},
		{http.MethodDelete, "/folders/vault?forget=true", "", "only a person removes"},
	} {
		h.want(h.send("all", c.method, c.path, c.body), 400, c.want)
	}
	all, err := folder.ListFolders(filepath.Dir(h.path))
	if err != nil || len(all) != 1 || all[0].WritesFiles {
		t.Errorf("the folders are %+v, %v; want the one of the person, read only", all, err)
	}
	if _, err := folders.Add(person, w, folders.AddIn{Dir: "vault"}); err == nil ||
		verb.ErrorRemedy(err).String() != "begin with the top directory, as in /home/ada/vault" {
		t.Errorf("adding a relative path over a server: %v; want an error", err)
	}
}
