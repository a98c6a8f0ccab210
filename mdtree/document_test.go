// Tests of documents.

package mdtree

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
)

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
		if err := s.SetDocument(ctx, "deep/INDEX.md", text); err != nil {
			t.Errorf("SetDocument(%q) = %v", text, err)
		}
	}
	get("nothing yet", "", false)
	set("one\ntwo\nthree\n")
	get("written", "one\ntwo\nthree\n", true)
	p.write("deep/INDEX.md", "one\ntwo\nTHREE\n")
	set("ONE\ntwo\nthree\n")
	get("merged", "ONE\ntwo\nTHREE\n", true)
	p.write("deep/INDEX.md", "uno\ntwo\nTHREE\n")
	set("1\ntwo\nTHREE\n")
	get("in conflict", "1\ntwo\nTHREE\n", true)
	if got := p.read("deep/INDEX.conflict-1.md"); got != "uno\ntwo\nTHREE\n" {
		t.Errorf("kept beside: %q", got)
	}
	if got := w.take(); !strings.Contains(got, "deep/INDEX.md") {
		t.Errorf("told %q", got)
	}
	rep, err := s.Check(ctx)
	if err != nil || len(rep.Problems) != 1 || !strings.Contains(rep.Problems[0].What, "INDEX.conflict-1.md") {
		t.Errorf("Check() = %+v, %v", rep.Problems, err)
	}
	p.write("deep/INDEX.md", "")
	get("emptied", "1\ntwo\nTHREE\n", true)
	if got := w.take(); !strings.Contains(got, "is empty") {
		t.Errorf("told %q", got)
	}
	set("after\n")
	get("written over the empty one", "after\n", true)
	set("")
	get("cleared on purpose", "\n", true)
	p.remove("deep/INDEX.md")
	get("removed", "", false)
	if err := s.SetDocument(ctx, "cards/x.md", "x"); !errors.Is(err, oxbow.ErrInvalid) {
		t.Errorf("SetDocument() of a file of entries = %v", err)
	}
	if err := s.SetDocument(ctx, "../x.md", "x"); err == nil {
		t.Error("SetDocument() left the tree")
	}
	// A change of entries and a document in one.
	err = s.Edit(ctx, func(v View, _ time.Time) ([]Edit, error) {
		if _, ok := v.File("deep/INDEX.md"); ok {
			t.Error("a document that was removed is there")
		}
		return []Edit{{Path: "deep/INDEX.md", Text: "x"}, {Path: "cards/e.md", Text: "name: e\n\nedited\n"}}, nil
	})
	if err != nil || entryContent(t, s, "e") != "edited" || p.read("deep/INDEX.md") != "x" {
		t.Errorf("Edit() = %v", err)
	}
	// What an edit made shows at once in the files.
	if err := s.View(ctx, func(v View) error {
		text, ok := v.File("deep/INDEX.md")
		if files := slices.Collect(v.Files()); !ok || text != "x" || !slices.Contains(files, "cards/e.md") || v.Items("cards/e.md")[0].Entry.Content != "edited" {
			t.Errorf("Look() shows %q, %q", text, files)
		}
		return nil
	}); err != nil {
		t.Errorf("Look() = %v", err)
	}
}
