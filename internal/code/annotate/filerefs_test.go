// This file tests how references to files are checked.

package annotate

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/code/fileref"
	"github.com/oxbow-memory/oxbow/test/testenv"
)

// checkRef checks a single reference.
func checkRef(t *testing.T, b *Store, c fileref.Ref) fileref.CheckResult {
	t.Helper()
	out := b.CheckFileRefs(t.Context(), []fileref.Ref{c})
	if len(out) != 1 || out[0].Ref != c || out[0].Explanation == "" || out[0].UnchangedContentShare < 0 ||
		out[0].UnchangedContentShare > 1 {
		t.Fatalf("CheckFileRefs(%+v) = %+v", c, out)
	}
	return out[0]
}

func wantRef(t *testing.T, what string, got fileref.CheckResult, state fileref.RefState, now string) {
	t.Helper()
	if got.State != state || got.CurrentPath != now {
		t.Errorf(
			"%s: %s is %s %q (%s), want %s %q",
			what,
			got.File,
			got.State,
			got.CurrentPath,
			got.Explanation,
			state,
			now,
		)
	}
}

// commitAt commits all files, with a certain commit time.
func (g *repo) commitAt(at time.Time) {
	g.t.Helper()
	g.git("add", "-A")
	cmd := exec.Command(
		testenv.RequireProgram(g.t, "git", "apt install git"),
		"-c",
		"user.name=A",
		"-c",
		"user.email=a@example.com",
		"-c",
		"commit.gpgsign=false",
		"commit",
		"-q",
		"--allow-empty",
		"-m",
		"x",
	)
	cmd.Dir = g.dir
	stamp := at.UTC().Format(time.RFC3339)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_DATE="+
		stamp, "GIT_COMMITTER_DATE="+stamp)
	if out, err := cmd.CombinedOutput(); err != nil {
		g.t.Fatalf("git commit: %v\n%s", err, out)
	}
}

func TestCheckFileRefs(t *testing.T) {
	g := newRepo(t)
	hour := func(n int) time.Time { return noon.Add(time.Duration(n) * time.Hour) }
	g.write("pool.go", source)
	g.write("text.txt", numbered(40))
	g.write("gone.txt", numbered(9))
	g.write("bin", "a\x00b")
	if err := os.Mkdir(filepath.Join(g.dir, "dir"), 0o700); err != nil {
		t.Fatal(err)
	}
	g.commitAt(hour(0))
	b := g.store()
	blob := func(file string) string {
		t.Helper()
		s, ok := b.FileBlobName(file)
		if !ok {
			t.Fatalf("Blob(%s) says nothing", file)
		}
		return s
	}
	pool := fileref.Ref{File: "pool.go", GitBlobHash: blob("pool.go"), ReferenceTime: hour(1)}
	text := fileref.Ref{File: "text.txt", GitBlobHash: blob("text.txt"), ReferenceTime: hour(1)}
	lines := fileref.Ref{File: "pool.go:14-19", GitBlobHash: blob("pool.go:14-19"), ReferenceTime: hour(1)}
	if lines.GitBlobHash != pool.GitBlobHash {
		t.Errorf("Blob of lines is %s, want that of the file", lines.GitBlobHash)
	}
	// The same references without a blob name: git finds the old content by the time.
	untold := func(c fileref.Ref) fileref.Ref { c.GitBlobHash = ""; return c }
	doubtful := func(c fileref.Ref) fileref.Ref { c.MayBeFromOtherTree = true; return c }
	wantRef(t, "at once", checkRef(t, b, pool), fileref.RefFresh, "")
	wantRef(t, "at once", checkRef(t, b, lines), fileref.RefFresh, "")
	wantRef(t, "at once", checkRef(t, b, untold(pool)), fileref.RefFresh, "")
	wantRef(t, "of another project, by its content", checkRef(t, b, doubtful(pool)), fileref.RefFresh, "")
	wantRef(t, "of another project", checkRef(t, b, doubtful(untold(pool))), fileref.RefUnverifiable, "")

	// The file is changed a little, and the change is not committed.
	g.write("pool.go", "// Copyright\n"+strings.Replace(source, "close(p.idle)", "p.drain()", 1))
	wantRef(t, "a line changed", checkRef(t, b, pool), fileref.RefFresh, "")
	wantRef(t, "a line changed", checkRef(t, b, untold(pool)), fileref.RefFresh, "")
	wantRef(t, "a line above", checkRef(t, b, lines), fileref.RefMoved, "pool.go:15-20")
	if c := checkRef(t, b, pool); c.UnchangedContentShare <= .8 || c.UnchangedContentShare >= 1 {
		t.Errorf("%v of it is kept (%s), want most", c.UnchangedContentShare, c.Explanation)
	}
	// The file is changed a lot, but the referenced lines still exist.
	g.write("pool.go", strings.Join(strings.SplitAfter(source, "\n")[10:20], "")+numbered(60))
	wantRef(t, "much changed", checkRef(t, b, pool), fileref.RefStale, "")
	wantRef(t, "much changed", checkRef(t, b, untold(pool)), fileref.RefStale, "")
	wantRef(t, "much changed elsewhere", checkRef(t, b, lines), fileref.RefMoved, "pool.go:4-9")
	g.write("pool.go", numbered(60))
	wantRef(t, "lines gone", checkRef(t, b, lines), fileref.RefStale, "")

	// The file is renamed with a small change, and later deleted.
	g.write("pool.go", source)
	g.git("mv", "text.txt", "words.txt")
	g.git("rm", "-q", "gone.txt")
	g.write("words.txt", "line 0\n"+numbered(40))
	g.commitAt(hour(2))
	wantRef(t, "renamed", checkRef(t, b, text), fileref.RefMoved, "words.txt")
	wantRef(t, "renamed", checkRef(t, b, untold(text)), fileref.RefMoved, "words.txt")
	wantRef(
		t,
		"lines of a renamed file",
		checkRef(t, b, fileref.Ref{File: "text.txt:5-9", GitBlobHash: text.GitBlobHash}),
		fileref.RefMoved,
		"words.txt:6-10",
	)
	wantRef(t, "deleted", checkRef(t, b, fileref.Ref{File: "gone.txt", ReferenceTime: hour(1)}), fileref.RefStale, "")
	wantRef(
		t,
		"never there",
		checkRef(t, b, fileref.Ref{File: "never.txt", ReferenceTime: hour(1)}),
		fileref.RefUnverifiable,
		"",
	)
	g.write("words.txt", numbered(3))
	wantRef(t, "renamed and emptied", checkRef(t, b, text), fileref.RefStale, "words.txt")

	// new.txt was first committed after the time of the reference, so the reference is compared with the content in
	// this first commit.
	g.write("new.txt", numbered(30))
	g.commitAt(hour(4))
	wantRef(
		t,
		"committed after",
		checkRef(t, b, fileref.Ref{File: "new.txt", ReferenceTime: hour(3)}),
		fileref.RefFresh,
		"",
	)
	g.write("new.txt", source)
	wantRef(
		t,
		"committed after, and changed",
		checkRef(t, b, fileref.Ref{File: "new.txt", ReferenceTime: hour(3)}),
		fileref.RefStale,
		"",
	)
	wantRef(
		t,
		"what nobody has kept",
		checkRef(t, b, fileref.Ref{File: "pool.go", GitBlobHash: strings.Repeat("ab", 20)}),
		fileref.RefStale,
		"",
	)

	wantRef(
		t,
		"a directory",
		checkRef(t, b, fileref.Ref{File: "dir", ReferenceTime: hour(1)}),
		fileref.RefUnverifiable,
		"",
	)
	wantRef(
		t,
		"a binary",
		checkRef(t, b, fileref.Ref{File: "bin", ReferenceTime: hour(1)}),
		fileref.RefUnverifiable,
		"",
	)
	wantRef(
		t,
		"a binary as it was",
		checkRef(t, b, fileref.Ref{File: "bin", GitBlobHash: blob("bin")}),
		fileref.RefFresh,
		"",
	)
	wantRef(
		t,
		"a long way to the file",
		checkRef(t, b, fileref.Ref{File: "./dir/../pool.go", ReferenceTime: hour(1)}),
		fileref.RefFresh,
		"",
	)
	wantRef(
		t,
		"a path from the root",
		checkRef(t, b, fileref.Ref{File: filepath.Join(g.dir, "pool.go"), ReferenceTime: hour(1)}),
		fileref.RefFresh,
		"",
	)
}

// TestCheckFileRefsIsSafe checks that a malicious reference does no harm, because any caller can write references.
func TestCheckFileRefsIsSafe(t *testing.T) {
	g := newRepo(t)
	g.write("a.txt", numbered(9))
	g.commit()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	links := os.Symlink(secret, filepath.Join(g.dir, "link")) == nil
	b := g.store()
	for _, file := range []string{"", ".", "..", "../a.txt", "/etc/passwd", secret, ".git/config", "a/../../x",
		"\x00", "\xff", ":", ":5", "--output=x",
		"a.txt:99999999999", strings.Repeat("x/", 3000), "C:\\x", "link", ":(top)a.txt", "a.txt\n"} {
		c := checkRef(t, b, fileref.Ref{File: file, GitBlobHash: "--output=x", ReferenceTime: noon})
		if c.State != fileref.RefUnverifiable {
			t.Errorf("%q is %s (%s), want UNVERIFIABLE", file, c.State, c.Explanation)
		}
		if _, ok := b.FileBlobName(file); ok {
			t.Errorf("%q has a blob", file)
		}
	}
	if !links {
		t.Log("there are no links here")
	}
}

func TestCheckFileRefsWithoutGit(t *testing.T) {
	m, b := tree(t, map[string]string{"a.txt": numbered(9)})
	blob, _ := b.FileBlobName("a.txt")
	wantRef(t, "as it was", checkRef(t, b, fileref.Ref{File: "a.txt", GitBlobHash: blob}), fileref.RefFresh, "")
	wantRef(t, "untold", checkRef(t, b, fileref.Ref{File: "a.txt", ReferenceTime: noon}), fileref.RefUnverifiable, "")
	wantRef(t, "missing", checkRef(t, b, fileref.Ref{File: "b.txt", GitBlobHash: blob}), fileref.RefUnverifiable, "")
	put(t, m, "a.txt", numbered(8))
	wantRef(t, "changed", checkRef(t, b, fileref.Ref{File: "a.txt", GitBlobHash: blob}), fileref.RefStale, "")
	wantRef(
		t,
		"changed, of another project",
		checkRef(t, b, fileref.Ref{File: "a.txt", GitBlobHash: blob, MayBeFromOtherTree: true}),
		fileref.RefUnverifiable,
		"",
	)
}

// TestCheckFileRefsAsksGitLittle checks that git is not started for each file of a memory with many references.
func TestCheckFileRefsAsksGitLittle(t *testing.T) {
	g := newRepo(t)
	g.write("a.txt", numbered(9))
	g.commitAt(noon)
	var cs []fileref.Ref
	for i := range maxGitLookups + 5 {
		cs = append(cs, fileref.Ref{File: fmt.Sprintf("none%d.txt", i), ReferenceTime: noon})
	}
	cs = append(cs, fileref.Ref{File: "a.txt", GitBlobHash: blobName([]byte(numbered(9)), false)})
	out := g.store().CheckFileRefs(t.Context(), cs)
	if got := out[maxGitLookups+4]; got.State != fileref.RefUnverifiable ||
		!strings.Contains(got.Explanation, "too many") {
		t.Errorf("the citation beyond the bound is %s (%s)", got.State, got.Explanation)
	}
	if got := out[len(out)-1]; got.State != fileref.RefFresh {
		t.Errorf("what needs no git is %s (%s), want FRESH", got.State, got.Explanation)
	}
}
