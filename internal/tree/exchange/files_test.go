// This file tests the reading of files, directories and archives, and the detection of formats.

package exchange

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

func put(t *testing.T, fsys vfs.FS, name, text string) {
	t.Helper()
	if err := fsys.MkdirAll(path.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := fsys.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte(text), 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func pack(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const (
	entryLine = `{"name":"a","content":"b"}` + "\n"
	chatLine  = `{"id":"s","turns":[["user","x"]]}` + "\n"
	datesLine = `{"question":"q","haystack":[["s","2023/04/30 (Sun) 13:59"]]}` + "\n"
)

func TestDetect(t *testing.T) {
	long := `{"id":"s","turns":[["user","` + strings.Repeat("x", peekSize)
	for _, tt := range []struct {
		name, head string
		want       Format
		err        string
	}{
		{"x.md", "{}", Markdown, ""},
		{"X.MARKDOWN.GZ", pack(t, "text"), Markdown, ""},
		{"x.jsonl", entryLine, JSONL, ""},
		{"x.jsonl", "not json", JSONL, ""},
		{"x.jsonl.gz", pack(t, chatLine), Chat, ""},
		{"x.ndjson", "\uFEFF\n " + datesLine, ChatDates, ""},
		{"", long, Chat, ""},
		{"", `{"content":"` + strings.Repeat("x", peekSize), JSONL, ""},
		{"", `{"session_id":"x","messages":[`, Chat, ""},
		{"", `{"name":"turns","content":"haystack"}`, JSONL, ""},
		{"", "plain text", Markdown, ""},
		{"", "# 日本"[:7], Markdown, ""},
		{"x.json", "[\n{}]", "", "is a JSON array of objects without keys"},
		{"", "[link](x)\n", Markdown, ""},
		{"x.json", "[{\"a\":1},", "", "is a JSON array of objects whose keys are a, which"},
		{"x.json", "{\n\"a\":1}", "", "is a JSON document whose keys are a, which"},
		{"x.json", "{\n\"name\":\"a\",\"content\":", JSONL, ""},
		{"x.json", "[{\"name\":\"a\",\"content\":\"b\"}]", JSONL, ""},
		{"x.json", "[{\"mapping\":{}}]", "", "--from chatgpt"},
		{"x.json", `{"results":[{"id":"1","memory":"x"}]}`, mem0, ""},
		{"x.json", `[{"id":"1","memory":"x"}]`, mem0, ""},
		{"x.jsonl", `{"id":"1","content":"x","metadata":{},"state":"active","categories":[]}`, mem0, ""},
		{"x.json", `{"exportedAt":"x","totalObservations":1,"observations":[`, claudeMem, ""},
		{"x.json", `[{"id":1,"memory_session_id":"s","title":"x"}]`, claudeMem, ""},
		{"x.json", `{"version":"1","exported_at":"x","sessions":[{"id":"` + strings.Repeat("x", peekSize), engram, ""},
		{"x.json", `{"entities":[],"relations":[]}`, serverMemory, ""},
		{"x.json", `[{"conversations_memory":"x"}]`, ClaudeExport, ""},
		{"x.md", "---\ntitle: a\ntype: note\npermalink: b\n---\n", basicMemory, ""},
		{"x.mdc", "rule", cursorRules, ""},
		{"x.db", "SQLite format 3\x00", "", "sqlite3 -json"},
		{"", "", "", "is empty"},
		{"x", "a\x00b", "", "is not a text"},
		{"x", "a\xffb", "", "is not a text"},
		{"x", "\xff\xfea\x00", "", "UTF-16"},
	} {
		got, err := detectFormat(tt.name, []byte(tt.head))
		if got != tt.want || (err == nil) != (tt.err == "") || (err != nil && !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("Detect(%q, %.30q) = %q, %v; want %q, %q", tt.name, tt.head, got, err, tt.want, tt.err)
		}
	}
}

func TestReadDirectory(t *testing.T) {
	fsys := vfs.NewMem()
	put(t, fsys, "d/b.md", "bee")
	put(t, fsys, "d/a/z.markdown", "zed")
	put(t, fsys, "d/a.md", "ay")
	put(t, fsys, "d/.git/x.md", "hidden")
	put(t, fsys, "d/.hidden.md", "hidden")
	put(t, fsys, "d/picture.png", "\x89PNG")
	put(t, fsys, "d/log/s.jsonl.gz", pack(t, chatLine))
	put(t, fsys, "d/log/t.jsonl", datesLine)
	put(t, fsys, "d/bad.md", "a\xff")
	put(t, fsys, "d/bad.jsonl.gz", "\x1f\x8b\x08garbage")
	put(t, fsys, "d/doc.jsonl", "[\n1]")
	items, errs := collect(Read(fsys, "d", &ReadOptions{BasePath: "/home/me/"}))
	var got []string
	for _, it := range items {
		got = append(got, it.Position+"="+it.Entry.Name)
	}
	want := []string{
		"/home/me/d/a/z.markdown:1=z",
		"/home/me/d/a.md:1=a",
		"/home/me/d/b.md:1=b",
		"/home/me/d/log/s.jsonl.gz:1=s",
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("Read = %q, want %q", got, want)
	}
	if len(errs) != 5 ||
		!strings.HasPrefix(errs[0], "/home/me/d/.hidden.md: was passed over: its name begins with a dot") ||
		!strings.HasPrefix(errs[1], "/home/me/d/picture.png: was passed over") {
		t.Fatalf("Read errors = %q", errs)
	}
	errs = errs[2:]
	if !strings.Contains(errs[0], "d/bad.jsonl.gz") ||
		!strings.HasPrefix(errs[1], "/home/me/d/bad.md:1: is not UTF-8") ||
		!strings.Contains(errs[2], "/home/me/d/doc.jsonl: is one JSON document") {
		t.Errorf("Read errors = %q", errs)
	}
	if i := slices.IndexFunc(items, func(it Item) bool {
		return it.Entry.Name == "s"
	}); !items[i].Entry.Created.Equal(time.Date(2023, 4, 30, 13, 59, 0, 0, time.UTC)) {
		t.Errorf("the session is of %v, want the date of its question", items[i].Entry.Created)
	}
	for _, it := range items {
		if it.Entry.Created.IsZero() {
			t.Errorf("%s has no date, want that of its file", it.Position)
		}
	}
}

// entryOf returns the entry with this name.
func entryOf(t *testing.T, s oxbow.Store, name string) oxbow.Entry {
	t.Helper()
	e, err := s.Get(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestReadHidden tests that hidden directories are skipped, and that those with notes are reported.
func TestReadHidden(t *testing.T) {
	fsys := vfs.NewMem()
	put(t, fsys, "d/a.md", "ay")
	put(t, fsys, "d/.git/x.md", "x")
	put(t, fsys, "d/.obsidian/app.json", "{}")
	put(t, fsys, "d/.claude/memory/bar.md", "bar")
	items, errs := collect(Read(fsys, "d", nil))
	if len(items) != 1 || len(errs) != 1 ||
		!strings.HasPrefix(errs[0], "d/.claude: was passed over: its name begins with a dot") {
		t.Errorf("Read = %v, %q, want one item and a line about .claude", items, errs)
	}
	if items, errs := collect(Read(fsys, "d/.claude", nil)); len(items) != 1 || len(errs) > 0 {
		t.Errorf("Read of a hidden directory that was named = %v, %q", items, errs)
	}
}

// TestReadConflictCopies tests that a note is named after its heading and its conflict copies after their files,
// although the copies come first in the directory.
func TestReadConflictCopies(t *testing.T) {
	fsys := vfs.NewMem()
	put(t, fsys, "d/Harbor (Pat's conflicted copy 2026-03-01).md", "---\naliases: [quay]\n---\n# Harbor\n\nold")
	put(t, fsys, "d/Harbor.md", "---\naliases: [quay]\n---\n# Harbor\n\nnew")
	s := newStore()
	rep := load(t, s, Read(fsys, "d", nil), nil)
	if e := entryOf(t, s, "Harbor"); !strings.HasSuffix(e.Content, "new") || !slices.Contains(e.Aliases, "quay") {
		t.Errorf("Harbor is %+v, want the text and the alias of Harbor.md", e)
	}
	if e := entryOf(t, s, "Harbor (Pat's conflicted copy 2026-03-01)"); !strings.HasSuffix(e.Content, "old") ||
		len(e.Aliases) > 0 {
		t.Errorf("the copy is %+v", e)
	}
	if !slices.ContainsFunc(rep.Notes, func(n string) bool {
		return strings.Contains(n, "another version of a note")
	}) {
		t.Errorf("the notes are %q, want one about the copy", rep.Notes)
	}
}

// TestReadBook tests that the table of contents of an mdBook is skipped, while a file with the same name elsewhere is
// read.
func TestReadBook(t *testing.T) {
	fsys := vfs.NewMem()
	put(t, fsys, "d/book.toml", "[book]")
	put(t, fsys, "d/a.md", "ay")
	put(t, fsys, "d/SUMMARY.md", "# Summary")
	put(t, fsys, "d/src/SUMMARY.md", "# Summary")
	put(t, fsys, "d/src/b/SUMMARY.md", "be")
	put(t, fsys, "dump/book.toml", "[book]\nsrc = \".\"\n")
	put(t, fsys, "dump/SUMMARY.md", "# Summary")
	put(t, fsys, "dump/notes/SUMMARY.md", "an entry")
	put(t, fsys, "e/SUMMARY.md", "in short")
	for dir, want := range map[string]string{"d": "ay be", "dump": "an entry", "e": "in short"} {
		items, errs := collect(Read(fsys, dir, nil))
		var got []string
		for _, it := range items {
			got = append(got, it.Entry.Content)
		}
		if strings.Join(got, " ") != want || len(errs) > 0 {
			t.Errorf("Read of %s = %q, %v, want %q", dir, got, errs, want)
		}
	}
}

// TestReadOthers tests that files with other extensions in a directory are reported and do not make the import fail.
func TestReadOthers(t *testing.T) {
	fsys := vfs.NewMem()
	for _, name := range []string{"d/a.md", "d/b.txt", "d/c", "d/.hidden"} {
		put(t, fsys, name, "text")
	}
	rep, err := Import(t.Context(), newStore(), Read(fsys, "d", nil), nil)
	if err != nil || counts(rep) != [4]int{1, 0, 0, 2} || len(rep.Problems) > 0 || len(rep.Notes) != 2 ||
		!strings.HasPrefix(rep.Notes[0], "d/b.txt: was passed over") {
		t.Errorf("Import = %v, %q, %q, %v, want one entry and two notes", counts(rep), rep.Problems, rep.Notes, err)
	}
}

func TestReadNothing(t *testing.T) {
	fsys := vfs.NewMem()
	put(t, fsys, "empty/x.png", "x")
	put(t, fsys, "dates/q.jsonl", datesLine)
	for name, want := range map[string]string{
		"empty": "no file below it ends in .md", "dates": "holds dates of sessions, but no sessions",
		"dates/q.jsonl": "name the directory that holds both", "missing": "reading missing",
		"empty/x.png/y": "reading empty/x.png/y",
	} {
		items, errs := collect(Read(fsys, name, nil))
		if len(items) != 0 || len(errs) != 1 || !strings.Contains(errs[0], want) {
			t.Errorf("Read(%q) = %d items, %q; want %q", name, len(items), errs, want)
		}
	}
}

func TestReadSymlink(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.md"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link.md", "linkdir"} {
		if err := os.Symlink("secret", filepath.Join(dir, name)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	fsys, err := vfs.Dir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	items, errs := collect(Read(fsys, ".", nil))
	if len(items) != 1 || items[0].Entry.Name != "a" || len(errs) != 3 ||
		errs[0] != "link.md: is a symbolic link, which is not followed" {
		t.Errorf("Read = %v, %q; want only a.md, and the links named", items, errs)
	}
}

func TestReadStream(t *testing.T) {
	it := one(t, ReadStream(strings.NewReader(pack(t, entryLine)), "-", nil))
	if it.Entry.Name != "a" || it.Position != "-:1" {
		t.Errorf("ReadStream = %+v, want a at -:1", it)
	}
	// If a compressed file is cut off, ReadStream returns all complete items before it returns the error.
	packed := pack(t, strings.Repeat(entryLine, 10)+strings.Repeat(`{"name":"z","content":"`+noise(40000)+"\"}\n", 3))
	items, errs := collect(ReadStream(strings.NewReader(packed[:len(packed)-20000]), "x.jsonl.gz", nil))
	if len(items) < 10 || len(errs) != 1 || !strings.Contains(errs[0], "unexpected EOF") {
		t.Errorf("half a gzip file = %d items, %q", len(items), errs)
	}
	if _, errs := collect(ReadStream(strings.NewReader(entryLine), "x", &ReadOptions{Format: "tar"})); len(
		errs,
	) != 1 ||
		!strings.Contains(errs[0], `format "tar" is unknown`) {
		t.Errorf("ReadStream of format tar = %q", errs)
	}
}

// noise returns n hexadecimal digits that look random, so that gzip cannot make the text much smaller than half. The
// digits are the same in each call.
func noise(n int) string {
	var b strings.Builder
	for h := digestParts("noise"); b.Len() < n; h = digestParts(string(h[:])) {
		for _, c := range h {
			b.WriteByte("0123456789abcdef"[c>>4])
			b.WriteByte("0123456789abcdef"[c&15])
		}
	}
	return b.String()[:n]
}

// TestReadBomb tests that decompression stops at the limit if a small file expands to a large one.
func TestReadBomb(t *testing.T) {
	packed := pack(t, strings.Repeat(entryLine, 1000))
	size := int64(1000 * len(entryLine))
	for _, tt := range []struct {
		limit int64
		whole bool
	}{{size, true}, {size - 1, false}, {100, false}} {
		_, errs := collect(
			ReadStream(strings.NewReader(packed), "x.jsonl.gz", &ReadOptions{MaxDecompressedBytes: tt.limit}),
		)
		if whole := len(errs) == 0; whole != tt.whole {
			t.Errorf("expanding %d bytes within %d: errors %q, want whole = %v", size, tt.limit, errs, tt.whole)
		}
	}
}

func TestNearest(t *testing.T) {
	for _, tt := range []struct{ word, want string }{
		{"tgas", "tags"}, {"Kind", "kind"}, {"createt", "created"}, {"relatedfiles", "related_files"}, {"xyz", ""},
		{"", ""}, {strings.Repeat("x", 100), ""},
	} {
		if got := nearestCandidate(tt.word, entryFields); got != tt.want {
			t.Errorf("nearest(%q) = %q, want %q", tt.word, got, tt.want)
		}
	}
}

// TestReadProgress tests that the reported progress ends with the size of the file, or of all files in a directory.
func TestReadProgress(t *testing.T) {
	dir := t.TempDir()
	want := int64(0)
	for i, size := range []int{10, 300_000, 5} {
		if err := os.WriteFile(
			filepath.Join(dir, fmt.Sprint(i, ".md")),
			bytes.Repeat([]byte("word "), size/5),
			0o600,
		); err != nil {
			t.Fatal(err)
		}
		want += int64(size)
	}
	for name, want := range map[string]int64{dir: want, filepath.Join(dir, "1.md"): 300_000} {
		var read, size int64
		for _, err := range ReadPath(name, "", &ReadOptions{Progress: func(r, s int64) {
			if r < read || s < size || r > s {
				t.Errorf("%d of %d bytes after %d of %d", r, s, read, size)
			}
			read, size = r, s
		}}) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if read != want || size != want {
			t.Errorf("%s: %d bytes of %d were read, want %d", name, read, size, want)
		}
	}
}
