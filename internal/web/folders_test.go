// This file tests the web page on which a person chooses directories of Markdown files to follow. If a directory is
// followed, edits of its files can be imported into the memory.

package web

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/tree/folder"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

// TestFolders follows a directory, imports an edit, and stops following the directory, all on the page.
func TestFolders(t *testing.T) {
	b := open(t, auth.Permissions{})
	home := b.placed()
	vault := filepath.Join(t.TempDir(), "my <b>vault")
	if err := os.Mkdir(vault, 0o700); err != nil {
		t.Fatal(err)
	}
	note := filepath.Join(vault, "Berths.md")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(note, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("Berth 7 is closed.\n")
	shown := b.get(page.RootPath+"transfer", http.StatusOK)
	b.has(shown, "A folder is a directory of Markdown notes", "Follow")
	if strings.Contains(shown, "Compare now") {
		t.Error("there is no folder, and the page offers to compare")
	}
	b.post(page.RootPath+"transfer/folder", url.Values{"dir": {"vault"}}, http.StatusBadRequest)
	b.post(page.RootPath+"transfer/folder", url.Values{"dir": {filepath.Join(vault, "none")}}, http.StatusNotFound)
	b.post(page.RootPath+"transfer/folder", url.Values{"dir": {home}}, http.StatusBadRequest)

	form := url.Values{"dir": {vault}}
	shown = b.post(page.RootPath+"transfer/folder", form, http.StatusOK)
	b.has(
		shown,
		"1 note added, 0 notes updated, 0 notes forgotten.",
		"my &lt;b&gt;vault",
		"folder%3Anotes",
		"1 file",
		"read only",
	)
	if e, err := b.memory.Get(t.Context(), "Berths"); err != nil || e.Trust() != oxbow.TrustImported {
		t.Errorf("the entry of the file has trust %s, %v; want imported", e.Trust(), err)
	}

	write("Berth 7 is open again.\n")
	if err := os.Chtimes(note, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	shown = b.submit(shown, "Compare now", nil, http.StatusOK)
	b.has(shown, "0 notes added, 1 note updated, 0 notes forgotten.")
	if e, err := b.memory.Get(t.Context(), "Berths"); err != nil || e.Content != "Berth 7 is open again.\n" {
		t.Errorf("after the comparison the entry is %q, %v", e.Content, err)
	}

	shown = b.submit(shown, "Stop following", nil, http.StatusOK)
	b.has(shown, "The memory no longer follows", "1 note stays in the memory.")
	if all, err := folder.ListFolders(home); err != nil || len(all) != 0 {
		t.Errorf("the folders are %+v, %v; want none", all, err)
	}
	if _, err := b.memory.Get(t.Context(), "Berths"); err != nil {
		t.Error(err)
	}
}

// TestFoldersRights tests that a browser that sees a part of the memory neither sees nor changes folders.
func TestFoldersRights(t *testing.T) {
	b := bound(t)
	home := b.placed()
	vault := t.TempDir()
	all := []folder.Folder{{Name: "vault", Path: vault, AddedTime: time.Unix(1, 0).UTC()}}
	if err := folder.SaveFolders(home, all); err != nil {
		t.Fatal(err)
	}
	if shown := b.get(page.RootPath+"transfer", http.StatusOK); strings.Contains(shown, vault) {
		t.Error("the page names a folder to a browser that sees a part")
	}
	for _, path := range []string{"folder", "compare", "unfollow"} {
		b.post(page.RootPath+"transfer/"+path, url.Values{"dir": {vault}, "folder": {"vault"}}, http.StatusForbidden)
	}
	if now, err := folder.ListFolders(home); err != nil || len(now) != 1 {
		t.Errorf("the folders are %+v, %v; want the one folder", now, err)
	}
}
