// This file tests edits that people make to the files while programs use them.

package mdtree

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// person edits the files of a tree like a user with an editor.
type person struct {
	t    *testing.T
	path string
}

func (p person) write(name, text string) {
	p.t.Helper()
	full := filepath.Join(p.path, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p person) read(name string) string {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join(p.path, filepath.FromSlash(name)))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(data)
}

func (p person) remove(name string) {
	p.t.Helper()
	if err := os.Remove(filepath.Join(p.path, filepath.FromSlash(name))); err != nil {
		p.t.Fatal(err)
	}
}

// files returns the files of a directory that are not hidden.
func (p person) files(dir string) []string {
	p.t.Helper()
	items, err := os.ReadDir(filepath.Join(p.path, dir))
	if err != nil {
		p.t.Fatal(err)
	}
	var names []string
	for _, it := range items {
		if it.Name()[0] != '.' {
			names = append(names, it.Name())
		}
	}
	return names
}

func entryContent(t *testing.T, s *Store, name string) string {
	t.Helper()
	e, err := s.Get(t.Context(), name)
	if errors.Is(err, oxbow.ErrNotFound) {
		return "(not there)"
	}
	if err != nil {
		t.Fatalf("Get(%q) = %v", name, err)
	}
	return e.Content
}

// warnings collects the warnings of a store.
type warnings struct{ all []string }

func (w *warnings) warn(m string) { w.all = append(w.all, m) }

func (w *warnings) take() string {
	s := strings.Join(w.all, "\n")
	w.all = nil
	return s
}

// TestEditsShow checks that edits become visible. It uses few files, which are checked individually, and many files,
// which are watched if the system supports it.
func TestEditsShow(t *testing.T) {
	for _, files := range []int{0, 200} {
		t.Run(fmt.Sprint(files, " other files"), func(t *testing.T) {
			fsys, path := tempTree(t)
			p := person{t, path}
			for i := range files {
				p.write(fmt.Sprintf("cards/other-%03d.md", i), fmt.Sprintf("name: other %d\n\nnothing\n", i))
			}
			s := openOn(t, fsys, Options{})
			var deltas []oxbow.Delta
			s.Watch(func(e oxbow.Event) {
				if e.Reset {
					t.Error("the watcher got a reset")
				}
				deltas = append(deltas, e.Changes...)
			})
			expect := func(step, name, want string, changed int) {
				t.Helper()
				deltas = nil
				if got := entryContent(t, s, name); got != want {
					t.Errorf("%s: %q says %q, want %q", step, name, got, want)
				}
				if len(deltas) != changed {
					t.Errorf("%s: the watcher got %d changes, want %d", step, len(deltas), changed)
				}
			}
			expect("nothing yet", "a", "(not there)", 0)
			p.write("cards/a.md", "name: a\n\none\n")
			expect("a new file", "a", "one", 1)
			p.write("cards/a.md", "name: a\n\ntwo\n")
			expect("of the same length, at once", "a", "two", 1)
			when := time.Now().Add(-time.Hour)
			if err := os.Chtimes(filepath.Join(path, "cards/a.md"), when, when); err != nil {
				t.Fatal(err)
			}
			expect("another time", "a", "two", 1)
			p.write("cards/b.md", "name: a\n\nby rename\n")
			if err := os.Rename(filepath.Join(path, "cards/b.md"), filepath.Join(path, "cards/a.md")); err != nil {
				t.Fatal(err)
			}
			expect("replaced", "a", "by rename", 1)
			p.write("days/x.md", "## j1\nfirst\n## j2\nsecond\n")
			expect("two in a file", "j2", "second", 2)
			p.write("days/x.md", "## j1\nfirst\n## j2\nSecond\n")
			expect("one of two in a file", "j2", "Second", 2) // the time of the file is the time of both entries
			p.write("cards/.hidden.md", "name: h\n\nh\n")
			p.write("cards/a.txt", "name: t\n\nt\n")
			p.write("cards/a.md.0123456789abcdef.tmp", "name: t\n\nt\n")
			p.write("cards/a.conflict-2.md", "name: t\n\nt\n")
			expect("files that are none of the layout's", "t", "(not there)", 0)
			p.remove("cards/a.md")
			expect("a removal", "a", "(not there)", 1)
			if err := os.Rename(filepath.Join(path, "cards"), filepath.Join(path, "old")); err != nil {
				t.Fatal(err)
			}
			p.write("cards/z.md", "name: z\n\nanother directory\n")
			expect("the directory was replaced", "z", "another directory", 1+files)
			p.write("cards/z.md", "name: z\n\nand edited\n")
			expect("edited in the new one", "z", "and edited", 1)
		})
	}
}

func TestDamageIsHeld(t *testing.T) {
	fsys, path := tempTree(t)
	p := person{t, path}
	var w warnings
	p.write("cards/a.md", "name: a\n\ngood\n")
	p.write("cards/bad.md", "no empty line")
	s := openOn(t, fsys, Options{Warn: w.warn})
	if got := w.take(); !strings.Contains(got, "cards/bad.md") || !strings.Contains(got, "no entry is taken from it") {
		t.Errorf("at open, warned %q", got)
	}
	for _, tt := range []struct{ name, text, why string }{
		{"empty", "", "is empty"},
		{"not UTF-8", "name: a\n\n\xff\xfe\n", "not UTF-8"},
		{"zeros", "name: a\n\n\x00\x00\n", "NUL"},
		{"only a mark of order", "\ufeff", "is empty"},
		{"not understood", "name a", "cannot be understood: there is no empty line"},
	} {
		p.write("cards/a.md", tt.text)
		if got := entryContent(t, s, "a"); got != "good" {
			t.Errorf("%s: the entry says %q", tt.name, got)
		}
		if got := w.take(); !strings.Contains(got, "cards/a.md") || !strings.Contains(got, tt.why) ||
			!strings.Contains(got, "held") {
			t.Errorf("%s: warned %q, want %q", tt.name, got, tt.why)
		}
		entryContent(t, s, "a")
		if got := w.take(); got != "" {
			t.Errorf("%s: warned a second time: %q", tt.name, got)
		}
		rep, err := s.Check(t.Context())
		if err != nil || len(rep.Problems) != 2 || !strings.Contains(rep.Problems[0].What, tt.why) {
			t.Errorf("%s: Check() = %+v, %v", tt.name, rep.Problems, err)
		}
	}
	p.write("cards/a.md", "name: a\n\nmended\n")
	if got := entryContent(t, s, "a"); got != "mended" {
		t.Errorf("mended: the entry says %q", got)
	}

	// Writing an entry replaces its damaged file, and keeps the damaged text as a copy.
	p.write("cards/a.md", "broken by hand")
	mustApply(t, s, oxbow.Update{Name: "a", Content: "written"})
	if got := p.read("cards/a.md"); !strings.HasSuffix(got, "\n\nwritten\n") {
		t.Errorf("the file is %q", got)
	}
	if got := p.read("cards/a.conflict-1.md"); got != "broken by hand" {
		t.Errorf("kept beside: %q", got)
	}
	// No copy is made of an empty file.
	p.write("cards/a.md", "")
	mustApply(t, s, oxbow.Update{Name: "a", Content: "again"})
	if got := p.files("cards"); !slices.Equal(got, []string{"a.conflict-1.md", "a.md", "bad.md"}) {
		t.Errorf("files %q", got)
	}
	p.remove("cards/a.md")
	if got := entryContent(t, s, "a"); got != "(not there)" {
		t.Errorf("a file that was removed still says %q", got)
	}
}

func TestUnreadableIsHeld(t *testing.T) {
	m := vfs.NewMem()
	fsys := &hookFS{FS: m}
	s := openOn(t, fsys, Options{})
	mustApply(t, s, oxbow.Add{Name: "a", Content: "good"})
	fsys.open = func(name string) error {
		if strings.HasPrefix(name, "cards/") {
			return &os.PathError{Op: "open", Path: name, Err: os.ErrPermission}
		}
		return nil
	}
	if got := entryContent(t, s, "a"); got != "good" {
		t.Errorf("the entry says %q", got)
	}
	if err := s.Apply(t.Context(), oxbow.Update{Name: "a", Content: "over"}); !errors.Is(err, os.ErrPermission) {
		t.Errorf("Apply() over a file that cannot be read = %v", err)
	}
	fsys.open = nil
	if got := entryContent(t, s, "a"); got != "good" {
		t.Errorf("readable again, the entry says %q", got)
	}
}

// hookFS calls functions of a test before operations on files.
type hookFS struct {
	vfs.FS
	open   func(name string) error
	rename func(from, to string)
}

func (h *hookFS) OpenFile(name string, flag int, perm os.FileMode) (vfs.File, error) {
	if h.open != nil {
		if err := h.open(name); err != nil {
			return nil, err
		}
	}
	return h.FS.OpenFile(name, flag, perm)
}

func (h *hookFS) Rename(from, to string) error {
	if h.rename != nil {
		h.rename(from, to)
	}
	return h.FS.Rename(from, to)
}

// TestMerge edits a file after a caller has read an entry, and before the caller writes it.
func TestMerge(t *testing.T) {
	const base = "name: a\nkind: note\nmood: calm\n\none\ntwo\nthree\n"
	for _, tt := range []struct {
		name, edited string
		op           oxbow.Op
		want, beside string
	}{
		{"nobody else", base, oxbow.Update{Name: "a", Content: "ONE\ntwo\nthree"},
			"name: a\nkind: note\nmood: calm\n\nONE\ntwo\nthree\n", ""},
		{"other lines", "name: a\nkind: note\nmood: calm\n\none\ntwo\nTHREE\n",
			oxbow.Update{Name: "a", Content: "ONE\ntwo\nthree"},
			"name: a\nkind: note\nmood: calm\n\nONE\ntwo\nTHREE\n", ""},
		{"beside the entry", "name: a\nkind: note\nmood: glad\n\none\ntwo\nthree\n",
			oxbow.Update{Name: "a", Content: "ONE\ntwo\nthree"},
			"name: a\nkind: note\nmood: glad\n\nONE\ntwo\nthree\n", ""},
		{"the same lines", "name: a\nkind: note\nmood: calm\n\nUno\ntwo\nthree\n",
			oxbow.Update{Name: "a", Content: "ONE\ntwo\nthree"},
			"name: a\nkind: note\nmood: calm\n\nONE\ntwo\nthree\n",
			"name: a\nkind: note\nmood: calm\n\nUno\ntwo\nthree\n"},
		{"labels of theirs", "name: a\nkind: note\nmood: calm\nlabel: tag:x\n\none\ntwo\nthree\n",
			oxbow.Update{Name: "a", Content: "ONE\ntwo\nthree"},
			"name: a\nkind: note\nmood: calm\nlabel: tag:x\n\nONE\ntwo\nthree\n", ""},
		{"labels of both", "name: a\nkind: note\nmood: calm\nlabel: tag:x\n\none\ntwo\nthree\n",
			oxbow.Update{Name: "a", Content: "one\ntwo\nthree", Labels: []oxbow.Label{{Key: "tag", Value: "y"}}},
			"name: a\nkind: note\nmood: calm\nlabel: tag:x\nlabel: tag:y\n\none\ntwo\nthree\n", ""},
		{"removed by us", "name: a\nkind: note\nmood: calm\n\none\ntwo\nTHREE\n", oxbow.Remove{Name: "a"},
			"", "name: a\nkind: note\nmood: calm\n\none\ntwo\nTHREE\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys, path := tempTree(t)
			p := person{t, path}
			p.write("cards/a.md", base)
			var w warnings
			s := openOn(t, fsys, Options{Warn: w.warn})
			p.write("cards/a.md", tt.edited)
			mustApply(t, s, tt.op)
			files := p.files("cards")
			got, beside := "", ""
			if slices.Contains(files, "a.md") {
				got = stripCreated(p.read("cards/a.md"))
			}
			if slices.Contains(files, "a.conflict-1.md") {
				beside = p.read("cards/a.conflict-1.md")
			}
			if got != tt.want || beside != tt.beside {
				t.Errorf("the file is %q, want %q; beside %q, want %q", got, tt.want, beside, tt.beside)
			}
			if warned := w.take(); (warned != "") != (tt.beside != "") {
				t.Errorf("warned %q", warned)
			}
		})
	}
	// A caller that requires a version gets a conflict instead of a merge.
	fsys, path := tempTree(t)
	p := person{t, path}
	p.write("cards/a.md", base)
	s := openOn(t, fsys, Options{})
	e, err := s.Get(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	p.write("cards/a.md", strings.Replace(base, "three", "THREE", 1))
	if err := s.Apply(
		t.Context(),
		oxbow.Update{Name: "a", Content: "x", If: e.Version},
	); !errors.Is(err, oxbow.ErrConflict) {
		t.Errorf("Apply() for a version that is gone = %v", err)
	}
	if err := s.Apply(t.Context(), oxbow.Add{Name: "a", Content: "x"}); !errors.Is(err, oxbow.ErrExists) {
		t.Errorf("Apply() of a name in use = %v", err)
	}
}

// stripCreated removes the line with the date, which the layout of the tests adds when it writes a file again.
func stripCreated(text string) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		if !strings.HasPrefix(l, "created: ") {
			b.WriteString(l)
		}
	}
	return b.String()
}

// TestEditWhileWriting lets a person save a file just before the store renames its new file. The person's text must
// not be lost.
func TestEditWhileWriting(t *testing.T) {
	for _, several := range []bool{false, true} {
		m := vfs.NewMem()
		fsys := &hookFS{FS: m}
		s := openOn(t, fsys, Options{})
		mustApply(
			t,
			s,
			oxbow.Add{Name: "a", Content: "one\ntwo\nthree", Created: noon},
			oxbow.Add{Name: "b", Content: "b", Created: noon},
		)
		ops := []oxbow.Op{oxbow.Update{Name: "a", Content: "ONE\ntwo\nthree"}}
		if several {
			ops = append(ops, oxbow.Update{Name: "b", Content: "B"})
		}
		before, err := vfs.ReadFile(m, cardPath("a"), -1)
		if err != nil {
			t.Fatal(err)
		}
		theirs := strings.Replace(string(before), "three", "THREE", 1)
		edits := 0
		fsys.open = func(name string) error {
			// The person saves when the store writes the new text.
			if edits == 0 && (strings.HasSuffix(name, ".tmp") || strings.HasPrefix(name, storeStageDir)) {
				edits++
				return vfs.WriteFile(m, cardPath("a"), []byte(theirs), 0o644)
			}
			return nil
		}
		mustApply(t, s, ops...)
		if got, want := entryContent(t, s, "a"), "ONE\ntwo\nTHREE"; got != want || edits != 1 {
			t.Errorf("several %v: the entry says %q, want %q; %d edits", several, got, want, edits)
		}
		if several {
			// The person saves again after the change was committed. This text becomes a conflict copy.
			theirs = strings.Replace(theirs, "two", "deux", 1)
			fsys.rename = func(from, _ string) {
				if strings.HasSuffix(from, "commit.tmp") {
					if err := vfs.WriteFile(m, cardPath("a"), []byte(theirs), 0o644); err != nil {
						t.Error(err)
					}
				}
			}
			mustApply(t, s, oxbow.Update{Name: "a", Content: "4"}, oxbow.Update{Name: "b", Content: "5"})
			beside, err := vfs.ReadFile(m, strings.TrimSuffix(cardPath("a"), ".md")+".conflict-1.md", -1)
			if err != nil || string(beside) != theirs {
				t.Errorf("kept beside: %q, %v; want %q", beside, err, theirs)
			}
			if got := entryContent(t, s, "a"); got != "4" {
				t.Errorf("the entry says %q, want 4", got)
			}
		}
	}
	// If a program writes the file again and again, the store gives up after some time.
	m := vfs.NewMem()
	fsys := &hookFS{FS: m}
	s := openOn(t, fsys, Options{})
	mustApply(t, s, oxbow.Add{Name: "a", Content: "one", Created: noon})
	n := 0
	fsys.open = func(name string) error {
		if strings.HasSuffix(name, ".tmp") || strings.HasPrefix(name, storeStageDir+"/") {
			n++
			return vfs.WriteFile(m, cardPath("a"), []byte(fmt.Sprintf("name: a\n\nedit %d\n", n)), 0o644)
		}
		return nil
	}
	if err := s.Apply(t.Context(), oxbow.Update{Name: "a", Content: "two"}); !errors.Is(err, oxbow.ErrBusy) {
		t.Errorf("Apply() against endless edits = %v", err)
	}
}

func TestBytesSurvive(t *testing.T) {
	for _, tt := range []struct{ name, file, want string }{
		{
			"carriage returns",
			"name: a\r\nkind: note\r\nx-key:   odd  value\r\n\r\none\r\n",
			"name: a\r\nkind: note\r\nx-key:   odd  value\r\n\r\ntwo\r\nlines\r\n",
		},
		{"a mark of order", "\ufeffname: a\nkind: note\n\none\n", "\ufeffname: a\nkind: note\n\ntwo\nlines\n"},
	} {
		fsys, path := tempTree(t)
		p := person{t, path}
		p.write("cards/a.md", tt.file)
		s := openOn(t, fsys, Options{})
		mustApply(t, s, oxbow.Update{Name: "a", Content: "two\nlines"})
		if got := stripCreated(p.read("cards/a.md")); got != tt.want {
			t.Errorf("%s: the file is %q, want %q", tt.name, got, tt.want)
		}
	}
	// Entries next to each other in a file must not change each other.
	fsys, path := tempTree(t)
	p := person{t, path}
	p.write("days/log.md", "preamble  \r\n\n## a\nold\n##  b \n weird\t\n\n\n")
	s := openOn(t, fsys, Options{})
	mustApply(t, s, oxbow.Update{Name: "a", Content: "new"})
	if got, want := p.read("days/log.md"), "preamble  \r\n\n## a\nnew\n##  b \n weird\t\n\n\n"; got != want {
		t.Errorf("the file is %q, want %q", got, want)
	}
	// An op is refused, and nothing is written, if the file would be read as a different entry.
	for _, op := range []oxbow.Op{
		oxbow.Update{Name: "a", Content: "x\n## b\nstolen"},
		oxbow.Update{Name: "a", Content: "x\n## c\nnew"},
		oxbow.Add{Name: "d", Kind: oxbow.Journal, Content: "x\n## d\ntwice"},
		oxbow.Update{Name: "a", Content: "x", Labels: []oxbow.Label{{Key: "tag", Value: "x"}}},
	} {
		if err := s.Apply(t.Context(), op); !errors.Is(err, oxbow.ErrInvalid) {
			t.Errorf("Apply(%v) = %v", op, err)
		}
	}
	if got := p.read("days/log.md"); !strings.HasPrefix(got, "preamble  \r\n\n## a\nnew\n##  b \n") {
		t.Errorf("a refused change left %q", got)
	}
}

func TestLinksAreNotFollowedOut(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret.md"), []byte("name: secret\n\nsecret\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	fsys, path := tempTree(t)
	p := person{t, path}
	p.write("cards/a.md", "name: a\n\na\n")
	if err := os.Symlink(filepath.Join(outside, "secret.md"), filepath.Join(path, "cards/link.md")); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	if err := os.Symlink(outside, filepath.Join(path, "days")); err != nil {
		t.Fatal(err)
	}
	if s, err := Open(t.Context(), fsys, cards{}, Options{}); err == nil {
		t.Errorf("a directory outside of the tree was opened: %q", problemsOf(t, s))
	}
	p.remove("days")
	var w warnings
	s := openOn(t, fsys, Options{Warn: w.warn})
	if got := entryContent(t, s, "secret"); got != "(not there)" {
		t.Errorf("a link out of the tree was followed: %q", got)
	}
	if got := w.take(); !strings.Contains(got, "cards/link.md") {
		t.Errorf("warned %q", got)
	}
	if _, _, err := s.Document(t.Context(), "cards/../../x"); err == nil {
		t.Error("a document outside of the tree was read")
	}
	if err := os.Symlink(filepath.Join(outside, "secret.md"), filepath.Join(path, "INDEX.md")); err != nil {
		t.Fatal(err)
	}
	if text, _, err := s.Document(t.Context(), "INDEX.md"); err == nil {
		t.Errorf("a document outside of the tree was read: %q", text)
	}
}
