// A load reads edited files back into a store. This file tests the plan of a load, which lists the changes that the
// load would make in the store.

package mdtree

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// edit changes the text of a file in a tree.
func edit(t *testing.T, fsys vfs.FS, name, old, with string) {
	t.Helper()
	text := get(t, fsys, name)
	if !strings.Contains(text, old) {
		t.Fatalf("%s has no %q: %q", name, old, text)
	}
	put(t, fsys, name, strings.Replace(text, old, with, 1))
}

func TestPlan(t *testing.T) {
	fsys := vfs.NewMem()
	s := storeOf(t, note("same", "s"), note("content", "before"),
		oxbow.Add{Name: "alias", Content: "a", Aliases: []string{"one"}, Created: noon},
		oxbow.Add{Name: "label", Content: "l", Labels: []oxbow.Label{{Key: "tag", Value: "x"}}, Created: noon},
		note("kind", "k"), note("date", "d"), note("undated", "u"),
		oxbow.Add{Name: "fraction", Content: "f", Created: noon.Add(time.Millisecond)})
	mustDump(t, s, fsys, "brain")
	if err := s.Apply(t.Context(), note("unknown to the tree", "u")); err != nil {
		t.Fatal(err)
	}
	edit(t, fsys, "brain/notes/content.md", "before", "after")
	edit(t, fsys, "brain/notes/alias.md", "<li>one</li>", "<li>two</li><li> one </li><li></li><li>two</li>")
	edit(t, fsys, "brain/notes/label.md", "tag:x", "tag:y")
	edit(t, fsys, "brain/notes/date.md", "2026-04-14", "2020-01-01")
	edit(t, fsys, "brain/notes/fraction.md", "45.001Z", "45Z")
	put(t, fsys, "brain/notes/undated.md", "u\n")
	put(t, fsys, "brain/worlds/kind.md", get(t, fsys, "brain/notes/kind.md"))
	if err := fsys.Remove("brain/notes/kind.md"); err != nil {
		t.Fatal(err)
	}
	put(t, fsys, "brain/journals/new.md", "n\n")
	tree := mustRead(t, fsys, "brain")

	version := func(name string) uint64 {
		e, err := s.Get(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		return e.Version
	}
	p, err := tree.PlanLoadIntoStore(t.Context(), s, nil)
	if err != nil {
		t.Fatalf("Plan: %v", err)
	}
	day := time.Date(2020, 1, 1, 10, 23, 45, 0, time.UTC)
	want := []oxbow.Op{
		oxbow.Alias{Name: "alias", Aliases: []string{"two", "one"}, If: version("alias")},
		oxbow.Update{Name: "content", Content: "after", If: version("content")},
		oxbow.Remove{Name: "date", If: version("date")},
		oxbow.Add{Name: "date", Content: "d", Created: day},
		oxbow.Relabel{Name: "label", Labels: []oxbow.Label{{Key: "tag", Value: "y"}}, If: version("label")},
		oxbow.Add{Name: "new", Kind: oxbow.Journal, Content: "n"},
		oxbow.Remove{Name: "kind", If: version("kind")},
		oxbow.Add{Name: "kind", Kind: oxbow.World, Content: "k", Created: noon},
	}
	if got, want := fmt.Sprintf("%+v", p.StoreOps), fmt.Sprintf("%+v", want); got != want {
		t.Errorf("Plan.Ops =\n%s\nwant\n%s", got, want)
	}
	lists := fmt.Sprint(p.AddedNames, p.ChangedNames, p.RemovedNames, p.UnchangedNames)
	if want := "[new] [alias content date kind label] [] [fraction same undated]"; lists != want {
		t.Errorf("Plan lists %s, want %s", lists, want)
	}

	p, err = tree.PlanLoadIntoStore(t.Context(), s, &PlanOptions{Mode: ReplaceMode})
	if err != nil || !slices.Equal(p.RemovedNames, []string{"unknown to the tree"}) {
		t.Fatalf("Plan to replace removes %q, %v; want the entry that the tree lacks", p.RemovedNames, err)
	}
	if err := s.Apply(t.Context(), p.StoreOps...); err != nil {
		t.Fatalf("Apply: %v", err)
	}
	p, err = tree.PlanLoadIntoStore(t.Context(), s, &PlanOptions{Mode: ReplaceMode})
	if err != nil || len(p.StoreOps) > 0 {
		t.Errorf("Plan after its Apply = %+v, %v; want nothing to do", p.StoreOps, err)
	}
}

// TestPlanConflict checks that a store refuses a plan if the store was changed after the plan was made.
func TestPlanConflict(t *testing.T) {
	fsys := vfs.NewMem()
	s := storeOf(t, note("a", "one"))
	mustDump(t, s, fsys, "brain")
	edit(t, fsys, "brain/notes/a.md", "one", "two")
	p, err := mustRead(t, fsys, "brain").PlanLoadIntoStore(t.Context(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(t.Context(), oxbow.Update{Name: "a", Content: "three"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(t.Context(), p.StoreOps...); !errors.Is(err, oxbow.ErrConflict) {
		t.Errorf("Apply of an old plan: %v, want ErrConflict", err)
	}
}

// TestPlanMissing checks entries whose files are missing. Without RemovesMissing, PlanLoadIntoStore removes no entry:
// it fails with ErrFilesMissing in ReplaceMode, and plans no change otherwise. With ReplaceMode and RemovesMissing, it
// removes the entries.
func TestPlanMissing(t *testing.T) {
	fsys := vfs.NewMem()
	s := storeOf(t, note("a", "x"), note("b", "x"), note("c", "x"))
	mustDump(t, s, fsys, "brain")
	for _, name := range []string{"a", "b"} {
		if err := fsys.Remove("brain/notes/" + name + ".md"); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Apply(t.Context(), oxbow.Remove{Name: "b"}); err != nil {
		t.Fatal(err)
	}
	tree := mustRead(t, fsys, "brain")
	if want := []MissingFile{{"a", "notes/a.md"}, {"b", "notes/b.md"}}; !slices.Equal(tree.MissingFiles, want) {
		t.Errorf("Missing = %v, want %v", tree.MissingFiles, want)
	}
	_, err := tree.PlanLoadIntoStore(t.Context(), s, &PlanOptions{Mode: ReplaceMode})
	var fe *FilesError
	if !errors.As(err, &fe) || !errors.Is(err, ErrFilesMissing) || !slices.Equal(fe.Files, []string{"notes/a.md"}) {
		t.Errorf("Plan to replace: %v, want ErrMissing naming notes/a.md", err)
	}
	if p, err := tree.PlanLoadIntoStore(t.Context(), s, nil); err != nil || len(p.StoreOps) > 0 {
		t.Errorf("Plan to merge = %v, %v; want nothing to do", p.StoreOps, err)
	}
	p, err := tree.PlanLoadIntoStore(t.Context(), s, &PlanOptions{Mode: ReplaceMode, RemovesMissing: true})
	if err != nil || !slices.Equal(p.RemovedNames, []string{"a"}) || len(p.StoreOps) != 1 {
		t.Errorf("Plan to prune = %+v, %v; want the removal of a", p, err)
	}
}

// TestPlanProblems tests that PlanLoadIntoStore returns a ProblemsError with the files whose entries are invalid. If
// the store already contains the same invalid entries, PlanLoadIntoStore must accept the files, because nothing has to
// be changed.
func TestPlanProblems(t *testing.T) {
	fsys := vfs.NewMem()
	bad := storeOf(t, note(" padded", "x"), note("zero", "x\x00"), note("good", "x"))
	mustDump(t, bad, fsys, "brain")
	tree := mustRead(t, fsys, "brain")
	if p, err := tree.PlanLoadIntoStore(t.Context(), bad, nil); err != nil || len(p.UnchangedNames) != 3 {
		t.Errorf("Plan over the same store = %+v, %v; want all the same", p, err)
	}
	_, err := tree.PlanLoadIntoStore(t.Context(), storeOf(t), nil)
	var pe *ProblemsError
	if !errors.As(err, &pe) || len(pe.Problems) != 2 || pe.Problems[0].File != "notes/ padded.md" ||
		pe.Problems[1].File != "notes/zero.md" {
		t.Errorf("Plan over an empty store: %v, want problems of the two files", err)
	}
}

// TestPlanBase checks plans that depend on what was changed since the dump. Each row is about an entry that the dump
// wrote as "v1", and contains its present text in the files and in the store. "" means that the entry does not exist.
func TestPlanBase(t *testing.T) {
	const name = "of this store"
	origin := StoreIdentity{Name: name, IsNameOfStore: func(was string) bool { return was == name }}
	for _, c := range []struct {
		file, store string
		o           PlanOptions
		want        string // entries that are added, changed, removed, same and kept, or an error
	}{
		{"v1", "v1", PlanOptions{}, "[] [] [] [a] []"},
		{"v1", "v2", PlanOptions{}, "[] [] [] [] [a]"},
		{"v1", "v2", PlanOptions{PrefersFiles: true}, "[] [] [] [] [a]"},
		{"v1", "", PlanOptions{}, "[] [] [] [] [a]"},
		{"v2", "v1", PlanOptions{}, "[] [a] [] [] []"},
		{"v2", "v2", PlanOptions{}, "[] [] [] [a] []"},
		{"v2", "v3", PlanOptions{}, "ErrDiverged"},
		{"v2", "v3", PlanOptions{PrefersFiles: true}, "[] [a] [] [] []"},
		{"v2", "", PlanOptions{}, "ErrDiverged"},
		{"v2", "", PlanOptions{PrefersFiles: true}, "[a] [] [] [] []"},
		{"", "v1", PlanOptions{}, "[] [] [] [] []"},
		{"", "v1", PlanOptions{Mode: ReplaceMode}, "ErrMissing"},
		{"", "v1", PlanOptions{Mode: ReplaceMode, RemovesMissing: true}, "[] [] [a] [] []"},
		{"", "v2", PlanOptions{Mode: ReplaceMode, RemovesMissing: true}, "ErrDiverged"},
		{"", "v2", PlanOptions{Mode: ReplaceMode, RemovesMissing: true, PrefersFiles: true}, "[] [] [a] [] []"},
		{"", "", PlanOptions{Mode: ReplaceMode}, "[] [] [] [] []"},
	} {
		for _, skip := range []bool{false, true} {
			fsys := vfs.NewMem()
			s := storeOf(t, note("a", "v1"), note("b", "b"))
			if _, err := Dump(t.Context(), s, fsys, "brain", &DumpOptions{DumpedStoreIdentity: origin}); err != nil {
				t.Fatal(err)
			}
			switch c.store {
			case "":
				mustApply(t, s, oxbow.Remove{Name: "a"})
			default:
				mustApply(t, s, oxbow.Update{Name: "a", Content: c.store})
			}
			if c.file == "" {
				if err := fsys.Remove("brain/notes/a.md"); err != nil {
					t.Fatal(err)
				}
			} else {
				edit(t, fsys, "brain/notes/a.md", "v1", c.file)
			}
			c.o.Origin = origin
			tree, err := ReadTree(fsys, "brain", &ReadOptions{SkipUnchanged: skip})
			if err != nil {
				t.Fatal(err)
			}
			p, err := tree.PlanLoadIntoStore(t.Context(), s, &c.o)
			p.UnchangedNames = slices.DeleteFunc(p.UnchangedNames, func(n string) bool { return n == "b" })
			got := fmt.Sprint(p.AddedNames, p.ChangedNames, p.RemovedNames, p.UnchangedNames, p.ChangedOnlyInStore)
			switch {
			case errors.Is(err, ErrDiverged):
				got = "ErrDiverged"
			case errors.Is(err, ErrFilesMissing):
				got = "ErrMissing"
			case err != nil:
				t.Fatal(err)
			}
			if got != c.want {
				t.Errorf(
					"file %q, store %q, %+v, skip %v: plan %s, want %s",
					c.file, c.store, c.o.Mode, skip, got, c.want,
				)
			}
		}
	}
}

// TestPlanEditedManifest checks that nothing is lost if names or hashes in the manifest were edited. An entry that the
// manifest does not describe correctly counts as changed in both the files and the store.
func TestPlanEditedManifest(t *testing.T) {
	origin := StoreIdentity{Name: "x", IsNameOfStore: func(was string) bool { return was == "x" }}
	fsys := vfs.NewMem()
	s := storeOf(t, note("a", "v1"), note("b", "v1"))
	if _, err := Dump(t.Context(), s, fsys, "brain", &DumpOptions{DumpedStoreIdentity: origin}); err != nil {
		t.Fatal(err)
	}
	edit(t, fsys, "brain/"+manifestFile, `"name":"a"`, `"name":"b"`)
	mustApply(t, s, oxbow.Update{Name: "b", Content: "v2"})
	_, err := mustRead(t, fsys, "brain").PlanLoadIntoStore(t.Context(), s, &PlanOptions{Origin: origin})
	if fe, ok := errors.AsType[*FilesError](err); !ok || !slices.Equal(fe.Files, []string{"notes/b.md"}) {
		t.Errorf("Plan = %v, want ErrDiverged naming notes/b.md", err)
	}
}

// TestUnfinishedFiles tests files that have lost their text or contain git's conflict markers. PlanLoadIntoStore must
// return an error that names the file and its problem. If the entry in the store also has no text, or has the same
// markers, PlanLoadIntoStore must succeed.
func TestUnfinishedFiles(t *testing.T) {
	const markers = "<<<<<<< ours\nx\n=======\ny\n>>>>>>> theirs\n"
	for _, c := range []struct {
		name, content, file string // content in the store, and the changed file
		problem             string // "" if there is none
	}{
		{"empty", "text", "", "no text any more"},
		{"white space", "text", " \r\n\t\n", "no text any more"},
		{"markers in the text", "text", "<div id=\"meta\">\n<dl>\n</dl>\n</div>\n\n" +
			markers, "git's conflict markers"},
		{"markers in the data", "text", "<div id=\"meta\">\n<dl>\n  <dt>Labels</dt>\n" +
			markers + "<dd><li>tag:x</li></dd></dl>\n</div>\n\ntext\n", "git's conflict markers"},
		{
			"markers around all",
			"text",
			"<<<<<<< ours\n<div id=\"meta\">\n=======\n<div>\n>>>>>>> theirs\ntext",
			"git's conflict markers",
		},
		{"markers that were there", "on git:\n" + markers, "on git, and more:\n" + markers, ""},
		{"markers in part", "text", "a\n=======\n<<<<<<< b\n", ""},
		{"blank as before", "", "\n\n", ""},
	} {
		for _, hasBase := range []bool{true, false} {
			fsys := vfs.NewMem()
			s := storeOf(t, note("a", c.content), note("other", "o"))
			mustDump(t, s, fsys, "brain")
			put(t, fsys, "brain/notes/a.md", c.file)
			if !hasBase {
				if err := fsys.Remove("brain/" + manifestFile); err != nil {
					t.Fatal(err)
				}
			}
			_, err := mustRead(t, fsys, "brain").PlanLoadIntoStore(t.Context(), s, nil)
			if c.problem == "" && err != nil {
				t.Errorf("%s (with a base: %v): %v", c.name, hasBase, err)
			}
			if c.problem != "" && (!errors.Is(err, oxbow.ErrInvalid) || !strings.Contains(err.Error(), c.problem) ||
				!strings.Contains(err.Error(), "notes/a.md")) {
				t.Errorf("%s (with a base: %v): %v, want that notes/a.md has %q", c.name, hasBase, err, c.problem)
			}
		}
	}
}
