// This file tests the import of an uploaded file, the export, and sharing with the team.

package web

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/share/trust"
	"github.com/oxbow-memory/oxbow/internal/verb/sharing"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	"github.com/oxbow-memory/oxbow/test/testenv"
)

// upload sends a file to the preview of an import.
func (b *browser) upload(name, content string, status int) string {
	b.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", name)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := part.Write([]byte(content)); err != nil {
		b.t.Fatal(err)
	}
	if err := form.Close(); err != nil {
		b.t.Fatal(err)
	}
	res, err := b.client.Post(b.url+page.RootPath+"transfer/preview", form.FormDataContentType(), &body)
	return b.read(res, err, "transfer/preview", status)
}

// TestImportUpload tests that an uploaded file is stored only after the preview, and only once. An import must fail if
// its digest belongs to no preview. It must be possible to undo the import without undoing other changes.
func TestImportUpload(t *testing.T) {
	b := open(t, auth.Permissions{})
	b.has(b.get(page.RootPath+"transfer", http.StatusOK), "Preview", "Export")
	b.remember("own", "Mine.")
	lines := `{"name":"gate","content":"Closes at nine."}` + "\n" +
		`{"name":"quay","content":"Holds 14 boats."}` + "\n"
	shown := b.upload("book.jsonl", lines, http.StatusOK)
	b.has(shown, "Nothing is stored yet. The file contains 2 new entries.", "gate", "quay")
	if n := b.entries(); n != 1 {
		t.Fatalf("%d entries after the preview, want 1", n)
	}
	b.post(page.RootPath+"transfer/import", url.Values{"digest": {"0123"}}, http.StatusConflict)
	inbox := b.submit(shown, "Import 2 entries", nil, http.StatusOK)
	b.has(inbox, "Imported 2 new entries.", "2 imported notes from book.jsonl")
	b.has(b.submit(shown, "Import 2 entries", nil, http.StatusConflict), "nothing was imported")
	b.has(b.upload("book.jsonl", lines, http.StatusOK), "2 unchanged entries", "Choose another file")

	at := attribute(inbox[strings.Index(inbox, `<a class="button" href="/ui/log/revert`):], "href")
	b.submit(b.get(at, http.StatusOK), "Undo the session", nil, http.StatusOK)
	if _, err := b.memory.Get(t.Context(), "own"); err != nil || b.entries() != 1 {
		t.Errorf("after taking the import back %d entries are left, %v", b.entries(), err)
	}
	b.has(b.upload("nothing.jsonl", "", 0), "nothing.jsonl")
	b.has(b.upload("broken.jsonl", "\x00\x01", http.StatusOK), "0 new entries", "is not JSON")
}

// TestImportSecret tests the import of an uploaded file that contains a secret. The preview must not show the secret,
// and the imported entry must not contain it.
func TestImportSecret(t *testing.T) {
	b := open(t, auth.Permissions{})
	key := "AKIA" + "Z7Q4MWFJ2XKD5RTB"
	line := `{"name":"key","content":"The key is ` + key + `."}`
	shown := b.upload("keys.jsonl", line, http.StatusOK)
	if strings.Contains(shown, key) {
		t.Error("the preview shows the secret")
	}
	b.submit(shown, "Import 1 entry", nil, http.StatusOK)
	if e, err := b.memory.Get(t.Context(), "key"); err != nil || strings.Contains(e.Content, key) {
		t.Errorf("the imported entry is %+v, %v", e, err)
	}
}

// TestExport tests that an export contains only the entries that the query selects, and that the export can be
// imported. An export of a query that is no filter must be refused.
func TestExport(t *testing.T) {
	b := open(t, auth.Permissions{})
	b.remember("gate", "Closes at nine.", oxbow.Label{Key: oxbow.LabelTag, Value: "rule"})
	b.remember("quay", "Holds 14 boats.")
	found := b.get(page.RootPath+"find?q=tag:rule", http.StatusOK)
	b.has(found, `href="/ui/transfer/export?q=tag%3Arule"`, "Export 1 entry")
	file := b.get(page.RootPath+"transfer/export?q=tag:rule", http.StatusOK)
	if !strings.Contains(file, "Closes at nine.") || strings.Contains(file, "Holds") {
		t.Errorf("the export is %s", file)
	}
	other := open(t, auth.Permissions{})
	other.has(other.upload("export.jsonl", file, http.StatusOK), "1 new entry.", "gate")
	b.get(page.RootPath+"transfer/export?q=charged+twice", http.StatusBadRequest)
}

// TestTransferRights tests that only a person can import and export. A browser that is bound to a project must export
// only entries of this project.
func TestTransferRights(t *testing.T) {
	b := bound(t)
	b.hold("foreign", "MARKER in another project.")
	if file := b.get(page.RootPath+"transfer/export", http.StatusOK); strings.Contains(file, "MARKER") {
		t.Errorf("the export contains another project:\n%s", file)
	}
	b.upload("book.jsonl", `{"name":"gate","content":"Closes."}`, http.StatusForbidden)
	for _, rights := range []auth.Permissions{{ReadOnly: true}, {}} {
		b = open(t, rights)
		if !rights.ReadOnly {
			b.token()
			b.get(page.RootPath+"transfer/export", http.StatusForbidden)
		}
		b.upload("book.jsonl", `{"name":"gate","content":"Closes."}`, http.StatusForbidden)
		b.post(page.RootPath+"transfer/import", url.Values{"digest": {"0"}}, http.StatusForbidden)
		b.post(page.RootPath+"entries/gate/share", nil, http.StatusForbidden)
	}
}

// TestShare tests that an entry moves into the files of the team after a preview, and that undo returns it.
func TestShare(t *testing.T) {
	b := open(t, auth.Permissions{})
	b.placed()
	dir := t.TempDir()
	git := exec.Command(testenv.RequireProgram(t, "git", "apt install git"), "init", "-q", dir)
	git.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	w := b.views.Workspace
	w.Dir = dir
	w.Host.Rand = bytes.NewReader(make([]byte, 1000))
	w.Host.TrustList = trust.List{Dir: t.TempDir()}
	b.enter()
	at := page.RootPath + "entries/deploy"
	b.has(b.get(at, http.StatusOK), "Share with the team…")
	b.has(b.get(at+"/share", http.StatusOK), "no team files")
	ctx := oxbow.WithSource(t.Context(), oxbow.Source{Actor: oxbow.Person})
	if _, err := sharing.TeamInit(ctx, w, sharing.TeamInitIn{OxbowCommand: "oxbow"}); err != nil {
		t.Fatal(err)
	}
	preview := b.get(at+"/share", http.StatusOK)
	b.has(preview, "A new file below <code>", filepath.Base(dir), "deploy")
	files := func() int {
		found, err := filepath.Glob(filepath.Join(dir, ".oxbow", "team", "*", "*.md"))
		top, terr := filepath.Glob(filepath.Join(dir, ".oxbow", "team", "*.md"))
		if err != nil || terr != nil {
			t.Fatal(err, terr)
		}
		return len(found) + len(top)
	}
	if n := files(); n != 0 || b.entries() != 1 {
		t.Fatalf("the preview wrote %d files and left %d entries", n, b.entries())
	}
	shared := b.submit(preview, "Share with the team", nil, http.StatusOK)
	b.has(shared, "Shared as .oxbow/team/", "Undo")
	if n := files(); n != 1 || b.entries() != 0 {
		t.Errorf("sharing wrote %d files and left %d entries", n, b.entries())
	}
	b.submit(shared, "Undo", nil, http.StatusOK)
	if n := b.entries(); n != 1 {
		t.Errorf("after undo the memory has %d entries", n)
	}
}
