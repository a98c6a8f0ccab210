// This file tests reading of repositories that plain git creates during the tests.

package git

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/test/testenv"
)

// repo is a repository that a test creates with plain git.
type repo struct {
	t       testing.TB
	program string
	dir     string
}

func newRepo(t testing.TB, initArgs ...string) *repo {
	t.Helper()
	g := &repo{
		t:       t,
		program: testenv.RequireProgram(t, "git", "apt install git"),
		dir:     filepath.Join(t.TempDir(), "work"),
	}
	if err := os.Mkdir(g.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	g.git(append([]string{"init", "-q", "-b", "main"}, initArgs...)...)
	return g
}

// git runs plain git, like the owner of the repository.
func (g *repo) git(args ...string) string {
	g.t.Helper()
	cmd := exec.Command(
		g.program,
		append(
			[]string{"-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"},
			args...,
		)...,
	)
	cmd.Dir = g.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+
		os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_DATE=2026-04-18T12:00:00Z",
		"GIT_COMMITTER_DATE=2026-04-18T12:00:00Z")
	out, err := cmd.CombinedOutput()
	if err != nil {
		g.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (g *repo) write(name, text string) {
	g.t.Helper()
	full := filepath.Join(g.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		g.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
		g.t.Fatal(err)
	}
}

// commit commits all changed and new files. It returns the hash of the commit.
func (g *repo) commit(message string) string {
	g.t.Helper()
	g.git("add", "-A")
	g.git("commit", "-q", "-m", message)
	return g.git("rev-parse", "HEAD")
}

func (g *repo) find() *Repo {
	g.t.Helper()
	r, err := FindRepo(g.dir, nil)
	if err != nil {
		g.t.Fatal(err)
	}
	return r
}

func TestRead(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			g := newRepo(t, "--object-format="+format)
			r := g.find()
			if head, err := r.HeadCommit(t.Context()); head != "" || err != nil {
				t.Errorf("Head before the first commit = %q, %v", head, err)
			}
			if r.IsSHA256() != (format == "sha256") {
				t.Errorf("SHA256 = %v", r.IsSHA256())
			}
			text := strings.Repeat("a line that is long enough\n", 10)
			g.write("sub/old name\n.txt", text)
			one := g.commit("one")
			g.git("mv", "--", "sub/old name\n.txt", "-new.txt")
			two := g.commit("two")
			g.write("-new.txt", text+"more\n")
			three := g.commit("three")

			check := func(what string, got any, err error, want any) {
				t.Helper()
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%s = %q, %v, want %q", what, got, err, want)
				}
			}
			head, err := r.HeadCommit(t.Context())
			check("Head", head, err, three)
			g.git("pack-refs", "--all")
			head, err = r.HeadCommit(t.Context())
			check("Head of packed references", head, err, three)
			was := g.git("rev-parse", one+":sub/old name\n.txt")
			at, err := r.BlobAt(t.Context(), one, "sub/old name\n.txt")
			check("At", at, err, was)
			at, err = r.BlobAt(t.Context(), one, "none")
			check("At of a missing path", at, err, "")
			at, err = r.BlobAt(t.Context(), one, "sub")
			check("At of a directory", at, err, "")
			none := strings.Repeat("0123", len(one)/4)
			blobs, err := r.ReadBlobs(t.Context(), []string{was, none, two})
			check("Blobs", blobs, err, map[string][]byte{was: []byte(text)})
			names, err := r.FormerNames(t.Context(), "-new.txt", nil)
			check("Names", names, err, []string{"sub/old name\n.txt"})
			names, gone, err := r.LaterNames(t.Context(), "sub/old name\n.txt")
			check("Successors", names, err, []string{"-new.txt"})
			check("whether it was there", gone, err, true)
			names, gone, err = r.LaterNames(t.Context(), "none")
			check("Successors of what never was", names, err, []string(nil))
			check("whether that was there", gone, err, false)
			now := g.git("rev-parse", "HEAD:-new.txt")
			before, after, err := r.BlobsAroundTime(
				t.Context(),
				"-new.txt",
				time.Date(2026, 4, 18, 12, 0, 1, 0, time.UTC),
			)
			check("Around, a second after", []string{before, after}, err, []string{now, ""})
			before, after, err = r.BlobsAroundTime(
				t.Context(),
				"-new.txt",
				time.Date(2026, 4, 18, 11, 0, 0, 0, time.UTC),
			)
			check("Around, an hour before", []string{before, after}, err, []string{"", was})
			g.write("-new.txt", text+"more\nand more\n")
			g.write("other", "other\n")
			g.commit("four")
			with, err := r.FilesChangedWith(t.Context(), one, "-new.txt")
			check("Alongside", with, err, []string{"other"})
			with, err = r.FilesChangedWith(t.Context(), g.git("rev-parse", "HEAD"), "-new.txt")
			check("Alongside since HEAD", with, err, []string(nil))
			g.git("reset", "-q", "--hard", three)
			lines, err := r.Blame(t.Context(), three, "-new.txt")
			if err != nil || len(lines) != 11 {
				t.Fatalf("Blame = %d lines, %v, want 11", len(lines), err)
			}
			by := func(summary string) (lines []string) {
				for _, who := range []string{"author", "committer"} {
					lines = append(lines, who+" A", who+"-mail <a@example.com>", who+"-time 1776513600", who+
						"-tz +0000")
				}
				return append(lines, "summary "+summary)
			}
			check(
				"the first line",
				lines[0],
				nil,
				blamedLine{one, 1, "A", time.Date(2026, 4, 18, 12, 0, 0, 0, time.UTC), "one", by("one")},
			)
			check(
				"the last line",
				lines[10],
				nil,
				blamedLine{three, 11, "A", time.Date(2026, 4, 18, 12, 0, 0, 0, time.UTC), "three", by("three")},
			)
		})
	}
}

func TestCopiesHaveNames(t *testing.T) {
	g := newRepo(t)
	text := strings.Repeat("a line that is long enough\n", 10)
	g.write("a", text)
	g.commit("one")
	g.write("a", text+"changed\n")
	g.write("b", text)
	g.commit("two")
	names, err := g.find().FormerNames(t.Context(), "b", nil)
	if err != nil || !reflect.DeepEqual(names, []string{"a"}) {
		t.Errorf("Names of a copy = %q, %v, want a", names, err)
	}
	g.write("c", text+"other\n")
	g.commit("three")
	for _, others := range [][]string{nil, {"a", "b"}} {
		names, err := g.find().FormerNames(t.Context(), "c", others)
		if err != nil || (len(names) > 0) != (others != nil) {
			t.Errorf("Names of a copy of what was left alone, among %q = %q, %v", others, names, err)
		}
	}
}

// TestNamesOfNames tests that FormerNames returns all former names of a file, the latest first. If the file was deleted
// and another file was renamed to its name, FormerNames returns only the former names of that other file.
func TestNamesOfNames(t *testing.T) {
	g := newRepo(t)
	text := strings.Repeat("a line that is long enough\n", 10)
	g.write("a", text)
	g.write("other", strings.Repeat("nothing of the kind\n", 10))
	g.commit("one")
	g.git("mv", "a", "b")
	g.commit("two")
	g.git("mv", "b", "c")
	g.write("c", text+"and more\n")
	g.commit("three")
	g.git("rm", "-q", "c")
	g.commit("four")
	g.git("mv", "other", "c")
	g.commit("five")
	names, err := g.find().FormerNames(t.Context(), "c", nil)
	if want := []string{"other"}; err != nil || !reflect.DeepEqual(names, want) {
		t.Errorf("Names = %q, %v, want %q", names, err, want)
	}
	g.git("checkout", "-q", "HEAD~2")
	names, err = g.find().FormerNames(t.Context(), "c", nil)
	if want := []string{"b", "a"}; err != nil || !reflect.DeepEqual(names, want) {
		t.Errorf("Names = %q, %v, want %q", names, err, want)
	}
}

// TestRenamesOfMerges tests a rename and a change on a branch that is merged with a merge commit, like a pull request.
// The rename and the change must be found, although the functions follow only the first parent of each commit.
func TestRenamesOfMerges(t *testing.T) {
	g := newRepo(t)
	text := strings.Repeat("a line that is long enough\n", 10)
	g.write("a.go", text)
	one := g.commit("one")
	g.git("checkout", "-q", "-b", "side")
	if err := os.Mkdir(filepath.Join(g.dir, "pkg"), 0o700); err != nil {
		t.Fatal(err)
	}
	g.git("mv", "a.go", "pkg/b.go")
	g.commit("renamed")
	g.write("pkg/b.go", text+"more\n")
	g.commit("changed")
	g.git("checkout", "-q", "main")
	g.write("other", "other\n")
	g.commit("other")
	g.git("merge", "-q", "--no-ff", "-m", "merge", "side")
	now := g.git("rev-parse", "HEAD:pkg/b.go")
	r := g.find()
	check := func(what string, got any, err error, want any) {
		t.Helper()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s = %q, %v, want %q", what, got, err, want)
		}
	}
	names, err := r.FormerNames(t.Context(), "pkg/b.go", nil)
	check("Names", names, err, []string{"a.go"})
	names, _, err = r.LaterNames(t.Context(), "a.go")
	check("Successors", names, err, []string{"pkg/b.go"})
	with, err := r.FilesChangedWith(t.Context(), one, "a.go")
	check("Alongside", with, err, []string{"pkg/b.go"})
	before, after, err := r.BlobsAroundTime(t.Context(), "pkg/b.go", time.Date(2026, 4, 18, 11, 0, 0, 0, time.UTC))
	check("Around", []string{before, after}, err, []string{"", now})
}

func TestWorktreesAndSubdirectories(t *testing.T) {
	g := newRepo(t)
	g.write("sub/a", "a\n")
	one := g.commit("one")
	g.git("worktree", "add", "-q", "-b", "side", "../side")
	side, err := FindRepo(filepath.Join(g.dir, "..", "side", "sub"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(filepath.Dir(g.dir), "side"); side.Root() != want {
		t.Errorf("Root = %s, want %s", side.Root(), want)
	}
	if head, err := side.HeadCommit(t.Context()); head != one || err != nil {
		t.Errorf("Head = %s, %v, want %s", head, err, one)
	}
	if lines, err := side.Blame(t.Context(), one, "sub/a"); err != nil || len(lines) != 1 {
		t.Errorf("Blame = %v, %v, want one line", lines, err)
	}
}

// TestShallow reads a shallow clone with a single commit.
func TestShallow(t *testing.T) {
	g := newRepo(t)
	g.write("a", "a\n")
	g.commit("one")
	g.write("a", "a\nb\n")
	two := g.commit("two")
	g.git("clone", "-q", "--depth", "1", "file://"+filepath.ToSlash(g.dir), "../shallow")
	r, err := FindRepo(filepath.Join(g.dir, "..", "shallow"), nil)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := r.Blame(t.Context(), two, "a")
	if err != nil || len(lines) != 2 || lines[0].Commit != two {
		t.Errorf("Blame = %v, %v, want both lines from %s", lines, err, two)
	}
}

// TestLeavesNothing tests that each run of git removes its temporary .git directory, both if it succeeds and if it
// fails.
func TestLeavesNothing(t *testing.T) {
	g := newRepo(t)
	g.write("a", "a\n")
	one := g.commit("one")
	r := g.find()
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp)
	if _, err := r.Blame(t.Context(), one, "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Blame(t.Context(), one, "none"); err == nil {
		t.Error("Blame of a missing path is no error")
	}
	left, err := os.ReadDir(temp)
	if err != nil || len(left) > 0 {
		t.Errorf("%v, %v is left after git ran", left, err)
	}
}

func TestNone(t *testing.T) {
	if _, err := FindRepo(t.TempDir(), nil); !errors.Is(err, ErrNoRepository) {
		t.Errorf("FindRepo in no repository = %v, want ErrNoRepository", err)
	}
	g := newRepo(t)
	t.Setenv("PATH", t.TempDir())
	if _, err := FindRepo(g.dir, nil); !errors.Is(err, ErrNoRepository) {
		t.Errorf("FindRepo without git = %v, want ErrNoRepository", err)
	}
}

func TestBounds(t *testing.T) {
	g := newRepo(t)
	g.write("a", strings.Repeat("x", 10000))
	g.commit("one")
	blob := g.git("rev-parse", "HEAD:a")
	r, err := FindRepo(g.dir, &Options{MaxOutputBytes: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.ReadBlobs(t.Context(), []string{blob}); !errors.Is(err, ErrOutputTooLong) {
		t.Errorf("ReadBlobs beyond the bound = %v, want ErrOutputTooLong", err)
	}
	r, err = FindRepo(g.dir, &Options{Timeout: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.ReadBlobs(t.Context(), []string{blob}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("ReadBlobs beyond the time = %v, want DeadlineExceeded", err)
	}
}

// TestRefusesNames tests that a text that is not the full ID of a commit or blob is never passed to git. The text could
// otherwise be used as an option or a revision expression.
func TestRefusesNames(t *testing.T) {
	g := newRepo(t)
	g.write("a", "a\n")
	g.commit("one")
	r := g.find()
	for _, bad := range []string{"HEAD", "--output=x", "", "@{-1}", strings.Repeat("a", 39), strings.Repeat("A", 40),
		strings.Repeat("a", 40) + "\n"} {
		if _, err := r.ReadBlobs(t.Context(), []string{bad}); err == nil {
			t.Errorf("ReadBlobs(%q) was asked of git", bad)
		}
		if _, err := r.BlobAt(t.Context(), bad, "a"); err == nil {
			t.Errorf("At(%q) was asked of git", bad)
		}
		if _, err := r.FilesChangedWith(t.Context(), bad, "a"); err == nil {
			t.Errorf("FilesChangedWith(%q) was asked of git", bad)
		}
		if _, err := r.Blame(t.Context(), bad, "a"); err == nil {
			t.Errorf("Blame(%q) was asked of git", bad)
		}
	}
	// A path that looks like an option or a pattern is used as a path.
	head, err := r.HeadCommit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"--output=x", ":(top)a", "*", "-x"} {
		if id, err := r.BlobAt(t.Context(), head, path); id != "" || err != nil {
			t.Errorf("At(%q) = %q, %v, want none", path, id, err)
		}
		if names, err := r.FormerNames(t.Context(), path, nil); len(names) != 0 || err != nil {
			t.Errorf("Names(%q) = %q, %v, want none", path, names, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	id := strings.Repeat("ab", 20)
	f.Add([]byte("commit " + id + "\x00\n:100644 100644 " + id + " " + id + " R100\x00a\x00b\x00"))
	f.Add([]byte(id + " 1 2 3\nauthor A\nauthor-time 12\nsummary s\n\tline\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if steps, err := parseRawLog(data); err == nil {
			for _, s := range steps {
				if s.commit != "" && !IsHash(s.commit) {
					t.Fatalf("a step has commit %q", s.commit)
				}
			}
		}
		if lines, err := parseBlame(data); err == nil {
			for _, l := range lines {
				if !IsHash(l.Commit) {
					t.Fatalf("a line has commit %q", l.Commit)
				}
			}
		}
	})
}

// TestFindNoWorkingTree tests that FindRepo returns ErrBareRepository in a repository without a working tree, and in
// its subdirectories. Without the file HEAD, the directory is no repository, and FindRepo must return ErrNoRepository.
func TestFindNoWorkingTree(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"objects", "refs", "hooks"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := FindRepo(dir, nil); !errors.Is(err, ErrNoRepository) || errors.Is(err, ErrBareRepository) {
		t.Errorf("FindRepo without HEAD = %v, want ErrNoRepository", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "HEAD"), []byte("ref: refs/heads/main\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, filepath.Join(dir, "hooks")} {
		if _, err := FindRepo(d, nil); !errors.Is(err, ErrBareRepository) || !errors.Is(err, ErrNoRepository) {
			t.Errorf("FindRepo(%s) = %v, want ErrBareRepository", d, err)
		}
	}
}
