// This file tests the import of other programs' files. For each program, there is an example of what it writes.

package exchange

import (
	"archive/zip"
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

var update = flag.Bool("update", false, "rewrite the files that hold expected results")

// describeItems returns as text all that an import uses of the items, and the errors.
func describeItems(items []Item, errs []string) string {
	var b strings.Builder
	for _, it := range items {
		e := it.Entry
		fmt.Fprintf(&b, "== %s\nat %s, from %s, id %q\n", e.Name, it.Position, it.Origin, it.ID)
		fmt.Fprintf(&b, "%s %s, aliases %q\n", e.Kind, e.Created.Format(time.RFC3339), e.Aliases)
		fmt.Fprintf(&b, "labels %s\n", labels(e))
		for _, w := range it.Warnings {
			fmt.Fprintf(&b, "warning %s\n", w)
		}
		fmt.Fprintf(&b, "%s\n", e.Content)
	}
	for _, err := range errs {
		fmt.Fprintf(&b, "error %s\n", err)
	}
	return b.String()
}

// openPrograms opens the directory of the examples.
func openPrograms(t testing.TB) vfs.FS {
	t.Helper()
	fsys, err := vfs.Dir(filepath.Join("testdata", "programs"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	return fsys
}

// examples returns the names of the directories of examples. Each name begins with the name of a format.
func examples(t testing.TB) []string {
	t.Helper()
	list, err := os.ReadDir(filepath.Join("testdata", "programs"))
	if err != nil || len(list) == 0 {
		t.Fatalf("%d examples, %v", len(list), err)
	}
	var dirs []string
	for _, d := range list {
		if d.IsDir() {
			dirs = append(dirs, d.Name())
		}
	}
	return dirs
}

// exampleFormat returns the format of the example in the directory dir. This is the longest format name with which the
// name of the directory begins.
func exampleFormat(dir string) Format {
	best := ""
	for _, f := range FormatNames() {
		if strings.HasPrefix(dir, f) && len(f) > len(best) {
			best = f
		}
	}
	return Format(best)
}

func TestPrograms(t *testing.T) {
	for _, dir := range examples(t) {
		t.Run(dir, func(t *testing.T) {
			fsys := openPrograms(t)
			items, errs := collect(Read(fsys, dir, &ReadOptions{Format: exampleFormat(dir)}))
			got := describeItems(withoutFileTimes(t, fsys, items), errs)
			file := filepath.Join("testdata", "programs", dir+".golden")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if len(items) == 0 {
				t.Error("read no items")
			}
		})
	}
}

// withoutFileTimes removes the dates that are modification times of files, because they differ between checkouts.
func withoutFileTimes(t *testing.T, fsys vfs.FS, items []Item) []Item {
	t.Helper()
	for i, it := range items {
		info, err := fsys.Stat(fileOfRef(it.Position))
		if err != nil {
			t.Fatal(err)
		}
		if it.Entry.Created.Equal(info.ModTime()) {
			items[i].Entry.Created = time.Time{}
		}
	}
	return items
}

// TestProgramsAreRecognized tests that each program has an example, and that the format of each example is detected.
func TestProgramsAreRecognized(t *testing.T) {
	fsys := openPrograms(t)
	dirs := examples(t)
	for _, s := range supportedImportSources() {
		isPlain := slices.Contains([]Format{Markdown, JSONL, Chat, ChatDates, crabtalkMemory}, s.format)
		isExample := func(dir string) bool { return exampleFormat(dir) == s.format }
		if !isPlain && !slices.ContainsFunc(dirs, isExample) {
			t.Errorf("there is no example of %s", s.format)
		}
	}
	for _, dir := range dirs {
		named, _ := collect(Read(fsys, dir, &ReadOptions{Format: exampleFormat(dir)}))
		path := dir
		if list, err := fsys.ReadDir(dir); err == nil && len(list) == 1 && !list[0].IsDir() {
			path += "/" + list[0].Name() // A single file is recognized by its content.
		}
		if dir == "cursor-rules" {
			path += "/.cursor/rules" // A project contains notes of its own, so import only its rules.
			named = named[:1]
		}
		if dir == "csv" {
			path += "/berths.csv" // A table in a directory is skipped unless its format is named, so name the file.
			named = named[:2]
		}
		told, errs := collect(Read(fsys, path, nil))
		if describeItems(told, nil) != describeItems(named, nil) {
			t.Errorf("%s without its format is read as\n%s%q\nwant\n%s", path, describeItems(told, nil), errs,
				describeItems(named, nil))
		}
	}
}

// TestProgramsAgain tests that a second import changes nothing, even if the file has another name or order. A record
// that has changed in its program must change its entry, which keeps its name.
func TestProgramsAgain(t *testing.T) {
	for _, dir := range examples(t) {
		o := &ReadOptions{Format: exampleFormat(dir)}
		s := newStore()
		first := load(t, s, Read(openPrograms(t), dir, o), nil)
		again := load(t, s, Read(openPrograms(t), dir, o), nil)
		if first.AddedCount == 0 || again.AddedCount+again.UpdatedCount != 0 ||
			again.UnchangedCount != first.AddedCount ||
			len(again.EntriesMissingFromFile) != 0 {
			t.Errorf("%s: first %+v, again %+v", dir, counts(first), counts(again))
		}
	}
	s := newStore()
	read := func(name, text string) Report {
		return load(t, s, ReadStream(strings.NewReader(text), name, nil), nil)
	}
	read("march.json", `[{"id":"1","memory":"Ada likes tea"},{"id":"2","memory":"Ada rows"}]`)
	rep := read("april.json", `[{"id":"2","memory":"Ada rows"},{"id":"1","memory":"Ada likes coffee"}]`)
	if counts(rep) != [4]int{0, 1, 1, 0} || len(rep.EntriesMissingFromFile) != 0 {
		t.Errorf("a later export: %+v, stale %q", counts(rep), rep.EntriesMissingFromFile)
	}
	if e, err := s.Get(t.Context(), "Ada likes tea"); err != nil || e.Content != "Ada likes coffee" {
		t.Errorf("the changed memory is %+v, %v", e, err)
	}
	if rep := read("part.json", `[{"id":"3","memory":"Ada rows"}]`); counts(rep) != [4]int{0, 0, 1, 0} {
		t.Errorf("another memory that says exactly the same: %+v", counts(rep))
	}
	if rep := read("part.json", `[{"id":"4","memory":"Ada rows","user_id":"bo"}]`); counts(rep) != [4]int{1, 0, 0, 0} {
		t.Errorf("another memory with the same text: %+v", counts(rep))
	}
}

// TestZip tests that a ZIP archive is read as its files would be without the archive. The file may be in a
// subdirectory. A damaged archive must cause an error.
func TestZip(t *testing.T) {
	for _, tt := range []struct {
		files map[string]string
		want  string
	}{
		{map[string]string{"vault/.obsidian/app.json": "{}", "vault/a.md": "Text #tag", "__MACOSX/._a": "x"},
			"a tag:tag"},
		{map[string]string{"memories.json": `{"user":{},"apps":[],"memories":[]}`,
			"memories.jsonl.gz": pack(t, `{"id":"1","content":"x","state":"active","categories":["c"]}`)}, "x tag:c"},
		{map[string]string{"users.json": "[]", "conversations.json": "[]",
			"memories.json": `[{"conversations_memory":"Ada"}]`}, "What Claude remembers of me type:memory"},
		{map[string]string{"notes/a.md": "A", "b.txt": "B"}, "a "},
	} {
		mem := vfs.NewMem()
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for name, text := range tt.files {
			f, err := w.Create(name)
			if err == nil {
				_, err = f.Write([]byte(text))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := vfs.WriteFile(mem, "x.zip", b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		items, errs := collect(Read(mem, "x.zip", nil))
		if len(items) != 1 || items[0].Entry.Name+" "+labels(items[0].Entry) != tt.want {
			t.Errorf("archive of %v: %+v, %q; want %s", tt.files, items, errs, tt.want)
		}
	}
	mem := vfs.NewMem()
	if err := vfs.WriteFile(mem, "x.zip", []byte("PK\x03\x04 cut off"), 0o600); err != nil {
		t.Fatal(err)
	}
	if items, errs := collect(Read(mem, "x.zip", nil)); len(items) != 0 || len(errs) != 1 {
		t.Errorf("a damaged archive: %v, %q", items, errs)
	}
}

// TestDamagedDocument tests a document that is damaged in the middle. The records before the damage must be read, and
// the error must name the line.
func TestDamagedDocument(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"[{\"id\":\"1\",\"memory\":\"a\"},\n{\"id\":\"2\",\"mem", "f:2: is not JSON: it ends too early"},
		{"{\"results\":[{\"id\":\"1\",\"memory\":\"a\"},\n}]}", "f:2: is not JSON: invalid character"},
		{"[{\"id\":\"1\",\"memory\":\"a\"},\n7]", "f:2: record 2: is not a JSON object"},
		{"[{\"id\":\"1\",\"memory\":\"a\"},\n{\"id\":\"\xff\"}]", "f:2: record 2: is not UTF-8"},
		{"[{\"id\":\"1\",\"memory\":\"a\"}]\n\"x\"", "f:2: is not a JSON object or array"},
		{"[{\"id\":\"1\",\"memory\":\"a\"}]\n{\"results\":3}", "f:2: results is not a list"},
	} {
		items, errs := collect(ReadStream(strings.NewReader(tt.in), "f", &ReadOptions{Format: mem0}))
		if len(items) != 1 || len(errs) != 1 || !strings.HasPrefix(errs[0], tt.want) {
			t.Errorf("%q gives %d items and %q, want 1 and %q", tt.in, len(items), errs, tt.want)
		}
	}
}

func FuzzDocument(f *testing.F) {
	for _, dir := range examples(f) {
		files, err := filepath.Glob(filepath.Join("testdata", "programs", dir, "*.json*"))
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	f.Add([]byte("{\"a\":[{}],\"results\":[[],{\"id\":1,\"memory\":\"\\u0000\"}]}[{}]{}"))
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, format := range []Format{mem0, claudeMem, engram, ClaudeExport, serverMemory} {
			checkItems(t, format, in)
		}
		h, ok := readJSONHead(in)
		if !ok && detectDocumentFormat(h) != "" {
			t.Errorf("%q is no document, but of format %s", in, detectDocumentFormat(h))
		}
	})
}

func FuzzDialects(f *testing.F) {
	f.Add("---\ntitle: a\ntype: note\npermalink: b/c\n---\n- [x] y #z\n")
	f.Add("---\ndescription: d\nglobs: **/*.go,{a,b}/*\nalwaysApply: true\n---\nText\n")
	f.Fuzz(func(t *testing.T, in string) {
		for _, format := range []Format{basicMemory, cursorRules, openClaw} {
			checkItems(t, format, []byte(in))
		}
		for _, glob := range splitGlobs(in) {
			if strings.TrimSpace(glob) != glob || glob == "" {
				t.Errorf("splitGlobs(%q) has %q", in, glob)
			}
		}
		isBasicMemoryNote([]byte(in))
	})
}

// TestClaudeAccounts tests that the memories of two accounts stay separate, even if their exports are imported
// alternately.
func TestClaudeAccounts(t *testing.T) {
	export := func(account, said string) string {
		return `[{"conversations_memory":"` + said + `","project_memories":{"p1":"` + said + ` in p1"},` +
			`"account_uuid":"` + account + `"}]`
	}
	m := openMemory(t)
	imports := func(name, text string) Report {
		t.Helper()
		items := ReadStream(strings.NewReader(text), name, &ReadOptions{Format: ClaudeExport})
		r, err := Import(t.Context(), m, items, nil)
		if err != nil || len(r.Problems) > 0 {
			t.Fatalf("importing %s: %v, %q", text, err, r.Problems)
		}
		return r
	}
	imports("memories.json", export("a", "Ada"))
	if r := imports("memories.json", export("b", "Bob")); r.AddedCount != 2 || r.UpdatedCount != 0 {
		t.Errorf("the second account: %d added, %d updated; want 2 and 0", r.AddedCount, r.UpdatedCount)
	}
	if r := imports("other/memories.json", export("a", "Ada now")); r.AddedCount != 0 || r.UpdatedCount != 2 {
		t.Errorf("the first account again: %d added, %d updated; want 0 and 2", r.AddedCount, r.UpdatedCount)
	}
	// In the newer form of the export, each account has a file.
	r := imports("memories/b.json", `{"conversations_memory":"Bob now","project_memories":{},"memory_files":[]}`)
	if r.UpdatedCount != 1 {
		t.Errorf("the second account in a file of its own: %d updated, want 1", r.UpdatedCount)
	}
	want := map[string]string{"What Claude remembers of me": "Ada now", "What Claude remembers of me (2)": "Bob now",
		"What Claude remembers of project p1": "Ada now in p1", "What Claude remembers of project p1 (2)": "Bob in p1"}
	for name, content := range want {
		if e, err := m.Get(t.Context(), name); err != nil || e.Content != content {
			t.Errorf("%q is %q, %v; want %q", name, e.Content, err, content)
		}
	}
	if r, err := m.Check(t.Context()); err != nil || len(r.Problems) > 0 {
		t.Errorf("Check() = %v, %v", r.Problems, err)
	}
}

// TestTables tests tables. The rows of two tables with the same ids and names must stay separate, a changed row must
// update its entry, and a table without column names must be refused as a whole.
func TestTables(t *testing.T) {
	s := newStore()
	read := func(name, content string) Report {
		t.Helper()
		rep, err := Import(t.Context(), s, ReadStream(strings.NewReader(content), name, nil), nil)
		if err != nil {
			t.Fatal(err)
		}
		return rep
	}
	const berths = "id,name,content\n1,Berth 7,Closed.\n2,Berth 9,No water.\n"
	if rep := read("berths.csv", berths); rep.AddedCount != 2 || len(rep.Problems) > 0 {
		t.Fatalf("the first import: %+v", rep)
	}
	if rep := read("cranes.csv", "id,name,content\n1,Crane,Lifts 12 t.\n2,Berth 9,A crane.\n"); rep.AddedCount != 2 {
		t.Errorf(
			"a second table: %d added, %d updated; want 2 added, because its ids are its own",
			rep.AddedCount,
			rep.UpdatedCount,
		)
	}
	if rep := read("berths.csv", berths); rep.UnchangedCount != 2 {
		t.Errorf("the same table again: %+v; want 2 the same", rep)
	}
	if rep := read("berths.csv", strings.Replace(berths, "Closed", "Open", 1)); rep.UpdatedCount != 1 ||
		rep.UnchangedCount != 1 {
		t.Errorf("a changed row: %+v; want 1 updated, 1 the same", rep)
	}
	for name, content := range map[string]string{"no header": "Berth 7,Closed.\n", "no text": "id,name\n1,a\n"} {
		rep := read("x.csv", content)
		if rep.AddedCount != 0 || len(rep.Problems) != 1 ||
			!strings.Contains(rep.Problems[0], "the first line must name") {
			t.Errorf("%s: %+v; want a refusal", name, rep)
		}
	}
	want := map[string]string{
		"Berth 7":     "Open.",
		"Berth 9":     "No water.",
		"Berth 9 (2)": "A crane.",
		"Crane":       "Lifts 12 t.",
	}
	got := map[string]string{}
	for e, err := range s.Entries(t.Context(), oxbow.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		got[e.Name] = e.Content
	}
	if !maps.Equal(got, want) {
		t.Errorf("the entries are %v, want %v", got, want)
	}
}
