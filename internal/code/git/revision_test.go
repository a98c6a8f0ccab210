// This file tests how names of commits are resolved.

package git

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// TestResolve tests that each kind of name resolves to the same commit as in git rev-parse. Names that git accepts but
// that do not name a single commit are refused.
func TestResolve(t *testing.T) {
	g := newRepo(t)
	g.write("a", "a\n")
	g.commit("one")
	g.git("tag", "-a", "v1.0", "-m", "x")
	g.git("branch", "feature/x")
	g.write("a", "b\n")
	two := g.commit("two")
	g.git("tag", "light")
	g.git("pack-refs", "--all")
	g.git("update-ref", "refs/remotes/origin/main", two)
	g.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
	g.git("branch", "deadbeef", two)
	g.git("checkout", "-q", "--detach", "HEAD~1")
	r := g.find()
	for _, name := range []string{"HEAD", "@", "v1.0", "v1.0^{}", "v1.0^{commit}", "light", "light~1", "light^",
		"main", "refs/heads/main", "heads/main", "tags/v1.0",
		"feature/x", "origin/main", "origin", two, two[:8], two[:8] + "~1", "deadbeef"} {
		want := strings.TrimSpace(g.git("rev-parse", name+"^{commit}"))
		if got, err := r.ResolveRevision(t.Context(), name); got != want || err != nil {
			t.Errorf("Resolve(%q) = %q, %v, want %q", name, got, err, want)
		}
	}
	for _, name := range []string{"", "none", "feature", "config", "index", "../HEAD", "refs/../HEAD", "-q", "--all",
		"HEAD@{0}", "HEAD:a", "HEAD~9", "HEAD^2", ":/one", "HEAD ", "a\nb", `refs\heads\main`, "abc",
		strings.Repeat("a", 40)} {
		if got, err := r.ResolveRevision(t.Context(), name); !errors.Is(err, ErrNoCommit) {
			t.Errorf("Resolve(%q) = %q, %v, want ErrNoCommit", name, got, err)
		}
	}
	other := filepath.Join(t.TempDir(), "other")
	g.git("worktree", "add", "-q", other, "main")
	w, err := FindRepo(other, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := w.ResolveRevision(t.Context(), "HEAD"); got != two || err != nil {
		t.Errorf("Resolve(HEAD) of a worktree = %q, %v, want %q", got, err, two)
	}
}
