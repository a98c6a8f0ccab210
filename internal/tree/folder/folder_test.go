// This file tests which changed files a comparison of a folder reports, and which files it deliberately does not
// report.

package folder

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/sysinfo"
	"github.com/oxbow-memory/oxbow/test/testenv"
	"github.com/oxbow-memory/oxbow/vfs"
)

// later returns a time one hour from now. At this time, the files of the test are old enough that the store can trust
// their modification times.
func later() time.Time { return time.Now().Add(time.Hour) }

// tree is a folder of notes in the temporary directory dir. The state of the last comparison of the folder is stored in
// the temporary directory home.
type tree struct {
	t         *testing.T
	dir, home string
}

func newTree(t *testing.T, files ...string) *tree {
	tr := &tree{t, t.TempDir(), t.TempDir()}
	for _, f := range files {
		tr.write(f, "text of "+f)
	}
	return tr
}

func (tr *tree) write(file, content string) {
	tr.t.Helper()
	path := filepath.Join(tr.dir, filepath.FromSlash(file))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		tr.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		tr.t.Fatal(err)
	}
}

func (tr *tree) rename(old, name string) {
	tr.t.Helper()
	if err := os.Rename(filepath.Join(tr.dir, old), filepath.Join(tr.dir, name)); err != nil {
		tr.t.Fatal(err)
	}
}

func (tr *tree) remove(names ...string) {
	tr.t.Helper()
	for _, name := range names {
		if err := os.RemoveAll(filepath.Join(tr.dir, name)); err != nil {
			tr.t.Fatal(err)
		}
	}
}

// compare compares the folder with its saved state, and saves the new state.
func (tr *tree) compare(prune bool) *FolderComparison {
	tr.t.Helper()
	st, err := LoadState(tr.home, "f")
	if err != nil {
		tr.t.Fatal(err)
	}
	fsys, err := vfs.Dir(tr.dir)
	if err != nil {
		tr.t.Fatal(err)
	}
	defer fsys.Close()
	c, err := Compare(fsys, st, Options{Now: later(), PruneMissingFiles: prune})
	if err != nil {
		tr.t.Fatal(err)
	}
	if err := c.SaveState(tr.home, "f"); err != nil {
		tr.t.Fatal(err)
	}
	return c
}

func TestCompare(t *testing.T) {
	few := []string{"a.md", "b.md", "sub/c.md", "sub/deep/d.markdown"}
	many := slices.Clone(few)
	for i := range 30 {
		many = append(many, fmt.Sprintf("many/%02d.md", i))
	}
	for _, tt := range []struct {
		name     string
		files    []string
		change   func(*tree)
		prune    bool
		changed  []string
		moved    map[string]string
		gone     []string
		withheld int
	}{
		{name: "nothing", files: few, change: func(*tree) {}},
		{name: "an edit and a new note", files: few, change: func(tr *tree) {
			tr.write("a.md", "other text")
			tr.write("new.md", "new text")
			tr.write("picture.png", "no note")
			tr.write(".obsidian/app.md", "hidden")
		}, changed: []string{"a.md", "new.md"}},
		{name: "only the time", files: few, change: func(tr *tree) {
			if err := os.Chtimes(filepath.Join(tr.dir, "a.md"), later(), later()); err != nil {
				tr.t.Fatal(err)
			}
		}},
		{name: "a rename", files: few, change: func(tr *tree) { tr.rename("a.md", "sub/z.md") },
			changed: []string{"sub/z.md"}, moved: map[string]string{"a.md": "sub/z.md"}},
		{name: "a renamed directory", files: few, change: func(tr *tree) { tr.rename("sub", "dir") },
			changed: []string{"dir/c.md", "dir/deep/d.markdown"},
			moved:   map[string]string{"sub/c.md": "dir/c.md", "sub/deep/d.markdown": "dir/deep/d.markdown"}},
		{name: "a copy whose original was deleted", files: few, change: func(tr *tree) {
			tr.write("copy.md", "text of a.md")
			tr.remove("a.md")
		}, changed: []string{"copy.md"}, moved: map[string]string{"a.md": "copy.md"}},
		{name: "deleted notes", files: few, change: func(tr *tree) { tr.remove("a.md", "sub") },
			gone: []string{"a.md", "sub/c.md", "sub/deep/d.markdown"}},
		{name: "the only note of a directory that stays", files: few,
			change: func(tr *tree) { tr.remove("sub/deep/d.markdown") }, gone: []string{"sub/deep/d.markdown"}},
		{name: "an empty folder", files: few, change: func(tr *tree) { tr.remove("a.md", "b.md", "sub") }, withheld: 4},
		{name: "an empty folder, on purpose", files: few, change: func(tr *tree) { tr.remove("a.md", "b.md", "sub") },
			prune: true, gone: few},
		{name: "most notes", files: many, change: func(tr *tree) { tr.remove("many") }, withheld: 30},
		{name: "many notes of more", files: append(slices.Clone(many), numbered("more", 40)...),
			change: func(tr *tree) { tr.remove("many") }, gone: many[4:]},
		{name: "an empty directory, as of a disk that is not mounted",
			files: append(slices.Clone(many), numbered("more", 40)...), change: func(tr *tree) {
				tr.remove("many", "a.md")
				if err := os.Mkdir(filepath.Join(tr.dir, "many"), 0o700); err != nil {
					tr.t.Fatal(err)
				}
			}, gone: []string{"a.md"}, withheld: 30},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tr := newTree(t, tt.files...)
			if c := tr.compare(false); len(c.ChangedFiles) != len(tt.files) || len(c.DeletedFiles) > 0 {
				t.Fatalf(
					"at first: %d changed, %v gone; want %d and none",
					len(c.ChangedFiles),
					c.DeletedFiles,
					len(tt.files),
				)
			}
			tt.change(tr)
			c := tr.compare(tt.prune)
			if !slices.Equal(c.ChangedFiles, tt.changed) && len(c.ChangedFiles)+len(tt.changed) > 0 {
				// The name of a renamed file is new, so ChangedFiles contains the file too.
				t.Errorf("changed are %v, want %v", c.ChangedFiles, tt.changed)
			}
			if len(c.RenamedFiles)+len(tt.moved) > 0 && !reflect.DeepEqual(c.RenamedFiles, tt.moved) {
				t.Errorf("moved are %v, want %v", c.RenamedFiles, tt.moved)
			}
			if !slices.Equal(c.DeletedFiles, tt.gone) && len(c.DeletedFiles)+len(tt.gone) > 0 {
				t.Errorf("gone are %v, want %v", c.DeletedFiles, tt.gone)
			}
			if len(c.UnconfirmedDeletions) != tt.withheld || (c.UnconfirmedReason != "") != (tt.withheld > 0) {
				t.Errorf("%d withheld (%s), want %d", len(c.UnconfirmedDeletions), c.UnconfirmedReason, tt.withheld)
			}
			again := tr.compare(false)
			if !again.IsEmpty() || len(again.UnconfirmedDeletions) != tt.withheld {
				t.Errorf(
					"again: %v, %v, %v, %d withheld; want nothing new",
					again.ChangedFiles,
					again.RenamedFiles,
					again.DeletedFiles,
					len(again.UnconfirmedDeletions),
				)
			}
		})
	}
}

func numbered(dir string, n int) (files []string) {
	for i := range n {
		files = append(files, fmt.Sprintf("%s/%02d.md", dir, i))
	}
	return files
}

// TestProblems tests that a note that cannot be read is reported, and that the comparison does not treat it as changed
// or deleted.
func TestProblems(t *testing.T) {
	tr := newTree(t, "a.md", "b.md")
	tr.compare(false)
	tr.remove("b.md")
	if err := os.Symlink(filepath.Join(tr.dir, "a.md"), filepath.Join(tr.dir, "link.md")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	tr.write("b.md", strings.Repeat("x", maxNoteBytes+1))
	c := tr.compare(false)
	want := []string{"b.md: has more than the 16 MiB of a Markdown file that are read; cut it",
		"link.md: is a symbolic link, which is not followed"}
	if !slices.Equal(c.NewProblems, want) || !c.IsEmpty() {
		t.Errorf(
			"problems are %q, and changes %v, %v; want %q and none",
			c.NewProblems,
			c.ChangedFiles,
			c.DeletedFiles,
			want,
		)
	}
	if c := tr.compare(false); len(c.NewProblems) > 0 || len(c.State.Problems()) != 2 {
		t.Errorf("again: new problems %q, all %q; want the same two and none new", c.NewProblems, c.State.Problems())
	}
	tr.remove("link.md")
	tr.write("b.md", "short again")
	if c := tr.compare(false); !slices.Equal(c.ChangedFiles, []string{"b.md"}) || len(c.State.Problems()) > 0 {
		t.Errorf("after the repair: %v changed, problems %q; want b.md and none", c.ChangedFiles, c.State.Problems())
	}
}

// TestDamagedState tests that if the state cannot be used, all notes are read again and no note counts as deleted.
func TestDamagedState(t *testing.T) {
	tr := newTree(t, "a.md", "b.md")
	tr.compare(false)
	path := filepath.Join(tr.home, stateFilePrefix+"f")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tr.remove("b.md")
	for i := 0; i < len(good); i += 7 {
		bad := slices.Clone(good)
		bad[i] ^= 1
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if c := tr.compare(false); len(c.DeletedFiles) > 0 || !slices.Equal(c.ChangedFiles, []string{"a.md"}) {
			t.Fatalf("byte %d flipped: %v gone, %v changed; want none and a.md", i, c.DeletedFiles, c.ChangedFiles)
		}
	}
}

// TestEditWithTheOldTime tests that an edit is found even if the size, the inode and the modification time of the file
// are unchanged. The command rsync -t --inplace makes such edits between two devices.
func TestEditWithTheOldTime(t *testing.T) {
	tr := newTree(t, "a.md", "b.md")
	path := filepath.Join(tr.dir, "a.md")
	setTime := func() {
		t.Helper()
		old := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	setTime()
	tr.compare(false)
	before := statFile(t, path)
	tr.write("a.md", "TEXT of a.md")
	setTime()
	after := statFile(t, path)
	if !after.ModTime().Equal(before.ModTime()) || after.Size() != before.Size() || !os.SameFile(before, after) {
		t.Fatal("the edit shows in the size, the time or the inode, so the test proves nothing")
	}
	if sysinfo.LastChangeTime(after).Equal(sysinfo.LastChangeTime(before)) {
		t.Skip("this file system has no change times, or they are too coarse")
	}
	if c := tr.compare(false); !slices.Equal(c.ChangedFiles, []string{"a.md"}) {
		t.Errorf("changed are %v, want a.md", c.ChangedFiles)
	}
	if c := tr.compare(false); !c.IsEmpty() {
		t.Errorf("again: %v changed, want none", c.ChangedFiles)
	}
}

func statFile(t *testing.T, path string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// TestStateOfVersion1 tests that a state of version 1, which contains no change times, can be read. The files in this
// state are read again, and a file that is missing since then counts as deleted.
func TestStateOfVersion1(t *testing.T) {
	tr := newTree(t, "a.md", "b.md")
	c := tr.compare(false)
	c.State.Position = "\x01\x02"
	lines := "at 0102\n"
	for _, name := range c.FileNames() {
		st := c.State.files[name]
		lines += fmt.Sprintf("f %d %d %d %s 0 %q\n", st.size, st.modTimeNanos, st.inode, st.contentDigest, name)
	}
	old := stateHeaderV1 + stateChecksum([]byte(lines)) + "\n" + lines
	if err := os.WriteFile(filepath.Join(tr.home, stateFilePrefix+"f"), []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	tr.write("a.md", "other text")
	tr.remove("b.md")
	c = tr.compare(false)
	if !slices.Equal(c.ChangedFiles, []string{"a.md"}) || !slices.Equal(c.DeletedFiles, []string{"b.md"}) ||
		c.State.Position != "\x01\x02" {
		t.Errorf(
			"changed are %v, gone are %v, at %x; want a.md, b.md and the old position",
			c.ChangedFiles,
			c.DeletedFiles,
			string(c.State.Position),
		)
	}
}

func TestList(t *testing.T) {
	home := t.TempDir()
	all := []Folder{
		{Name: "vault", Path: filepath.Join(home, "x"), WritesFiles: true, AddedTime: time.Unix(1, 0).UTC()},
	}
	if HasFolders(home) {
		t.Error("an empty home has a list of folders")
	}
	if err := SaveFolders(home, all); err != nil {
		t.Fatal(err)
	}
	if got, err := ListFolders(home); err != nil || !reflect.DeepEqual(got, all) {
		t.Errorf("List() = %v, %v; want %v", got, err, all)
	}
	if got := ChooseName(all, "/a b/vault"); got != "vault-2" {
		t.Errorf("FreeName() = %q, want vault-2", got)
	}
	for _, bad := range []string{`{"version":9}`, `{"version":1,"folders":[{"name":"../x","path":"/y"}]}`,
		`{"version":1,"folders":[{"name":"x","path":"y"}]}`, `{`} {
		if err := os.WriteFile(filepath.Join(home, listFileName), []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := ListFolders(home); err == nil {
			t.Errorf("List() of %s = %v, want an error", bad, got)
		}
	}
	if err := SaveFolders(home, nil); err != nil || HasFolders(home) {
		t.Errorf("after saving no folders: %v, registered %v", err, HasFolders(home))
	}
}

func FuzzParseState(f *testing.F) {
	f.Add("at 00\nn \"a note\"\nf 1 2 2 3 abc 0 \"a.md\"\np \"b.md\"\t\"is a link\"\n")
	f.Fuzz(func(t *testing.T, lines string) {
		s, err := parseState([]byte(stateHeader + stateChecksum([]byte(lines)) + "\n" + lines))
		if err != nil {
			return
		}
		home := t.TempDir()
		if err := s.save(home, "f"); err != nil {
			t.Fatal(err)
		}
		again, err := LoadState(home, "f")
		if err != nil || !reflect.DeepEqual(s.files, again.files) ||
			!reflect.DeepEqual(s.problemByFile, again.problemByFile) ||
			!slices.Equal(s.notes, again.notes) {
			t.Errorf("%q: saved and loaded, %v and %v, %v", lines, s, again, err)
		}
	})
}

// TestUnchangedIsCheap tests that the comparison of an unchanged folder reads no file.
func TestUnchangedIsCheap(t *testing.T) {
	tr := newTree(t, numbered("d", 20)...)
	tr.compare(false)
	st, err := LoadState(tr.home, "f")
	if err != nil {
		t.Fatal(err)
	}
	fsys, err := vfs.Dir(tr.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	c, err := Compare(listOnly{fsys}, st, Options{Now: later()})
	if err != nil || !c.IsEmpty() || len(c.State.Problems()) > 0 {
		t.Errorf("Compare() = %v, %v, with problems %q; want nothing", c, err, c.State.Problems())
	}
}

// listOnly is a file system whose files cannot be opened.
type listOnly struct{ vfs.FS }

func (listOnly) OpenFile(string, int, os.FileMode) (vfs.File, error) { return nil, os.ErrPermission }

func BenchmarkUnchanged(b *testing.B) {
	tr := &tree{dir: b.TempDir(), home: b.TempDir()}
	for i := range testenv.RepeatCount(500, 5000) {
		dir := filepath.Join(tr.dir, fmt.Sprint(i%50))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.md", i)), []byte("text"), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	once := func() *FolderComparison {
		st, err := LoadState(tr.home, "f")
		if err != nil {
			b.Fatal(err)
		}
		fsys, err := vfs.Dir(tr.dir)
		if err != nil {
			b.Fatal(err)
		}
		defer fsys.Close()
		c, err := Compare(fsys, st, Options{Now: later()})
		if err == nil {
			err = c.SaveState(tr.home, "f")
		}
		if err != nil {
			b.Fatal(err)
		}
		return c
	}
	once()
	for b.Loop() {
		if c := once(); !c.IsEmpty() {
			b.Fatal("the folder has changed")
		}
	}
}
