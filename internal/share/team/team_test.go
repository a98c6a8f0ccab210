// This file tests how the files of a team are found and read. It also tests which of these files count as reviewed. The
// tests use repositories that the real program git created.

package team

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/trust"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
	"github.com/oxbow-memory/oxbow/test/testenv"
)

// runGit runs git without the user's settings in the directory dir. It returns git's output. If git fails, runGit ends
// the test.
func runGit(t testing.TB, dir string, args ...string) string {
	t.Helper()
	out, err := tryGit(t, dir, args...)
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return out
}

func tryGit(t testing.TB, dir string, args ...string) (string, error) {
	cmd := exec.Command(testenv.RequireProgram(t, "git", "apt-get install git"), args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "LC_ALL=C",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@example.org",
		"GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// put writes files to a directory. The keys are paths.
func put(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for p, text := range files {
		p = filepath.Join(dir, filepath.FromSlash(p))
		if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}

// nth returns the file name of entry n.
func nth(n int) string {
	return fileName("", time.UnixMilli(1767225600000+int64(n)), [10]byte{9: byte(n)})
}

// inDir returns the path of entry n's file in a working tree.
func inDir(n int) string { return Dir + "/" + nth(n) }

func noteFile(name, content string) string {
	e := oxbow.Entry{
		Name:    name,
		Content: content,
		Created: time.Unix(1767225600, 0),
		Labels:  []oxbow.Label{{Key: "tag", Value: "x"}},
	}
	return FormatEntry(e)
}

// shared returns a repository with team files, and a clone of it.
func shared(t testing.TB, files map[string]string) (upstream, clone string) {
	t.Helper()
	dir := t.TempDir()
	upstream, clone = filepath.Join(dir, "up"), filepath.Join(dir, "clone")
	put(t, upstream, files)
	runGit(t, dir, "init", "-q", "-b", "main", upstream)
	runGit(t, upstream, "add", "-A")
	runGit(t, upstream, "commit", "-qm", "begin")
	runGit(t, dir, "clone", "-q", upstream, clone)
	return upstream, clone
}

// opened returns the store for the team files in the directory dir. The store is closed at the end of the test.
func opened(t testing.TB, dir string) *Store {
	t.Helper()
	tree, err := FindTree(dir)
	if err != nil || tree == nil {
		t.Fatalf("Find(%s) = %v, %v", dir, tree, err)
	}
	s, err := tree.Open(t.Context(), mdtree.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func namesOf(t testing.TB, s *Store) (names []string) {
	t.Helper()
	for e, err := range s.Entries(t.Context(), oxbow.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, e.Name)
	}
	return names
}

func TestStanding(t *testing.T) {
	ctx := t.Context()
	up, clone := shared(
		t,
		map[string]string{
			inDir(2): noteFile("b", "two"),
			inDir(1): noteFile("a", "one"),
			inDir(3): noteFile("c", "three"),
			"sub/x":  "y",
		},
	)
	s := opened(t, filepath.Join(clone, "sub"))
	if got := namesOf(t, s); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Fatalf("the entries are %v, want a, b and c in order of their files", got)
	}
	standing := func(want ...string) {
		t.Helper()
		// refresh the inner store, because the first Refresh after Open does nothing
		if err := s.Store.Refresh(ctx); err != nil {
			t.Fatal(err)
		}
		names, branch, err := s.ReviewedNames(ctx)
		var got []string
		for n := range names {
			got = append(got, n)
		}
		slices.Sort(got)
		if err != nil || branch.Branch != "origin/HEAD" || !slices.Equal(got, want) {
			t.Errorf("Reviewed() = %v, %+v, %v; want %v", got, branch, err, want)
		}
	}
	standing("a", "b", "c")
	first := strings.TrimSpace(runGit(t, up, "rev-parse", "HEAD"))
	if c, err := s.LastReviewedCommit(ctx, "b"); err != nil || !strings.HasPrefix(first, c) ||
		len(c) != shortCommitLength {
		t.Errorf("Commit(b) = %q, %v, want the beginning of %s", c, err, first)
	}
	// A file that was edited, or that is new, does not count as reviewed. This is also true after the user has
	// committed the files to the branch "mine" and pushed this branch.
	put(t, clone, map[string]string{inDir(2): noteFile("b", "edited"), inDir(4): noteFile("d", "four")})
	standing("a", "c")
	runGit(t, clone, "checkout", "-qb", "mine")
	runGit(t, clone, "add", "-A")
	runGit(t, clone, "commit", "-qm", "mine")
	runGit(t, clone, "push", "-q", "origin", "mine")
	standing("a", "c")
	// A branch cannot declare itself the reviewed branch.
	put(t, clone, map[string]string{Dir + "/team.yaml": "version: 1\nbranch: mine\n"})
	standing("a", "c")
	runGit(t, up, "merge", "-q", "--no-ff", "-m", "reviewed", "mine")
	runGit(t, clone, "fetch", "-q")
	standing("a", "b", "c", "d")
	merge := strings.TrimSpace(runGit(t, up, "rev-parse", "HEAD"))
	if c, err := s.LastReviewedCommit(ctx, "d"); err != nil || !strings.HasPrefix(merge, c) || c == "" {
		t.Errorf("Commit(d) = %q, %v, want the merge %s", c, err, merge)
	}
}

func TestReviewedBranchIsNamedUpstream(t *testing.T) {
	up, clone := shared(t, map[string]string{inDir(1): noteFile("a", "one"), Dir +
		"/team.yaml": "version: 1\nbranch: release/9\n"})
	names, branch, err := opened(t, clone).ReviewedNames(t.Context())
	if err != nil || len(names) > 0 || branch != (Upstream{Branch: "origin/release/9"}) {
		t.Errorf("Reviewed() = %v, %+v, %v, want none of a branch that the clone does not have", names, branch, err)
	}
	runGit(t, up, "branch", "release/9")
	runGit(t, clone, "fetch", "-q")
	if names, _, err := opened(t, clone).ReviewedNames(t.Context()); err != nil || !names["a"] {
		t.Errorf("Reviewed() = %v, %v, want a", names, err)
	}
}

func TestFindNone(t *testing.T) {
	plain := t.TempDir()
	put(t, plain, map[string]string{inDir(1): noteFile("a", "one")})
	if tree, err := FindTree(plain); tree != nil || err != nil {
		t.Errorf("Find() outside of git = %v, %v, want none", tree, err)
	}
	_, clone := shared(t, map[string]string{"x": "y"})
	if tree, err := FindTree(clone); tree != nil || err != nil {
		t.Errorf("Find() without team files = %v, %v, want none", tree, err)
	}
	// A repository inside another repository does not use the outer one's team files.
	outer, _ := shared(t, map[string]string{inDir(1): noteFile("a", "one")})
	inner := filepath.Join(outer, "inner")
	runGit(t, outer, "init", "-q", inner)
	if tree, err := FindTree(inner); tree != nil || err != nil {
		t.Errorf("Find() in a repository inside = %v, %v, want none", tree, err)
	}
	if err := os.Symlink(filepath.Join(outer, ".oxbow"), filepath.Join(clone, ".oxbow")); err != nil {
		t.Skip(err)
	}
	if tree, err := FindTree(clone); tree != nil || err != nil {
		t.Errorf("Find() through a link = %v, %v, want none", tree, err)
	}
}

func TestStoreRefusesChanges(t *testing.T) {
	_, clone := shared(t, map[string]string{inDir(1): noteFile("a", "one")})
	s := opened(t, clone)
	if err := s.Apply(t.Context(), oxbow.Remove{Name: "a"}); !errors.Is(err, oxbow.ErrReadOnly) {
		t.Errorf("Apply() = %v, want %v", err, oxbow.ErrReadOnly)
	}
	if p, err := s.EntryFilePath(t.Context(), "a"); err != nil ||
		p != filepath.Join(clone, filepath.FromSlash(inDir(1))) {
		t.Errorf("File(a) = %q, %v", p, err)
	}
	if rep, err := s.Check(t.Context()); err != nil || len(rep.Problems) > 0 {
		t.Errorf("Check() = %+v, %v", rep, err)
	}
}

func TestTrusted(t *testing.T) {
	_, clone := shared(t, map[string]string{inDir(1): noteFile("a", "one")})
	tree, err := FindTree(clone)
	if err != nil {
		t.Fatal(err)
	}
	l := trust.List{Dir: t.TempDir()}
	if tree.IsTrusted(l) {
		t.Error("team files are trusted at first")
	}
	runGit(t, clone, "remote", "set-url", "origin", "https://bob:secret@example.org/team/code.git")
	if err := tree.MarkTrusted(t.Context(), l, time.Unix(0, 0)); err != nil || !tree.IsTrusted(l) {
		t.Errorf("Trust() = %v, and they are trusted: %t", err, tree.IsTrusted(l))
	}
	_, other := shared(t, map[string]string{inDir(1): noteFile("a", "one")})
	runGit(t, other, "remote", "set-url", "origin", "git@example.org:team/code")
	if o, err := FindTree(other); err != nil || !o.IsTrusted(l) {
		t.Errorf("another clone of the repository is not trusted: %v", err)
	}
	runGit(t, other, "remote", "set-url", "origin", "git@example.org:team/other")
	if o, err := FindTree(other); err != nil || o.IsTrusted(l) {
		t.Errorf("another repository is trusted: %v", err)
	}
	if was, err := l.RemoveTeam(t.Context(), tree.TrustIdentity()); !was || err != nil || tree.IsTrusted(l) {
		t.Errorf("RemoveTeam() = %t, %v", was, err)
	}
}

func TestNormalize(t *testing.T) {
	for address, want := range map[string]string{
		"":                                       "",
		"https://github.com/a/b.git":             "github.com/a/b",
		"https://user:token@GitHub.com:443/a/b/": "github.com/a/b",
		"git@github.com:a/b.git":                 "github.com/a/b",
		"github.com:a/b":                         "github.com/a/b",
		"ssh://git@github.com:22/a/b":            "github.com/a/b",
		"ssh://git@example.org:2222/a/b":         "example.org:2222/a/b",
		"http://example.org/a/b":                 "http://example.org/a/b",
		"alice@example.org:b":                    "alice@example.org/~/b",
		"ssh://alice@example.org/srv/b":          "alice@example.org/srv/b",
		"/srv/git/b.git":                         "path:/srv/git/b.git",
		"../b":                                   "path:/b",
		"file:///srv/b":                          "path:/srv/b",
		"https://%zz":                            "url:https://%zz",
	} {
		if got := normalizeURL(address, "/root-of-it"); filepath.ToSlash(got) != want {
			t.Errorf("normalize(%q) = %q, want %q", address, got, want)
		}
	}
}

func TestSettings(t *testing.T) {
	for text, want := range map[string]string{
		"":             "",
		"version: 1\n": "",
		formatSettings(teamSettings{Branch: "x"}): "",
		"version: 2\n": "team.yaml:1:10: is of version 2, and this oxbow reads 1: install a " +
			"newer one",
		"version: 1\nrules: [a]\n":             `team.yaml:2:1: unknown key "rules"; there are version and branch`,
		"branch: --upload-pack=evil\n":         "branch is the name of a branch of the remote",
		"branch: ../../x\n":                    "branch is the name",
		"branch: [a]\n":                        "branch is the name",
		"branch: a\nbranch: b\n":               "branch is there twice",
		"- a\n":                                "is a list",
		"a: &x [*x]\n":                         "team.yaml",
		strings.Repeat("[", 100_000):           "the most is 65536",
		strings.Repeat("[", 60_000):            "team.yaml",
		"branch: \xff\n":                       "is not UTF-8",
		"version: 1\n---\nversion: 1\n":        "second document",
		"version: 1\r\nbranch: release/2026\n": "",
	} {
		_, err := parseSettings("team.yaml", text)
		if got := fmt.Sprint(err); (want == "" && err != nil) || !strings.Contains(got, want) {
			t.Errorf("parseSettings(%.40q) = %v, want %q", text, err, want)
		}
	}
}

func TestFileName(t *testing.T) {
	// The time in the call of fileName, and the bytes, are from the example of the ULID specification:
	// 01ARZ3NDEKTSV4RRFFQ69G5FAV. The keys of the map are names, and the values are the file names for these names.
	for name, want := range map[string]string{
		"":                        "01ARZ3NDEKTSV4RRFFQ69G5FAV.md",
		"港":                       "01ARZ3NDEKTSV4RRFFQ69G5FAV.md",
		"Card network, v2.md":     "card-network-v2-md-01ARZ3NDEKTSV4RRFFQ69G5FAV.md",
		"../Größe":                "gr-e-01ARZ3NDEKTSV4RRFFQ69G5FAV.md",
		strings.Repeat("ab ", 40): strings.Repeat("ab-", 19) + "ab-01ARZ3NDEKTSV4RRFFQ69G5FAV.md",
	} {
		got := fileName(
			name,
			time.UnixMilli(1469922850259),
			[10]byte{0xd6, 0x76, 0x4c, 0x61, 0xef, 0xb9, 0x93, 0x02, 0xbd, 0x5b},
		)
		if got != want || !isEntryFile(got) {
			t.Errorf("fileName(%q) = %s, want %s; isEntryFile() = %t", name, got, want, isEntryFile(got))
		}
	}
	for name, want := range map[string]bool{"01ARZ3NDEKTSV4RRFFQ69G5FAV.md": true,
		"01arz3ndektsv4rrffq69g5fav.md": false, "81ARZ3NDEKTSV4RRFFQ69G5FAV.md": false,
		"01ARZ3NDEKTSV4RRFFQ69G5FAU.md": false, "01ARZ3NDEKTSV4RRFFQ69G5FA.md": false,
		"01ARZ3NDEKTSV4RRFFQ69G5FAV.txt": false, "deploy-01ARZ3NDEKTSV4RRFFQ69G5FAV.md": true,
		"Deploy-01ARZ3NDEKTSV4RRFFQ69G5FAV.md": false, "deploy01ARZ3NDEKTSV4RRFFQ69G5FAV.md": false,
		"-01ARZ3NDEKTSV4RRFFQ69G5FAV.md": false, "a--b-01ARZ3NDEKTSV4RRFFQ69G5FAV.md": false,
		strings.Repeat("a", maxTitleBytes+1) + "-01ARZ3NDEKTSV4RRFFQ69G5FAV.md": false} {
		if isEntryFile(name) != want {
			t.Errorf("isEntryFile(%s) = %t", name, !want)
		}
	}
}

// BenchmarkFirst measures how long a new process needs to read entries and to find out which of them were reviewed.
func BenchmarkFirst(b *testing.B) {
	files := map[string]string{}
	for i := range 2000 {
		files[Dir+"/"+fileName("", time.UnixMilli(1767225600000), [10]byte{8: byte(i >> 8), 9: byte(i)})] = noteFile(
			fmt.Sprintf("entry-%d", i),
			strings.Repeat("some words of a decision\n", 20),
		)
	}
	_, clone := shared(b, files)
	var find, open, reviewed time.Duration
	defer func() {
		b.ReportMetric(float64(find.Microseconds())/float64(b.N), "find-us/op")
		b.ReportMetric(float64(open.Microseconds())/float64(b.N), "open-us/op")
		b.ReportMetric(float64(reviewed.Microseconds())/float64(b.N), "reviewed-us/op")
	}()
	for b.Loop() {
		begin := time.Now()
		tree, err := FindTree(clone)
		find += time.Since(begin)
		if err != nil || tree == nil {
			b.Fatal(err)
		}
		s, err := tree.Open(b.Context(), mdtree.Options{})
		if err != nil {
			b.Fatal(err)
		}
		open += time.Since(begin)
		begin = time.Now()
		names, _, err := s.ReviewedNames(b.Context())
		reviewed += time.Since(begin)
		if err != nil || len(names) != 2000 {
			b.Fatal(len(names), err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
