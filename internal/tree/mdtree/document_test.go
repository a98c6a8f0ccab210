// A document is a file in a tree that does not contain an entry, such as an index page. This file tests how a store
// reads and edits documents, also if a person edits the file at the same time.

package mdtree

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// setDocument replaces the text of a document.
func setDocument(t *testing.T, s *Store, path, text string) error {
	t.Helper()
	return s.Edit(
		t.Context(),
		func(TreeView, time.Time) ([]Edit, error) { return []Edit{{Path: path, Text: text}}, nil },
	)
}

func TestDocuments(t *testing.T) {
	fsys, path := tempTree(t)
	p := person{t, path}
	var w warnings
	s := openOn(t, fsys, Options{Warn: w.warn})
	ctx := t.Context()
	get := func(step, want string, there bool) {
		t.Helper()
		text, ok, err := s.Document(ctx, "deep/INDEX.md")
		if text != want || ok != there || err != nil {
			t.Errorf("%s: Document() = %q, %v, %v; want %q, %v", step, text, ok, err, want, there)
		}
	}
	set := func(text string) {
		t.Helper()
		if err := setDocument(t, s, "deep/INDEX.md", text); err != nil {
			t.Errorf("Edit(%q) = %v", text, err)
		}
	}
	get("nothing yet", "", false)
	set("one\ntwo\nthree\n")
	get("written", "one\ntwo\nthree\n", true)
	p.write("deep/INDEX.md", "one\ntwo\nTHREE\n")
	get("edited", "one\ntwo\nTHREE\n", true)
	p.write("deep/INDEX.md", "")
	get("emptied", "one\ntwo\nTHREE\n", true)
	if got := w.take(); !strings.Contains(got, "is empty") {
		t.Errorf("told %q", got)
	}
	set("after\n")
	get("written over the empty one", "after\n", true)
	set("")
	get("cleared on purpose", "\n", true)
	p.remove("deep/INDEX.md")
	get("removed", "", false)
	if err := setDocument(t, s, "../x.md", "x"); err == nil {
		t.Error("Edit() left the tree")
	}
	// A single change can contain an entry and a document.
	err := s.Edit(ctx, func(v TreeView, _ time.Time) ([]Edit, error) {
		if _, ok := v.FileText("deep/INDEX.md"); ok {
			t.Error("a document that was removed is there")
		}
		return []Edit{{Path: "deep/INDEX.md", Text: "x"}, {Path: "cards/e.md", Text: "name: e\n\nedited\n"}}, nil
	})
	if err != nil || entryContent(t, s, "e") != "edited" || p.read("deep/INDEX.md") != "x" {
		t.Errorf("Edit() = %v", err)
	}
	// The documents that Edit wrote are visible immediately.
	if err := s.ViewTree(ctx, func(v TreeView) error {
		text, ok := v.FileText("deep/INDEX.md")
		if files := slices.Collect(v.Files()); !ok || text != "x" || !slices.Contains(files, "cards/e.md") ||
			v.Items("cards/e.md")[0].Entry.Content != "edited" {
			t.Errorf("Look() shows %q, %q", text, files)
		}
		return nil
	}); err != nil {
		t.Errorf("Look() = %v", err)
	}
}
