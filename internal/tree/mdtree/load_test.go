// This file tests which trees cannot be read, and which warnings there are.

package mdtree

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestReadNoTree(t *testing.T) {
	fsys := vfs.NewMem()
	if _, err := ReadTree(fsys, "brain", nil); !errors.Is(err, ErrNoTree) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Read of a missing directory: %v, want ErrNoTree", err)
	}
	put(t, fsys, "brain/book.toml", newBookSettings)
	put(t, fsys, "brain/SUMMARY.md", summaryHead)
	if _, err := ReadTree(fsys, "brain", nil); !errors.Is(err, ErrNoTree) {
		t.Errorf("Read of an empty tree: %v, want ErrNoTree", err)
	}
	mustDump(t, storeOf(t, note("a", "x")), fsys, "brain")
	if err := fsys.Remove("brain/notes/a.md"); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadTree(fsys, "brain", nil); !errors.Is(err, ErrNoTree) ||
		!strings.Contains(err.Error(), "are gone") {
		t.Errorf("Read of a tree whose files are all gone: %v, want ErrNoTree and what happened", err)
	}
}

// TestReadProblems checks that all problems are listed together with their files.
func TestReadProblems(t *testing.T) {
	fsys := vfs.NewMem()
	const open, end = `<div id="meta"><dl>`, `</dl></div>`
	put(t, fsys, "brain/notes/good.md", "fine")
	put(t, fsys, "brain/notes/latin1.md", "caf\xe9")
	put(t, fsys, "brain/notes/badlabel.md", open+"<dt>Labels</dt><dd><li>id:x</li></dd>"+end)
	put(t, fsys, "brain/notes/long.md", strings.Repeat("x", oxbow.MaxContent+1))
	put(t, fsys, "brain/notes/huge.md", strings.Repeat("x", maxEntryFileBytes+1))
	put(t, fsys, "brain/notes/dir.md/x", "")
	put(t, fsys, "brain/archives/good.md", "again")
	put(t, fsys, "brain/notes/other.md", open+"<dt>Name</dt><dd>good</dd>"+end)
	put(t, fsys, "brain/worlds", "a file")
	put(t, fsys, "brain/"+manifestFile, "<<<<<<< HEAD")
	before := files(t, fsys, "brain")
	_, err := ReadTree(fsys, "brain", nil)
	var pe *ProblemsError
	if !errors.As(err, &pe) || !errors.Is(err, oxbow.ErrInvalid) || !errors.Is(err, oxbow.ErrExists) {
		t.Fatalf("Read = %v, want a ProblemsError", err)
	}
	for file, text := range map[string]string{
		"notes/latin1.md": "not UTF-8", "notes/badlabel.md": "label", "notes/long.md": "4194305 bytes",
		"notes/huge.md": "longer than", "notes/dir.md": "is a directory",
		"archives/good.md": "notes/good.md has the name",
		"notes/other.md":   "notes/good.md has the name", "worlds": "not a directory", manifestFile: "damaged",
	} {
		i := slices.IndexFunc(pe.Problems, func(p Problem) bool { return p.File == file })
		if i < 0 || !strings.Contains(pe.Problems[i].Err.Error(), text) {
			t.Errorf("problems %v\nlack %q of %s", err, text, file)
		}
	}
	if len(pe.Problems) != 9 || pe.UnlistedProblemCount != 0 {
		t.Errorf("%d problems and %d more, want 9 and none", len(pe.Problems), pe.UnlistedProblemCount)
	}
	if d := diffFiles(files(t, fsys, "brain"), before); d != "" {
		t.Errorf("Read changed files:\n%s", d)
	}
}

func TestParseManifest(t *testing.T) {
	for _, c := range []struct {
		text string
		want error // nil if there is no error
	}{
		{`{"version":1,"count":0,"files":[]}`, nil},
		{`{"version":1,"count":1,"files":[{"path":"notes/a.md","name":"a"}]}`, nil},
		{`{"version":2,"count":0,"files":[]}`, oxbow.ErrVersion},
		{`{"version":1,"count":3,"files":[]}`, oxbow.ErrInvalid},
		{`{"version":1,"count":1,"files":[{"path":"../a.md","name":"a"}]}`, oxbow.ErrInvalid},
		{`{"version":1,"count":1,"files":[{"path":"notes/../a.md","name":"a"}]}`, oxbow.ErrInvalid},
		{`{"version":1,"count":1,"files":[{"path":"notes","name":"a"}]}`, oxbow.ErrInvalid},
		{`{"version":1,"count":1,"files":[{"path":"notes/","name":"a"}]}`, oxbow.ErrInvalid},
		{``, oxbow.ErrInvalid},
	} {
		if _, err := parseManifest(t, c.text); !errors.Is(err, c.want) {
			t.Errorf("parseManifest(%s) = %v, want %v", c.text, err, c.want)
		}
	}
}

func TestReadManyProblems(t *testing.T) {
	fsys := vfs.NewMem()
	for i := range 25 {
		put(t, fsys, fmt.Sprintf("brain/notes/n%02d.md", i), "\xff")
	}
	_, err := ReadTree(fsys, "brain", nil)
	var pe *ProblemsError
	if !errors.As(err, &pe) || len(pe.Problems) != 20 || pe.UnlistedProblemCount != 5 ||
		!strings.HasSuffix(err.Error(), "and 5 more") {
		t.Errorf("Read = %v, want 20 problems and 5 more", err)
	}
	if _, err := ReadTree(fsys, "brain", &ReadOptions{MaxEntries: 24}); err == nil ||
		!strings.Contains(err.Error(), "25 files") {
		t.Errorf("Read of at most 24 files = %v, want a refusal that says 25", err)
	}
}

// TestMaxFiles tests how many files a tree may contain. The number is MaxEntries if it is set. Otherwise it is the
// number of entries in the dump that the manifest describes, plus 100,000.
func TestMaxFiles(t *testing.T) {
	dumped := &manifest{manifestHead: manifestHead{EntryCount: 250_000}}
	for _, tt := range []struct {
		o    ReadOptions
		m    *manifest
		want int
	}{
		{ReadOptions{}, nil, 100_000}, {ReadOptions{}, &manifest{}, 100_000}, {ReadOptions{}, dumped, 350_000},
		{ReadOptions{MaxEntries: 24}, dumped, 24},
	} {
		if got := tt.o.maxFiles(tt.m); got != tt.want {
			t.Errorf("with %+v and a manifest %v, maxFiles = %d, want %d", tt.o, tt.m != nil, got, tt.want)
		}
	}
}

func TestReadWarnings(t *testing.T) {
	fsys := vfs.NewMem()
	for p, text := range map[string]string{
		"notes/good.md": "x", "notes/.hid.md": "x", "notes/up.MD": "x", "notes/sub/x.md": "x", "notes/a%2Fb.md": "x",
		"Notes/x.md": "x", "archive/x.md": "x", "todo.md": "x", "README.md": "x", "theme/x.css": "x",
		"notes/open.md": "<div id=\"meta\">\nx",
	} {
		put(t, fsys, "brain/"+p, text)
	}
	tree := mustRead(t, fsys, "brain")
	var got []string
	for _, w := range tree.Warnings {
		got = append(got, w.File)
	}
	slices.Sort(got)
	want := []string{"Notes", "archive", "notes/.hid.md", "notes/a%2Fb.md", "notes/open.md", "notes/sub",
		"notes/up.MD", "todo.md"}
	if !slices.Equal(got, want) {
		t.Errorf("warnings for %q, want %q:\n%v", got, want, tree.Warnings)
	}
	if want := []string{"notes/a%2Fb.md", "notes/good.md", "notes/open.md"}; !slices.Equal(tree.EntryPaths, want) ||
		tree.Entries[0].Name != "a/b" {
		t.Errorf("read %q, the first as %q; want %q and a/b", tree.EntryPaths, tree.Entries[0].Name, want)
	}
}

// changingFS calls a function before a file is opened.
type changingFS struct {
	vfs.FS
	before func(name string)
}

func (c *changingFS) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	c.before(name)
	return c.FS.OpenFile(name, flag, perm)
}

// TestReadDuringDump checks that ReadTree does not return a mixture of two trees if a dump runs at the same time.
func TestReadDuringDump(t *testing.T) {
	fsys := vfs.NewMem()
	mustDump(t, storeOf(t, note("a", "1"), note("b", "1")), fsys, "brain")
	second := storeOf(t, note("a", "2"), note("b", "2"))
	dumped := 0
	tree, err := ReadTree(&changingFS{fsys, func(name string) {
		if name == "brain/notes/b.md" && dumped == 0 {
			dumped++
			mustDump(t, second, fsys, "brain")
		}
	}}, "brain", nil)
	if err != nil || !slices.Equal(describeAll(tree.Entries), describeAll(second.entries)) {
		t.Errorf("Read during a dump = %v, %v; want what was dumped", tree, err)
	}
	n := 0
	_, err = ReadTree(&changingFS{fsys, func(name string) {
		if name == "brain/notes/b.md" {
			n++
			mustDump(t, storeOf(t, note("a", fmt.Sprint(n)), note("b", "2")), fsys, "brain")
		}
	}}, "brain", nil)
	if !errors.Is(err, oxbow.ErrBusy) {
		t.Errorf("Read during endless dumps = %v, want ErrBusy", err)
	}
}
