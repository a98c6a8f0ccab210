// This file tests which files a dump writes and keeps, and when it is refused.

package mdtree

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// nastyStore returns a store with names and contents that are difficult for a directory tree. Some of them can only be
// in a store that an older version wrote.
func nastyStore(t testing.TB) *mapStore {
	names := []string{
		"", ".", "..", "...", ".git", "a/b", `a\b`, "../../etc/passwd", "A", "a", "a~2", "é", "e\u0301", "CON", "con",
		"nul.txt",
		"COM1", "x.", "x ", " x", "x..y", "x.md", "%2F", "/", "100%", "*?\"<>|:", "br[ack](et)", "under_score",
		"_edge_", "a&amp;b",
		"</div>", "<li>", "emoji 🦀", "日本語", "tab\there", "line\nbreak", "nul\x00", "bidi\u202etxt", "zero\u200bwidth",
		"zerowidth",
		"README", "SUMMARY", "index", "straße", "STRASSE", "K", "\u212a", strings.Repeat("n", 200),
		strings.Repeat("n", 256),
		strings.Repeat("n", 255) + "m", strings.Repeat("日", 85), strings.Repeat("/", 256), "!bang", "~tilde~",
		"`code`", "back\\slash]",
	}
	s := storeOf(t)
	kinds := oxbow.Kinds()
	for i, name := range names {
		err := s.Apply(t.Context(), oxbow.Add{Name: name, Kind: kinds[i%len(kinds)/2], Content: nasty[i%len(nasty)],
			Created: noon.Add(time.Duration(i) * 333 * time.Millisecond),
			Aliases: nasty[i%len(nasty) : i%len(nasty)+i%3], Labels: []oxbow.Label{{Key: "tag", Value: "t" +
				name}}[:i%2]})
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, content := range nasty {
		err := s.Apply(t.Context(), oxbow.Add{Name: "content" +
			strings.Repeat("i", i), Kind: kinds[i%len(kinds)], Content: content, Created: noon})
		if err != nil {
			t.Fatal(err)
		}
	}
	// Leave out invalid labels, because every store with labels checks them.
	for i := range s.entries {
		s.entries[i].Labels = slices.DeleteFunc(s.entries[i].Labels, func(l oxbow.Label) bool {
			return l.Check() != nil
		})
	}
	return s
}

// TestRoundTrip dumps, loads and dumps again. The entries and the bytes of the files must be the same. It uses a file
// system in memory and the file system of the operating system.
func TestRoundTrip(t *testing.T) {
	onDisk, err := vfs.Dir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer onDisk.Close()
	for what, fsys := range map[string]vfs.FS{"memory": vfs.NewMem(), "disk": onDisk} {
		t.Run(what, func(t *testing.T) {
			s := nastyStore(t)
			mustDump(t, s, fsys, "brain")
			tree := mustRead(t, fsys, "brain")
			if got, want := describeAll(tree.Entries), describeAll(s.entries); !slices.Equal(got, want) {
				for i := range min(len(got), len(want)) {
					if got[i] != want[i] {
						t.Errorf("entry = %s\nwant    %s", got[i], want[i])
					}
				}
				t.Fatalf("Read after Dump gave %d entries, want %d", len(got), len(want))
			}
			if len(tree.Warnings)+len(tree.MissingFiles) > 0 {
				t.Errorf("warnings %v, missing %v; want none", tree.Warnings, tree.MissingFiles)
			}
			if p, err := tree.PlanLoadIntoStore(t.Context(), s, &PlanOptions{Mode: ReplaceMode}); err != nil ||
				len(p.StoreOps) > 0 ||
				len(p.UnchangedNames) != len(s.entries) {
				t.Errorf(
					"Plan over the same store = %d ops, %d same, %v; want 0, %d",
					len(p.StoreOps),
					len(p.UnchangedNames),
					err,
					len(s.entries),
				)
			}

			second := storeOf(t)
			for _, e := range tree.Entries {
				if err := second.Apply(t.Context(), addRaw(e)); err != nil {
					t.Fatal(err)
				}
			}
			mustDump(t, second, fsys, "again")
			if d := diffFiles(files(t, fsys, "again"), files(t, fsys, "brain")); d != "" {
				t.Errorf("second dump differs:\n%s", d)
			}
		})
	}
}

// addRaw returns an op that adds the entry e with its fields unchanged. It is for stores that accept any alias, so that
// the aliases need not be valid.
func addRaw(e oxbow.Entry) oxbow.Add {
	return oxbow.Add{Name: e.Name, Kind: e.Kind, Content: e.Content, Aliases: e.Aliases, Labels: e.Labels,
		Created: e.Created}
}

// TestDumpToRoot dumps to the directory ".", which a dump cannot rename.
func TestDumpToRoot(t *testing.T) {
	fsys := vfs.NewMem()
	mustDump(t, storeOf(t, note("a", "x")), fsys, ".")
	if got := mustRead(t, fsys, "."); len(got.Entries) != 1 {
		t.Errorf("Read(.) gave %d entries, want 1", len(got.Entries))
	}
}

// countFS records the calls that change files.
type countFS struct {
	vfs.FS
	changes []string
}

func (c *countFS) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	if flag != os.O_RDONLY {
		c.changes = append(c.changes, "open "+name)
	}
	return c.FS.OpenFile(name, flag, perm)
}

func (c *countFS) Rename(a, b string) error {
	c.changes = append(c.changes, "rename "+b)
	return c.FS.Rename(a, b)
}

func (c *countFS) Remove(name string) error {
	c.changes = append(c.changes, "remove "+name)
	return c.FS.Remove(name)
}

func TestDumpAgain(t *testing.T) {
	fsys := &countFS{FS: vfs.NewMem()}
	s := storeOf(t, note("a", "one"), note("b", "two"),
		oxbow.Add{Name: "s", Kind: oxbow.Archive, Content: "sum", Created: noon})
	want := DumpReport{EntryCount: 3, WrittenFileCount: 5}
	if got := mustDump(t, s, fsys, "brain"); !reflect.DeepEqual(got, want) {
		t.Errorf("first Dump = %+v, want %+v", got, want)
	}

	// If nothing has changed, the dump writes nothing.
	fsys.changes = nil
	want = DumpReport{EntryCount: 3, UnchangedFileCount: 5}
	if got := mustDump(t, s, fsys, "brain"); !reflect.DeepEqual(got, want) {
		t.Errorf("Dump again = %+v, want %+v", got, want)
	}
	if len(fsys.changes) > 0 {
		t.Errorf("Dump of an unchanged store did %q, want nothing", fsys.changes)
	}

	// Change an entry, add an entry, and remove the only entry of a directory.
	if err := s.Apply(
		t.Context(),
		oxbow.Update{Name: "a", Content: "ONE"},
		oxbow.Remove{Name: "s"},
		note("c", "three"),
	); err != nil {
		t.Fatal(err)
	}
	want = DumpReport{EntryCount: 3, WrittenFileCount: 3, UnchangedFileCount: 2, RemovedFileCount: 1}
	if got := mustDump(t, s, fsys, "brain"); !reflect.DeepEqual(got, want) {
		t.Errorf("Dump after changes = %+v, want %+v", got, want)
	}
	got := slices.Sorted(maps.Keys(files(t, fsys, "brain")))
	if want := []string{manifestFile, "SUMMARY.md", "book.toml", "notes/a.md", "notes/b.md",
		"notes/c.md"}; !slices.Equal(got, want) {
		t.Errorf("tree = %q, want %q", got, want)
	}
	if _, err := fsys.Stat("brain/archives"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory of a kind without entries is there: %v", err)
	}
}

// TestDumpForbidsDirectives checks that mdbook does not follow directives in the texts of entries, because the
// directives could include local files in the pages. A dump replaces mdbook's settings if an earlier dump wrote them,
// but not if a user wrote them. If the user's settings allow directives, the report lists the entries that contain
// directives.
func TestDumpForbidsDirectives(t *testing.T) {
	const text = "See {{#include /etc/hostname}} and \\{{#include x}}."
	for _, c := range []struct{ name, settings, want, told string }{
		{"none", "", newBookSettings, ""},
		{"of an earlier dump", oldBookSettings, newBookSettings, ""},
		{"of this dump", newBookSettings, newBookSettings, ""},
		{"of a person", "[book]\nsrc = \".\"\n", "[book]\nsrc = \".\"\n", "a c"},
		{
			"of a person, safe",
			"[build]\nuse-default-preprocessors = false # safe\n",
			"[build]\nuse-default-preprocessors = false # safe\n",
			"",
		},
		{
			"of a person, commented out",
			"[build]\n# use-default-preprocessors = false\n",
			"[build]\n# use-default-preprocessors = false\n",
			"a c",
		},
		{"of a person, links named", newBookSettings + "[preprocessor.links]\n", newBookSettings +
			"[preprocessor.links]\n", "a c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys := vfs.NewMem()
			s := storeOf(
				t,
				note("a", text),
				note("b", "{{ include }} {#include}"),
				note("c", "{{# rustdoc_include ../x.rs:2}}"),
			)
			mustDump(t, s, fsys, "brain")
			if c.settings != "" {
				put(t, fsys, "brain/book.toml", c.settings)
			}
			rep, err := Dump(t.Context(), s, fsys, "brain", nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(rep.EntriesWithDirectives, " "); got != c.told {
				t.Errorf("the report names %q, want %q", got, c.told)
			}
			if got := files(t, fsys, "brain")["book.toml"]; got != c.want {
				t.Errorf("book.toml = %q, want %q", got, c.want)
			}
			if got := files(t, fsys, "brain")["notes/a.md"]; !strings.Contains(got, text) {
				t.Errorf("the text became %q", got)
			}
		})
	}
}

// TestDumpKeepsOwnFiles checks that a dump keeps the user's own files.
func TestDumpKeepsOwnFiles(t *testing.T) {
	fsys := vfs.NewMem()
	s := storeOf(t, note("a", "one"))
	mustDump(t, s, fsys, "brain")
	own := map[string]string{
		"book.toml": "[book]\ntitle = \"Mine\"\n", "theme/book.js": "x", "README.md": "hi",
		"notes/picture.png": "png", "notes/.hidden.md": "h", "notes/drafts/x.md": "draft", "archives/keep.txt": "k",
	}
	for p, text := range own {
		put(t, fsys, "brain/"+p, text)
	}
	if err := s.Apply(t.Context(), oxbow.Remove{Name: "a"}, note("b", "two")); err != nil {
		t.Fatal(err)
	}
	mustDump(t, s, fsys, "brain")
	got := files(t, fsys, "brain")
	for p, text := range own {
		if got[p] != text {
			t.Errorf("%s = %q after a dump, want %q", p, got[p], text)
		}
	}
	if _, ok := got["notes/a.md"]; ok {
		t.Error("notes/a.md is still there")
	}
}

func TestDumpRefusesForeign(t *testing.T) {
	s := storeOf(t, note("a", "one"))
	for what, own := range map[string]map[string]string{
		"a text":                   {"todo.txt": "x"},
		"a person's notes":         {"notes/todo.md": "x"},
		"a book of its own":        {"book.toml": "x", "SUMMARY.md": "# Summary\n\n- [Intro](intro.md)\n"},
		"a book with its own text": {"book.toml": "x", "SUMMARY.md": "# Summary\n\nHello\n"},
	} {
		fsys := vfs.NewMem()
		for p, text := range own {
			put(t, fsys, "brain/"+p, text)
		}
		before := files(t, fsys, "brain")
		if _, err := Dump(t.Context(), s, fsys, "brain", nil); !errors.Is(err, ErrNotDumpDir) {
			t.Errorf("Dump over %s: error %v, want ErrForeign", what, err)
		}
		if d := diffFiles(files(t, fsys, "brain"), before); d != "" {
			t.Errorf("refused dump over %s changed files:\n%s", what, d)
		}
		if _, err := Dump(t.Context(), s, fsys, "brain", &DumpOptions{Force: true}); err != nil {
			t.Errorf("forced Dump over %s: %v", what, err)
		}
	}
	// Hidden files and directories, such as .git, do not make a directory foreign.
	fsys := vfs.NewMem()
	put(t, fsys, "brain/.git/HEAD", "ref")
	mustDump(t, s, fsys, "brain")
	if got := get(t, fsys, "brain/.git/HEAD"); got != "ref" {
		t.Errorf(".git/HEAD = %q, want ref", got)
	}
}

// TestDumpRefusesEdited checks that a dump overwrites edited files only after the edits were loaded.
func TestDumpRefusesEdited(t *testing.T) {
	fsys := vfs.NewMem()
	s := storeOf(t, note("a", "one"), note("b", "two"), note("c", "three"))
	mustDump(t, s, fsys, "brain")
	put(t, fsys, "brain/notes/a.md", strings.Replace(get(t, fsys, "brain/notes/a.md"), "one", "edited", 1)+"\n\n")
	put(t, fsys, "brain/notes/new.md", "new thought\n")
	if err := s.Apply(t.Context(), oxbow.Update{Name: "b", Content: "TWO"}); err != nil {
		t.Fatal(err)
	}
	before := files(t, fsys, "brain")

	_, err := Dump(t.Context(), s, fsys, "brain", nil)
	var fe *FilesError
	if !errors.As(err, &fe) || !errors.Is(err, ErrFilesEdited) ||
		!slices.Equal(fe.Files, []string{"notes/a.md", "notes/new.md"}) {
		t.Fatalf("Dump over edits: %v, want ErrEdited naming notes/a.md and notes/new.md", err)
	}
	if d := diffFiles(files(t, fsys, "brain"), before); d != "" {
		t.Errorf("refused dump changed files:\n%s", d)
	}

	load(t, mustRead(t, fsys, "brain"), s, nil)
	mustDump(t, s, fsys, "brain")
	if got := mustRead(t, fsys, "brain"); !slices.Equal(describeAll(got.Entries), describeAll(s.entries)) {
		t.Errorf("after load and dump the tree has\n%q, want\n%q", describeAll(got.Entries), describeAll(s.entries))
	}

}

// TestDumpForcedKeepsEdits checks that a dump with Force copies each edited file that it replaces or removes, but no
// file that a dump wrote.
func TestDumpForcedKeepsEdits(t *testing.T) {
	fsys := vfs.NewMem()
	s := storeOf(t, note("a", "one"), note("b", "two"), note("c", "three"))
	mustDump(t, s, fsys, "brain")
	edits := map[string]string{
		"notes/a.md":   "typed over a",
		"notes/new.md": "typed anew",
		"notes/c.md":   "typed over c",
	}
	for p, text := range edits {
		put(t, fsys, "brain/"+p, text)
	}
	if err := s.Apply(t.Context(), oxbow.Update{Name: "b", Content: "TWO"}, oxbow.Remove{Name: "c"}); err != nil {
		t.Fatal(err)
	}
	r, err := Dump(t.Context(), s, fsys, "brain", &DumpOptions{Force: true})
	if want := []string{"notes/a.md.kept", "notes/c.md.kept", "notes/new.md.kept"}; err != nil ||
		!slices.Equal(slices.Sorted(slices.Values(r.EditedFileCopies)), want) {
		t.Fatalf("forced Dump kept %v, %v; want %v", r.EditedFileCopies, err, want)
	}
	for p, text := range edits {
		if got := get(t, fsys, "brain/"+p+".kept"); got != text {
			t.Errorf("%s.kept = %q, want %q", p, got, text)
		}
	}
	if got := get(t, fsys, "brain/notes/a.md"); !strings.HasSuffix(got, "\n\none\n") {
		t.Errorf("notes/a.md = %q after a forced dump", got)
	}
	put(t, fsys, "brain/notes/a.md", "typed again")
	if r, err := Dump(t.Context(), s, fsys, "brain", &DumpOptions{Force: true}); err != nil ||
		!slices.Equal(r.EditedFileCopies, []string{"notes/a.md.kept-2"}) {
		t.Errorf("second forced Dump kept %v, %v; want notes/a.md.kept-2", r.EditedFileCopies, err)
	}
	if r, err := Dump(t.Context(), s, fsys, "brain", &DumpOptions{Force: true}); err != nil ||
		r.EditedFileCopies != nil ||
		r.WrittenFileCount > 0 {
		t.Errorf("forced Dump without edits = %+v, %v; want nothing written or kept", r, err)
	}
}

// TestDumpKeepsSummary checks that a dump replaces the table of contents, but keeps a copy if a user has added
// something to it.
func TestDumpKeepsSummary(t *testing.T) {
	fsys := vfs.NewMem()
	s := storeOf(t, note("b", "two"))
	mustDump(t, s, fsys, "brain")
	if err := s.Apply(
		t.Context(),
		oxbow.Add{Name: "B", Content: "other"},
		oxbow.Add{Name: "a/x", Content: "one"},
	); err != nil {
		t.Fatal(err)
	}
	if r := mustDump(t, s, fsys, "brain"); r.EditedFileCopies != nil {
		t.Errorf("Dump kept %v of what the last dump wrote", r.EditedFileCopies)
	}
	put(t, fsys, "brain/SUMMARY.md", strings.ReplaceAll(get(t, fsys, "brain/SUMMARY.md"), "\n", "\r\n"))
	if r := mustDump(t, s, fsys, "brain"); r.EditedFileCopies != nil {
		t.Errorf("Dump kept %v, in which only git changed the ends of lines", r.EditedFileCopies)
	}
	typed := get(t, fsys, "brain/SUMMARY.md") + "\n- [Mine](mine.md)\n"
	put(t, fsys, "brain/SUMMARY.md", typed)
	if r := mustDump(t, s, fsys, "brain"); !slices.Equal(r.EditedFileCopies, []string{"SUMMARY.md.kept"}) ||
		get(t, fsys, "brain/SUMMARY.md.kept") != typed {
		t.Errorf("Dump kept %v, want SUMMARY.md.kept with what was typed", r.EditedFileCopies)
	}
}

func TestDumpRefusesIrregular(t *testing.T) {
	dir := t.TempDir()
	fsys, err := vfs.Dir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	s := storeOf(t, note("a", "one"), note("b", "two"))
	mustDump(t, s, fsys, "brain")
	put(t, fsys, "target.md", "secret")
	if err := os.Remove(dir + "/brain/notes/a.md"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../target.md", dir+"/brain/notes/a.md"); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	if _, err := Dump(t.Context(), s, fsys, "brain", &DumpOptions{Force: true}); err == nil ||
		!strings.Contains(err.Error(), "notes/a.md is a symbolic link") {
		t.Errorf("Dump over a link: %v, want a refusal that names it", err)
	}
	if err := os.Rename(dir+"/brain/SUMMARY.md", dir+"/brain/mine.txt"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("mine.txt", dir+"/brain/SUMMARY.md"); err != nil {
		t.Fatal(err)
	}
	if _, err := Dump(t.Context(), s, fsys, "brain", &DumpOptions{Force: true}); err == nil ||
		!strings.Contains(err.Error(), "SUMMARY.md is a symbolic link") {
		t.Errorf("Dump over a link: %v, want a refusal that names it", err)
	}
	if _, err := ReadTree(fsys, "brain", nil); !errors.Is(err, oxbow.ErrInvalid) ||
		!strings.Contains(err.Error(), "notes/a.md: it is a symbolic link") {
		t.Errorf("Read of a link: %v, want a refusal that names it", err)
	}
	if got := get(t, fsys, "target.md"); got != "secret" {
		t.Errorf("what the link leads to is %q, want it as it was", got)
	}
}

// TestDumpRenameCase renames an entry by changing the case of a letter. On some file systems, both names belong to the
// same file.
func TestDumpRenameCase(t *testing.T) {
	for what, fsys := range map[string]vfs.FS{"cases differ": vfs.NewMem(), "cases are one": newFoldFS()} {
		t.Run(what, func(t *testing.T) {
			s := storeOf(t, note("Apple", "same"), note("pear", "p"))
			mustDump(t, s, fsys, "brain")
			if err := s.Apply(t.Context(), oxbow.Remove{Name: "Apple"}, note("apple", "same")); err != nil {
				t.Fatal(err)
			}
			mustDump(t, s, fsys, "brain")
			got := mustRead(t, fsys, "brain")
			if !slices.Equal(describeAll(got.Entries), describeAll(s.entries)) {
				t.Errorf("tree has %q, want %q", describeAll(got.Entries), describeAll(s.entries))
			}
			if r := mustDump(t, s, fsys, "brain"); r.WrittenFileCount+r.RemovedFileCount > 0 {
				t.Errorf("dump again = %+v, want nothing to do", r)
			}
		})
	}
}

// TestDumpNormalForm tests a dump on a file system that changes the Unicode normal form of file names, like HFS+. The
// test renames a file as such a file system would. The entry must still have its original name, and the file must not
// be missing.
func TestDumpNormalForm(t *testing.T) {
	fsys := vfs.NewMem()
	s := storeOf(t, note("caf\u00e9", "x"))
	mustDump(t, s, fsys, "brain")
	if err := fsys.Rename("brain/notes/caf\u00e9.md", "brain/notes/cafe\u0301.md"); err != nil {
		t.Fatal(err)
	}
	got := mustRead(t, fsys, "brain")
	if len(got.Entries) != 1 || got.Entries[0].Name != "caf\u00e9" || len(got.MissingFiles) > 0 {
		t.Errorf("Read = %q, missing %v; want the name in its own form", describeAll(got.Entries), got.MissingFiles)
	}
}

func TestDumpBusy(t *testing.T) {
	fsys := vfs.NewMem()
	s := storeOf(t, note("a", "x"))
	mustDump(t, s, fsys, "brain")
	l, err := fsys.OpenLock("brain/" + dumpLockFile)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := l.TryLock(); err != nil || !got {
		t.Fatalf("TryLock = %v, %v", got, err)
	}
	if _, err := Dump(t.Context(), s, fsys, "brain", nil); !errors.Is(err, oxbow.ErrBusy) {
		t.Errorf("Dump beside another: %v, want ErrBusy", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	mustDump(t, s, fsys, "brain")
}

func TestDumpStops(t *testing.T) {
	fsys := vfs.NewMem()
	ctx, cancel := context.WithCancel(t.Context())
	s := storeOf(t, note("a", "x"), note("b", "x"), note("c", "x"))
	var calls []int
	_, err := Dump(ctx, s, fsys, "brain", &DumpOptions{Progress: func(done, total int) {
		calls = append(calls, done)
		if done == 2 || total != 3 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || !slices.Equal(calls, []int{0, 1, 2}) {
		t.Errorf("cancelled Dump: %v after progress %v, want context.Canceled after 0 1 2", err, calls)
	}
	if got := files(t, fsys, "brain"); len(got) > 0 {
		t.Errorf("cancelled Dump left %q", slices.Collect(maps.Keys(got)))
	}
	if _, err := Dump(
		t.Context(),
		storeOf(t, note("x\xff", "y")),
		fsys,
		"brain",
		nil,
	); !errors.Is(err, oxbow.ErrInvalid) {
		t.Errorf("Dump of a name that is not UTF-8: %v, want ErrInvalid", err)
	}
}

func TestEmptyDump(t *testing.T) {
	fsys := vfs.NewMem()
	mustDump(t, storeOf(t), fsys, "brain")
	if got := get(t, fsys, "brain/SUMMARY.md"); got != "# Summary\n\n" {
		t.Errorf("SUMMARY.md = %q", got)
	}
	if got := mustRead(t, fsys, "brain"); len(got.Entries) != 0 {
		t.Errorf("Read of an empty dump gave %d entries", len(got.Entries))
	}
}

func TestSummaryLinks(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"plain-name", "[plain-name](notes/plain-name.md)"},
		{"two words", "[two words](<notes/two words.md>)"},
		{"br[ack](et)", `[br\[ack\](et)](<notes/br[ack](et).md>)`},
		{"under_score", "[under_score](notes/under_score.md)"},
		{"_edge_", `[\_edge\_](notes/_edge_.md)`},
		{"*b* `c` <i>", "[\\*b\\* \\`c\\` \\<i\\>](<notes/%2Ab%2A `c` %3Ci%3E.md>)"},
		{"AT&amp;T", `[AT\&amp;T](<notes/AT\&amp;T.md>)`},
		{`a\]b`, `[a\\\]b](notes/a%5C]b.md)`},
		{"日本", "[日本](notes/日本.md)"},
		{"a\nb", "[a\ufffdb](notes/a%0Ab.md)"},
	} {
		fsys := vfs.NewMem()
		mustDump(t, storeOf(t, note(c.name, "x")), fsys, "brain")
		want := "# Summary\n\n# Notes\n\n- " + c.want + "\n\n"
		got := get(t, fsys, "brain/SUMMARY.md")
		if got != want {
			t.Errorf("summary of %q = %q, want %q", c.name, got, want)
		}
		if !isSummary(got) {
			t.Errorf("isSummary(%q) = false", got)
		}
	}
}

// TestDumpModes checks that only the owner can read a new dump. If the user made a file readable for others, it stays
// readable.
func TestDumpModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are of Unix")
	}
	dir := t.TempDir()
	fsys, err := vfs.Dir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	s := storeOf(t, note("a", "one"), note("b", "two"))
	mustDump(t, s, fsys, "brain")
	if err := os.Chmod(dir+"/brain/notes/a.md", 0o644); err != nil {
		t.Fatal(err)
	}
	mustApply(
		t,
		s,
		oxbow.Update{Name: "a", Content: "ONE"},
		oxbow.Update{Name: "b", Content: "TWO"},
		note("c", "three"),
	)
	mustDump(t, s, fsys, "brain")
	for name, want := range map[string]fs.FileMode{
		"brain": 0o700, "brain/notes": 0o700, "brain/SUMMARY.md": 0o600, "brain/book.toml": 0o600, "brain/" +
			manifestFile: 0o600,
		"brain/notes/a.md": 0o644, "brain/notes/b.md": 0o600, "brain/notes/c.md": 0o600,
	} {
		if info, err := os.Stat(dir + "/" + name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v (%v), want %v", name, info.Mode().Perm(), err, want)
		}
	}
}

// TestDumpOverLongTableOfContents checks that the table of contents, which lists all entries, may be larger than the
// file of an entry. Because of a bug, a dump of 200,000 entries with long names could not be repeated.
func TestDumpOverLongTableOfContents(t *testing.T) {
	s, fsys := storeOf(t, note("one", "text")), vfs.NewMem()
	mustDump(t, s, fsys, "brain")
	long := files(t, fsys, "brain")[summaryFile] + strings.Repeat("- [x](notes/x.md)\n", maxEntryFileBytes/16)
	if err := vfs.WriteFile(fsys, "brain/"+summaryFile, []byte(long), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(t.Context(), note("two", "text")); err != nil {
		t.Fatal(err)
	}
	r := mustDump(t, s, fsys, "brain")
	if r.WrittenFileCount != 2 || len(r.EditedFileCopies) != 1 {
		t.Errorf("Dump() = %+v, want two files written and the edited table of contents kept", r)
	}
	if again := mustDump(t, s, fsys, "brain"); again.WrittenFileCount != 0 {
		t.Errorf("the dump after it = %+v, want no file written", again)
	}
	if got := mustRead(t, fsys, "brain"); len(got.Entries) != 2 {
		t.Errorf("the tree has %d entries, want 2", len(got.Entries))
	}
}

// TestTextThatIsNotReadIsKept checks that a load warns about text that it does not read, and that no dump deletes such
// text without a copy.
func TestTextThatIsNotReadIsKept(t *testing.T) {
	s := storeOf(t, note("a", "one"), note("b", "two"))
	fsys := vfs.NewMem()
	origin := StoreIdentity{Name: "x", IsNameOfStore: func(was string) bool { return was == "x" }}
	o := &DumpOptions{DumpedStoreIdentity: origin}
	if _, err := Dump(t.Context(), s, fsys, "brain", o); err != nil {
		t.Fatal(err)
	}
	edits := map[string]string{
		"brain/notes/a.md": "</dl>|<dt>Author</dt><dd>Ada</dd>\n</dl>",
		"brain/notes/b.md": "<dl>|Ada was here\n<dl>",
	}
	for name, edit := range edits {
		from, to, _ := strings.Cut(edit, "|")
		put(t, fsys, name, strings.Replace(get(t, fsys, name), from, to, 1))
	}
	put(t, fsys, "brain/notes/new.md", propertyBlockStart+"\n<p>Ada</p>\n"+propertyBlockEnd+"\n\nthree\n")
	tree, err := ReadTree(fsys, "brain", &ReadOptions{SkipUnchanged: true})
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, w := range tree.Warnings {
		named = append(named, w.File)
	}
	want := []string{"notes/a.md", "notes/b.md", "notes/new.md"}
	if !slices.Equal(named, want) {
		t.Errorf("the load names %q, want %q", named, want)
	}
	load(t, tree, s, &PlanOptions{Origin: origin})
	_, err = Dump(t.Context(), s, fsys, "brain", o)
	if fe, ok := errors.AsType[*FilesError](err); !ok || !slices.Equal(fe.Files, want) {
		t.Errorf("Dump after the load = %v, want an error that names %q", err, want)
	}
	o.Force = true
	r, err := Dump(t.Context(), s, fsys, "brain", o)
	if err != nil || len(r.EditedFileCopies) != 3 {
		t.Fatalf("the forced dump keeps %q (%v), want three copies", r.EditedFileCopies, err)
	}
	for _, kept := range r.EditedFileCopies {
		if text := get(t, fsys, "brain/"+kept); !strings.Contains(text, "Ada") {
			t.Errorf("the copy %s has lost what the person wrote:\n%s", kept, text)
		}
	}
}
