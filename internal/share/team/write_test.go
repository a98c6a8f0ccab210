// This file tests how team files are created, written and linted.

package team

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
)

func TestInitTwice(t *testing.T) {
	for _, ignored := range []string{"*\n", "*.oxbow\n"} {
		t.Run(strings.TrimSpace(ignored), func(t *testing.T) { checkInitTwice(t, ignored) })
	}
}

// checkInitTwice creates team files twice in a .oxbow directory that has this .gitignore.
func checkInitTwice(t *testing.T, ignored string) {
	dir := t.TempDir()
	runGit(t, dir, "init", "-q")
	put(t, dir, map[string]string{".oxbow/.gitignore": ignored})
	tree, err := FindOrNewTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{3, 0} {
		written, err := tree.Init(t.Context(), "oxbow", false)
		if err != nil || len(written) != want || !tree.HasMergeDriver() {
			t.Errorf("Init() = %v, %v the %d. time, want %d files and a driver", written, err, i+1, want)
		}
	}
	temp := Dir + "/" + nth(1) + ".0123456789abcdef.tmp"
	put(t, dir, map[string]string{temp: "left by a killed writer"})
	runGit(t, dir, "add", "-A")
	if got := runGit(t, dir, "ls-files"); strings.Contains(got, ".tmp") {
		t.Errorf("git tracks %q, want no temporary file", got)
	}
	if got := runGit(t, dir, "ls-files"); !strings.Contains(got, Dir+"/team.yaml") ||
		!strings.Contains(got, Dir+"/.gitattributes") {
		t.Errorf("git tracks %q, want the team files", got)
	}
	if got := runGit(
		t,
		dir,
		"check-attr",
		"merge",
		"text",
		"--",
		inDir(1),
	); !strings.Contains(got, "merge: oxbow-entry") || !strings.Contains(got, "text: unset") {
		t.Errorf("git check-attr = %q", got)
	}
	if got := runGit(t, dir, "config", "merge.oxbow-entry.driver"); strings.TrimSpace(
		got,
	) != GitMergeCommand(
		"oxbow",
	) {
		t.Errorf("the driver is %q", got)
	}
}

func TestWriteRemovesStaleTemps(t *testing.T) {
	_, clone := shared(t, map[string]string{inDir(1): noteFile("a", "one")})
	stale, fresh := inDir(1)+".0123456789abcdef.tmp", inDir(1)+".fedcba9876543210.tmp"
	put(t, clone, map[string]string{stale: "x", fresh: "y"})
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(clone, stale), old, old); err != nil {
		t.Fatal(err)
	}
	s := opened(t, clone)
	_, _, err := s.tree.WriteEntry(
		t.Context(),
		s,
		oxbow.Entry{Name: "b", Content: "two"},
		WriteOptions{Random: bytes.NewReader(make([]byte, 10))},
	)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(clone, stale)); err == nil {
		t.Error("the temporary file of a killed writer is still there")
	}
	if _, err := os.Stat(filepath.Join(clone, fresh)); err != nil {
		t.Errorf("a temporary file that may be in use was removed: %v", err)
	}
}

func TestWriteTwice(t *testing.T) {
	_, clone := shared(t, map[string]string{inDir(1): noteFile("a", "one")})
	s := opened(t, clone)
	o := WriteOptions{Random: bytes.NewReader(make([]byte, 100)), UserEntryHashes: map[string]bool{}}
	for _, c := range []struct {
		name, content string
		changed       bool
	}{{"a", "one", true}, {"a", "two", true}, {"a", "two", false}, {"b", "three", true}, {"b", "three", false}} {
		e := oxbow.Entry{Name: c.name, Content: c.content, Created: time.Unix(1767225600, 0)}
		file, changed, err := s.tree.WriteEntry(t.Context(), s, e, o)
		o.UserEntryHashes[EntryHash(e)] = true
		if err != nil || changed != c.changed || (c.name == "a") != (file == nth(1)) {
			t.Errorf("Write(%+v) = %s, %t, %v", c, file, changed, err)
		}
		if err := s.Store.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := fmt.Sprint(namesOf(t, s)); got != "[a b]" && got != "[b a]" {
		t.Errorf("the entries are %v", got)
	}
	p, err := s.Locate(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	put(t, clone, map[string]string{inDir(1): noteFile("a", "edited meanwhile")})
	if err := s.tree.RemoveEntry(t.Context(), s, p); !errors.Is(err, oxbow.ErrConflict) {
		t.Errorf("Remove() of a file that was edited = %v, want %v", err, oxbow.ErrConflict)
	}
	if err := s.Store.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	p, err = s.Locate(t.Context(), "a")
	if err != nil || s.tree.RemoveEntry(t.Context(), s, p) != nil {
		t.Errorf("Remove() failed: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(clone, inDir(1))); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
}

// TestWriteKeepsEdits edits a committed file in various ways, and checks that no edit is lost.
func TestWriteKeepsEdits(t *testing.T) {
	committed := noteFile("a", "one")
	wrote := oxbow.Entry{Name: "a", Content: "written by share"}
	for what, c := range map[string]struct {
		text string
		lost bool
	}{
		"as it was committed":     {committed, false},
		"with CRLF":               {strings.ReplaceAll(committed, "\n", "\r\n"), false},
		"as share wrote it":       {FormatEntry(wrote), false},
		"as earlier versions did": {mdtree.FormatEntry(wrote), false},
		"another content":         {noteFile("a", "a person wrote this"), true},
		"share's, and more text":  {FormatEntry(wrote) + "\nA PERSON WROTE THIS\n", true},
	} {
		_, clone := shared(t, map[string]string{inDir(1): committed})
		put(t, clone, map[string]string{inDir(1): c.text})
		s := opened(t, clone)
		o := WriteOptions{
			Random:          bytes.NewReader(make([]byte, 10)),
			UserEntryHashes: map[string]bool{EntryHash(wrote): true},
		}
		_, changed, err := s.tree.WriteEntry(t.Context(), s, oxbow.Entry{Name: "a", Content: "from the home"}, o)
		now, rerr := os.ReadFile(filepath.Join(clone, inDir(1)))
		var edited *UncommittedEditError
		if rerr != nil || changed == c.lost || errors.As(err, &edited) != c.lost || (string(now) == c.text) != c.lost {
			t.Errorf("%s: Write() = %t, %v; the file is %q", what, changed, err, now)
		}
	}
}

// TestRemoveRefuses tests that RemoveEntry returns ErrNotFound for a file that is not the file of an entry, and does
// not remove the file. It must remove the file of an entry without a date.
func TestRemoveRefuses(t *testing.T) {
	_, clone := shared(t, map[string]string{inDir(1): "---\nname: a\n---\n\none\n", Dir + "/README.md": "read me\n",
		inDir(2): "no front matter\n"})
	s := opened(t, clone)
	for _, file := range []string{"README.md", nth(2), nth(3), "../../README.md"} {
		err := s.tree.RemoveEntry(t.Context(), s, mdtree.FileItem{Path: file})
		if !errors.Is(err, oxbow.ErrNotFound) || !strings.Contains(fmt.Sprint(err), "is not the file of an entry") {
			t.Errorf("Remove() of %s = %v, want an error that says it has no entry", file, err)
		}
	}
	for _, file := range []string{inDir(1), inDir(2), Dir + "/README.md"} {
		if _, err := os.Lstat(filepath.Join(clone, filepath.FromSlash(file))); err != nil {
			t.Errorf("%s was removed: %v", file, err)
		}
	}
	p, err := s.Locate(t.Context(), "a")
	if err == nil {
		err = s.tree.RemoveEntry(t.Context(), s, p)
	}
	if _, serr := os.Lstat(filepath.Join(clone, filepath.FromSlash(inDir(1)))); err != nil || !os.IsNotExist(serr) {
		t.Errorf("Remove() of an entry without a date = %v; the file: %v", err, serr)
	}
}

// TestWriteSeesOtherWriters writes an entry with the same name through two stores that were opened before. The second
// store must change the file that the first store created, and must not create another file.
func TestWriteSeesOtherWriters(t *testing.T) {
	_, clone := shared(t, map[string]string{inDir(1): noteFile("a", "one")})
	first, second := opened(t, clone), opened(t, clone)
	e := oxbow.Entry{Name: "b", Content: "two"}
	o := WriteOptions{Random: bytes.NewReader(make([]byte, 20)), UserEntryHashes: map[string]bool{EntryHash(e): true}}
	file, _, err := first.tree.WriteEntry(t.Context(), first, e, o)
	if err != nil {
		t.Fatal(err)
	}
	e.Content = "three"
	again, changed, err := second.tree.WriteEntry(t.Context(), second, e, o)
	if err != nil || again != file || !changed {
		t.Errorf("Write() = %s, %t, %v, want %s again", again, changed, err, file)
	}
	if names, err := filepath.Glob(filepath.Join(clone, filepath.FromSlash(Dir), "*")); err != nil || len(names) != 2 {
		t.Errorf("the directory has %v, %v, want two entries", names, err)
	}
}

func TestCheckRefuses(t *testing.T) {
	labels := []oxbow.Label{{Key: "tag", Value: "x"}}
	for _, c := range []struct {
		e    oxbow.Entry
		want string
	}{
		{oxbow.Entry{Name: "a", Content: strings.Repeat("é", maxContentBytes/2)}, ""},
		{
			oxbow.Entry{
				Name:    "a",
				Content: "</div>\n<<<<<<< x\n\r\n\r\n",
				Labels:  labels,
				Aliases: []string{"<c>&amp;"},
			},
			"",
		},
		{oxbow.Entry{Name: " a"}, "white space"},
		{oxbow.Entry{Name: "a", Content: strings.Repeat("x", maxContentBytes+1)},
			"the most that a team file has is 16384"},
		{oxbow.Entry{Name: "a", Content: "<<<<<<< x\n=======\n>>>>>>> y\n"}, "indent them"},
		{oxbow.Entry{Content: "x"}, "does not say the entry's name"},
		{oxbow.Entry{Name: "a", Kind: oxbow.Handoff}, "team files are notes"},
		{oxbow.Entry{Name: "a", Content: "\xff"}, "UTF-8"},
	} {
		err := Check(c.e)
		if (c.want == "" && err != nil) || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("Check(%.80v) = %v, want %q", c.e, err, c.want)
		}
	}
}

func TestLint(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{
		nth(1): noteFile("a", "fine"), "team.yaml": "version: 1\n", "README.md": "", ".gitattributes": gitAttributes,
		"notes.txt": "x",
		nth(2):      noteFile("a", "again"), strings.ToLower(nth(3)): noteFile("c", "lower"), nth(4): "no block\n",
		nth(5): noteFile("d", "<<<<<<< ours\nx\n=======\ny\n>>>>>>> theirs"), nth(6): "\xff\xfe",
		nth(7): strings.Repeat("x", maxFileBytes+1),
		nth(8): FormatEntry(oxbow.Entry{Name: "e", Labels: []oxbow.Label{{Key: "conflict", Value: "content"}}}),
		nth(9): strings.ReplaceAll(noteFile("crlf", "one\ntwo"), "\n", "\r\n"), nth(10) + ".tmp": "",
	})
	if err := os.Symlink(nth(1), filepath.Join(dir, nth(11))); err != nil {
		t.Log(err)
	}
	files, wrong, err := LintFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range wrong {
		got[f.File] += f.Problem
	}
	for file, want := range map[string]string{
		nth(2): `says "a", which ` + nth(1) +
			" says too", strings.ToLower(nth(3)): "does not end in a ULID", nth(4): "does not say the entry's name",
		nth(5): "conflict markers", nth(6): "not UTF-8", nth(7): "cannot be read",
		nth(8): "two versions of its content", nth(11): "not a regular file",
	} {
		if !strings.Contains(got[file], want) {
			t.Errorf("Lint() says of %s %q, want %q", file, got[file], want)
		}
		delete(got, file)
	}
	if len(got) > 0 || len(files) != 4 {
		t.Errorf("Lint() also found %v; it read %d files, want 4", got, len(files))
	}
	put(t, dir, map[string]string{"team.yaml": "rules: x\n"})
	if _, wrong, _ := LintFiles(dir); !strings.Contains(fmt.Sprint(wrong), `unknown key "rules"`) {
		t.Errorf("Lint() = %v, want the unknown key", wrong)
	}
}
