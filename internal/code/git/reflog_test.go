// This file tests how the reflog is read.

package git

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestReflog(t *testing.T) {
	g := newRepo(t)
	repo, err := FindRepo(g.dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if all := repo.ReadReflogHeadMoves(); len(all) != 0 {
		t.Errorf("Reflog of a new repository = %v", all)
	}
	g.git("commit", "-q", "--allow-empty", "-m", "one\ttab > 7 +0000")
	g.git("commit", "-q", "--allow-empty", "-m", "two")
	g.git("checkout", "-q", "--detach", "HEAD~1")
	f, err := os.OpenFile(filepath.Join(repo.GitDir(), "logs", "HEAD"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("no line\n0 1 > x\n"); err != nil {
		t.Fatal(err)
	}
	f.Close()
	at := time.Date(2026, 4, 18, 12, 0, 0, 0, time.UTC)
	one := g.git("rev-parse", "main~1")
	two := g.git("rev-parse", "main")
	want := []HeadMove{
		{Time: at, NewCommit: one, IsCommitNew: true},
		{Time: at, NewCommit: two, IsCommitNew: true},
		{Time: at, NewCommit: one},
	}
	got := repo.ReadReflogHeadMoves()
	if !slices.EqualFunc(got, want, func(a, b HeadMove) bool {
		return a.Time.Equal(b.Time) && a.NewCommit == b.NewCommit && a.IsCommitNew == b.IsCommitNew
	}) {
		t.Errorf("Reflog = %v, want %v", got, want)
	}
}

// TestCommitsOf tests that a turn has the commit that was checked out when it began, and the commits that were made
// during the turn.
func TestCommitsOf(t *testing.T) {
	root := t.TempDir()
	day := time.Date(2026, 4, 18, 12, 0, 0, 0, time.UTC)
	id := func(n int) string { return strings.Repeat(fmt.Sprint(n), 40) }
	var log strings.Builder
	for i, what := range []string{
		"commit (initial): a",
		"commit: b",
		"checkout: moving from main to x",
		"commit (amend): c",
	} {
		fmt.Fprintf(
			&log,
			"%s %s Ann <ann@example.com> %d +0200\t%s\n",
			id(i),
			id(i+1),
			day.Add(time.Duration(i)*time.Minute).Unix(),
			what,
		)
	}
	for name, text := range map[string]string{".git/HEAD": "ref: refs/heads/x\n", ".git/objects/.keep": "",
		".git/refs/.keep": "", ".git/logs/HEAD": log.String(), "sub/a": ""} {
		name = filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	find := NewPeriodCommitFinder(time.Now)
	for _, c := range []struct {
		from, to time.Duration
		want     string
	}{
		{-time.Hour, -time.Minute, ""},
		{-time.Hour, 30 * time.Second, id(1)},
		{30 * time.Second, 40 * time.Second, id(1)},
		{30 * time.Second, 150 * time.Second, id(1) + " " + id(2)},
		{150 * time.Second, time.Hour, id(3) + " " + id(4)},
	} {
		if got := strings.Join(find(filepath.Join(root, "sub"), day.Add(c.from), day.Add(c.to)), " "); got != c.want {
			t.Errorf("from %v to %v: %q, want %q", c.from, c.to, got, c.want)
		}
	}
	if got := slices.Concat(
		find("sub", day, day),
		find(filepath.Join(root, "gone"), day.AddDate(-1, 0, 0), day.AddDate(-1, 0, 0)),
	); len(got) > 0 {
		t.Errorf("of other directories: %q", got)
	}
}
