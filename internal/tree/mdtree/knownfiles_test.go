// This file tests the list of known files. With it, dumps and loads do not read files that nobody has changed.

package mdtree

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/sysinfo"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestKnownFilesRoundTrip(t *testing.T) {
	head := knownHashListHeader{manifestDigest: sha256Digest{1}, summaryDigest: sha256Digest{2}}
	rows := []fileWithKnownHash{
		{
			"notes/b c.md",
			sysinfo.FileStamp{Size: 1 << 40, ModUnixNano: 1 << 62, ChangeUnixNano: -1 << 62, Inode: 1<<64 - 1},
			sha256Digest{31: 255},
		},
		{"notes/a.md", sysinfo.FileStamp{Size: 1, ModUnixNano: -2, ChangeUnixNano: 3, Inode: 4}, sha256Digest{5}},
	}
	for i := range 3000 { // more rows than fit into the buffer
		stamp := sysinfo.FileStamp{Size: int64(i), ModUnixNano: 1, ChangeUnixNano: 2, Inode: 3}
		rows = append(rows, fileWithKnownHash{fmt.Sprintf("notes/%d.md", i), stamp, sha256Digest{6}})
	}
	read := func(data []byte) (got []fileWithKnownHash, head knownHashListHeader, ok bool) {
		head, ok = readKnownHashList(
			bytes.NewReader(data),
			int64(len(data)),
			func(f fileWithKnownHash) { got = append(got, f) },
		)
		return got, head, ok
	}
	write := func(rows []fileWithKnownHash) []byte {
		var data bytes.Buffer
		w := newKnownHashListWriter(&data, head)
		for _, f := range rows {
			w.addFile(f)
		}
		if err := w.finishKnownHashList(); err != nil {
			t.Fatal(err)
		}
		return data.Bytes()
	}
	if got, gotHead, ok := read(write(rows)); !ok || gotHead != head || !slices.Equal(got, rows) {
		t.Errorf("the list is read as %d rows after %v (%v), want %d after %v", len(got), gotHead, ok, len(rows), head)
	}
	data := write(rows[:2])
	for i := range data {
		damaged := bytes.Clone(data)
		damaged[i] ^= 1
		if got, _, ok := read(damaged); len(got) > 0 || ok {
			t.Errorf("with byte %d changed, the list is %v, want none", i, got)
		}
		if got, _, ok := read(data[:i]); len(got) > 0 || ok {
			t.Errorf("cut to %d bytes, the list is %v, want none", i, got)
		}
	}
}

// readFS records the names of the entry files that are opened for reading.
type readFS struct {
	*vfs.OS
	read []string
}

func (c *readFS) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	if flag == os.O_RDONLY && strings.HasSuffix(name, ".md") && !strings.HasSuffix(name, summaryFile) {
		c.read = append(c.read, filepath.Base(name))
	}
	return c.OS.OpenFile(name, flag, perm)
}

func (c *readFS) take() []string {
	read := c.read
	c.read = nil
	slices.Sort(read)
	return read
}

// stamped returns a file system in a temporary directory, and the path of this directory. On Linux and macOS, a file
// has a stamp (its size, inode and times), which shows whether the file has changed, so that an unchanged file need not
// be read. On other systems, stamped skips the test.
func stamped(t *testing.T) (*readFS, string) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("files have no stamps on this system, so that all of them are read")
	}
	dir := t.TempDir()
	disk, err := vfs.Dir(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { disk.Close() })
	return &readFS{OS: disk}, dir
}

// editUntilSeen replaces the text of a file by another text of the same length, and restores the modification time. It
// repeats this until the stamp of the file changes.
func editUntilSeen(t *testing.T, file, text string) {
	t.Helper()
	before, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	for {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, before.ModTime(), before.ModTime()); err != nil {
			t.Fatal(err)
		}
		after, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		was, _ := sysinfo.ReadFileStamp(before)
		now, _ := sysinfo.ReadFileStamp(after)
		if was != now {
			return
		}
	}
}

// TestUnchangedFilesAreNotRead checks that a second dump and a load read only the files that were changed. They must
// read a changed file even if its length and modification time are the same as before.
func TestUnchangedFilesAreNotRead(t *testing.T) {
	fsys, dir := stamped(t)
	s := storeOf(t, note("a", "one"), note("b", "two"), note("c", "three"))
	origin := StoreIdentity{Name: "x", IsNameOfStore: func(was string) bool { return was == "x" }}
	// A dump skips an unchanged file only if the file was last changed before the last tick of the file system's clock,
	// because a later change might otherwise have the same modification time. With a clock resolution of -1 hour, files
	// that have just been changed are skipped, too.
	o := &DumpOptions{DumpedStoreIdentity: origin, clockResolution: -time.Hour}
	dump := func() DumpReport {
		t.Helper()
		r, err := Dump(t.Context(), s, fsys, "brain", o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	dump()
	fsys.take()
	if r := dump(); len(fsys.take()) > 0 || r.UnchangedFileCount != 5 {
		t.Errorf("the second dump read files or found %d of 5 unchanged", r.UnchangedFileCount)
	}

	file := filepath.Join(dir, "brain/notes/b.md")
	text := get(t, fsys, "brain/notes/b.md")
	fsys.take()
	editUntilSeen(t, file, strings.Replace(text, "two", "TWO", 1))
	tree, err := ReadTree(fsys, "brain", &ReadOptions{SkipUnchanged: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := fsys.take(); !slices.Equal(got, []string{"b.md"}) {
		t.Errorf("the load read %q, want b.md", got)
	}
	if _, err := Dump(t.Context(), s, fsys, "brain", o); err == nil || !strings.Contains(err.Error(), "notes/b.md") {
		t.Errorf("Dump over an edited file = %v, want an error that names notes/b.md", err)
	}
	p := load(t, tree, s, &PlanOptions{Origin: origin})
	if !slices.Equal(p.ChangedNames, []string{"b"}) || !slices.Equal(p.UnchangedNames, []string{"a", "c"}) {
		t.Errorf("the load changed %q and left %q, want b, and a c", p.ChangedNames, p.UnchangedNames)
	}
	if e, err := s.Get(t.Context(), "b"); err != nil || e.Content != "TWO" {
		t.Errorf("b is %q after the load (%v), want TWO", e.Content, err)
	}
	dump()
	fsys.take()
	if r := dump(); len(fsys.take()) > 0 || r.UnchangedFileCount != 5 {
		t.Errorf("the dump after the load read files or found %d of 5 unchanged", r.UnchangedFileCount)
	}

	// In a copy of the tree, the stamps differ, so that all files are read.
	if err := os.CopyFS(filepath.Join(dir, "copy"), os.DirFS(filepath.Join(dir, "brain"))); err != nil {
		t.Fatal(err)
	}
	tree, err = ReadTree(fsys, "copy", &ReadOptions{SkipUnchanged: true})
	if err != nil || len(fsys.take()) != 3 || len(tree.Entries) != 0 {
		t.Errorf("Read of a copy: %v; want that it reads three files, all unchanged", err)
	}
}

// TestRecentFilesAreRead checks that SkipUnchanged does not skip a file that was changed just before a dump examined
// it. Such a file must be read again. Its stamp, which contains the change time, proves nothing, because a second
// change within the resolution of the clock leaves the stamp the same.
func TestRecentFilesAreRead(t *testing.T) {
	fsys, _ := stamped(t)
	s := storeOf(t, note("a", "one"), note("b", "two"))
	for range 2 {
		if _, err := Dump(t.Context(), s, fsys, "brain", &DumpOptions{clockResolution: time.Hour}); err != nil {
			t.Fatal(err)
		}
	}
	fsys.take()
	if _, err := ReadTree(fsys, "brain", &ReadOptions{SkipUnchanged: true}); err != nil {
		t.Fatal(err)
	}
	if got := fsys.take(); len(got) != 2 {
		t.Errorf("Read of two files from just now read %q", got)
	}
}

// editingFS lets a user write files just before a dump is committed.
type editingFS struct {
	*vfs.OS
	edit func()
}

func (f *editingFS) Rename(oldname, newname string) error {
	if strings.HasSuffix(newname, commitFile) && f.edit != nil {
		f.edit()
		f.edit = nil
	}
	return f.OS.Rename(oldname, newname)
}

// TestFileEditedBeforeCommitIsRead checks that a dump keeps a file that a user writes just before the dump would write
// it. The next load must read the file.
func TestFileEditedBeforeCommitIsRead(t *testing.T) {
	for name, op := range map[string]oxbow.Op{
		"b":   oxbow.Update{Name: "b", Content: "of the store"},
		"new": note("new", "of the store"),
	} {
		t.Run(name, func(t *testing.T) {
			counted, dir := stamped(t)
			fsys := &editingFS{OS: counted.OS}
			s := storeOf(t, note("a", "one"), note("b", "two"))
			// with a negative clock resolution, file times count as reliable at once
			o := &DumpOptions{clockResolution: -time.Hour}
			if _, err := Dump(t.Context(), s, fsys, "brain", o); err != nil {
				t.Fatal(err)
			}
			mustApply(t, s, op)
			fsys.edit = func() {
				file := filepath.Join(dir, "brain/notes", name+".md")
				if err := os.WriteFile(file, []byte("of the user"), 0o600); err != nil {
					t.Error(err)
				}
			}
			if _, err := Dump(t.Context(), s, fsys, "brain", o); err != nil {
				t.Fatal(err)
			}
			tree, err := ReadTree(fsys, "brain", &ReadOptions{SkipUnchanged: true})
			if err != nil || len(tree.Entries) != 1 || tree.Entries[0].Content != "of the user" {
				t.Errorf("the load reads %+v (%v), want the text of the user", tree, err)
			}
		})
	}
}

func TestTimeResolution(t *testing.T) {
	for _, c := range []struct {
		time int64
		want time.Duration
	}{
		{1_700_000_000_000_000_000, 3 * time.Second},
		{1_700_000_000_120_000_000, 3 * time.Second},
		{1_700_000_000_123_456_789, 100 * time.Millisecond},
	} {
		if got := estimateClockResolution(c.time); got != c.want {
			t.Errorf("timeResolution(%d) = %v, want %v", c.time, got, c.want)
		}
	}
}

// TestDumpWithSpoolFile checks that a dump writes the same files if its texts do not fit into memory.
func TestDumpWithSpoolFile(t *testing.T) {
	s := nastyStore(t)
	fsys := vfs.NewMem()
	mustDump(t, s, fsys, "brain")
	if _, err := Dump(t.Context(), s, fsys, "again", &DumpOptions{maxNewFileBytesInMemory: 100}); err != nil {
		t.Fatal(err)
	}
	if d := diffFiles(files(t, fsys, "again"), files(t, fsys, "brain")); d != "" {
		t.Errorf("the tree differs:\n%s", d)
	}
	// A refused dump deletes its spool.
	put(t, fsys, "again/notes/mine.md", "mine")
	mustApply(t, s, note("new one", strings.Repeat("x", 200)), note("new two", strings.Repeat("x", 200)))
	if _, err := Dump(t.Context(), s, fsys, "again", &DumpOptions{maxNewFileBytesInMemory: 100}); err == nil {
		t.Error("a dump over a new file was not refused")
	}
	for name := range files(t, fsys, "again") {
		if strings.HasPrefix(name, dumpStageDir+"/") {
			t.Errorf("the refused dump left %s", name)
		}
	}
}

// changingStore changes an entry when a dump reads the entry again.
type changingStore struct {
	*mapStore
	gets int
}

func (s *changingStore) Get(ctx context.Context, name string) (oxbow.Entry, error) {
	s.gets++
	op := oxbow.Update{Name: name, Content: fmt.Sprint("changed ", s.gets)}
	if err := s.Apply(ctx, op); err != nil {
		return oxbow.Entry{}, err
	}
	return s.mapStore.Get(ctx, name)
}

// TestDumpOfChangingStore changes an entry while it is dumped. The tree and the manifest must contain the same version
// of the entry.
func TestDumpOfChangingStore(t *testing.T) {
	fsys := vfs.NewMem()
	s := &changingStore{mapStore: storeOf(t, note("a", "one"), note("b", "two"))}
	mustDump(t, s.mapStore, fsys, "brain")
	if err := fsys.Remove("brain/notes/a.md"); err != nil {
		t.Fatal(err)
	}
	mustDump(t, s, fsys, "brain")
	if s.gets == 0 {
		t.Fatal("the dump did not read the entry again, so that this test shows nothing")
	}
	tree := mustRead(t, fsys, "brain")
	if got, want := describeAll(tree.Entries), describeAll(s.entries); !slices.Equal(got, want) {
		t.Errorf("the tree has %q, want %q", got, want)
	}
	if slices.Contains(tree.isUneditedEntry, false) {
		t.Errorf("unedited = %v, want that the manifest agrees with all files", tree.isUneditedEntry)
	}
}

// TestManifestLines checks that the fast parser of manifest lines agrees with package json.
func TestManifestLines(t *testing.T) {
	items := []manifestItem{
		{"notes/a.md", "a", sha256Digest{1}},
		{"notes/b%22.md", `b"\`, sha256Digest{}},
		{"notes/c.md", "line\nbreak", sha256Digest{2}},
		{"notes/日.md", "日", sha256Digest{3}},
		{"worlds/x~2.md", "X", sha256Digest{4}},
	}
	var data bytes.Buffer
	if err := writeManifest(&data, "log:12", len(items), slices.Values(items)); err != nil {
		t.Fatal(err)
	}
	lines := data.String()
	if !json.Valid([]byte(lines)) {
		t.Errorf("the manifest is not JSON:\n%s", lines)
	}
	if _, err := readManifestFileLines(strings.NewReader(lines), func(manifestFileLine) {}); err != nil {
		t.Errorf("the lines are not read as lines: %v", err)
	}
	for what, text := range map[string]string{
		"lines":               lines,
		"JSON":                strings.ReplaceAll(lines, `,"name"`, `, "name"`),
		"JSON after one line": strings.Replace(lines, `,{"path":"notes/c`, `, {"path":"notes/c`, 1),
		"JSON without breaks": strings.ReplaceAll(lines, "\n", ""),
	} {
		m, err := parseManifest(t, text)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		var got []manifestItem
		for row := range m.fileRows {
			got = append(got, m.itemOfRow(row))
			if at, ok := m.rowAt(m.pathOfRow(row)); !ok || at != row {
				t.Errorf("%s: rowAt(%q) = %d, %v, want %d", what, m.pathOfRow(row), at, ok, row)
			}
			if f, ok := m.findItem(m.nameOfRow(row)); !ok || f != m.itemOfRow(row) {
				t.Errorf("%s: findItem(%q) = %v, %v, want %v", what, m.nameOfRow(row), f, ok, m.itemOfRow(row))
			}
		}
		if m.DumpedStoreName != "log:12" || !slices.Equal(got, items) {
			t.Errorf("%s: the manifest is read as %v of %q, want %v", what, got, m.DumpedStoreName, items)
		}
	}
	if m, err := parseManifest(t, strings.Replace(lines, `"X"`, `"a"`, 1)); err != nil {
		t.Error(err)
	} else if f, ok := m.findItem("a"); !ok || f != (manifestItem{Name: "a"}) {
		t.Errorf("findItem of a name with two items = %v, %v, want the name alone", f, ok)
	}
}
