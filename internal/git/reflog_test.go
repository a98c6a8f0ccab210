// Tests what the reflog says.

package git

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestReflog(t *testing.T) {
	g := newRepo(t)
	repo, err := Find(g.dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if all := repo.Reflog(); len(all) != 0 {
		t.Errorf("Reflog of a new repository = %v", all)
	}
	g.git("commit", "-q", "--allow-empty", "-m", "one\ttab > 7 +0000")
	g.git("commit", "-q", "--allow-empty", "-m", "two")
	g.git("checkout", "-q", "--detach", "HEAD~1")
	f, err := os.OpenFile(filepath.Join(repo.Dir(), "logs", "HEAD"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("no line\n0 1 > x\n"); err != nil {
		t.Fatal(err)
	}
	f.Close()
	at, one, two := time.Date(2026, 4, 18, 12, 0, 0, 0, time.UTC), g.git("rev-parse", "main~1"), g.git("rev-parse", "main")
	want := []Move{{Time: at, To: one, New: true}, {Time: at, To: two, New: true}, {Time: at, To: one}}
	got := repo.Reflog()
	if !slices.EqualFunc(got, want, func(a, b Move) bool { return a.Time.Equal(b.Time) && a.To == b.To && a.New == b.New }) {
		t.Errorf("Reflog = %v, want %v", got, want)
	}
}
