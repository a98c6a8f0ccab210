// Tests what the archive receives of working trees.

package command

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A turn has the commit on which it began, and those made in it.
func TestCommitsOf(t *testing.T) {
	root := t.TempDir()
	day := time.Date(2026, 4, 18, 12, 0, 0, 0, time.UTC)
	id := func(n int) string { return strings.Repeat(fmt.Sprint(n), 40) }
	var log strings.Builder
	for i, what := range []string{"commit (initial): a", "commit: b", "checkout: moving from main to x", "commit (amend): c"} {
		fmt.Fprintf(&log, "%s %s Ann <ann@example.com> %d +0200\t%s\n", id(i), id(i+1), day.Add(time.Duration(i)*time.Minute).Unix(), what)
	}
	for name, text := range map[string]string{".git/HEAD": "ref: refs/heads/x\n", ".git/objects/.keep": "", ".git/refs/.keep": "", ".git/logs/HEAD": log.String(), "sub/a": ""} {
		name = filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	find := commitsOf(time.Now)
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
	if got := slices.Concat(find("sub", day, day), find(filepath.Join(root, "gone"), day.AddDate(-1, 0, 0), day.AddDate(-1, 0, 0))); len(got) > 0 {
		t.Errorf("of other directories: %q", got)
	}
}

// An archive that would have to be read whole is not asked how often an entry was shown.
func TestAnswersNow(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sessions.oxbow")
	size := func(name string, n int64) {
		t.Helper()
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(name, n); err != nil {
			t.Fatal(err)
		}
	}
	if answersNow(file) {
		t.Error("one that is not there answers")
	}
	if size(file, maxUnindexed); !answersNow(file) {
		t.Error("a small one does not answer")
	}
	if size(file, maxUnindexed+1); answersNow(file) {
		t.Error("a large one without an index answers")
	}
	if size(file+".idx", 0); answersNow(file) {
		t.Error("a large one whose index is wanted, and not there, answers")
	}
	if size(file+".idx", 1); !answersNow(file) {
		t.Error("a large one with an index does not answer")
	}
}
