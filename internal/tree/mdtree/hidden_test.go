// This file tests trees in directories whose names begin with a dot, and the times of entries whose texts contain no
// time.

package mdtree

import (
	"errors"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// hiddenCards is like the layout of type cards, but its files are in the hidden directory .house.
type hiddenCards struct{ cards }

func (hiddenCards) Dirs() []string { return []string{".house/cards", "days"} }

func (l hiddenCards) Plan(v TreeView, op oxbow.Op, now time.Time) ([]Edit, error) {
	edits, err := l.cards.Plan(v, op, now)
	for i := range edits {
		edits[i].Path = ".house/" + edits[i].Path
	}
	return edits, err
}

func TestHiddenDirectory(t *testing.T) {
	m := vfs.NewMem()
	s, err := Open(t.Context(), m, hiddenCards{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	mustApply(t, s, oxbow.Add{Name: "a", Content: "x"}, oxbow.Add{Name: "b", Content: "x"})
	if _, err := vfs.ReadFile(m, ".house/"+cardPath("a"), -1); err != nil {
		t.Error(err)
	}
	write := func(path string) error {
		return s.Edit(t.Context(), func(TreeView, time.Time) ([]Edit, error) {
			return []Edit{{Path: path, Text: "x"}}, nil
		})
	}
	for _, path := range []string{".house/other/x.md", "shown/x.md"} {
		if err := write(path); err != nil {
			t.Errorf("Edit(%s) = %v", path, err)
		}
	}
	for _, path := range []string{".git/config", ".house/.git/config", ".house/cards/.x.md", ".housing/x.md",
		".house", storeStageDir + "/0", storeLockFile, "days/.x"} {
		if err := write(path); !errors.Is(err, oxbow.ErrInvalid) {
			t.Errorf("Edit(%s) = %v, want %v", path, err, oxbow.ErrInvalid)
		}
	}
	if _, err := m.Stat(".git"); err == nil {
		t.Error("a change reached .git")
	}
}

func TestHiddenPrefix(t *testing.T) {
	for dir, want := range map[string]string{
		".": "", "a/b": "", ".a": ".a/", ".a/b": ".a/", "a/.b/c": "a/.b/", ".a/.b/c/d": ".a/.b/", "a.b/c": "",
		"a/.b": "a/.b/",
	} {
		if got := pathToLastHiddenElement(dir); got != want {
			t.Errorf("hiddenPrefix(%q) = %q, want %q", dir, got, want)
		}
	}
}

// TestCreatedStays tests the creation time of an entry whose file contains no creation time. The creation time is the
// time at which the file was first read. Later changes of the file do not alter the creation time.
func TestCreatedStays(t *testing.T) {
	m := vfs.NewMem()
	now := noon
	m.SetClock(func() time.Time { return now })
	s := openOn(t, m, Options{})
	mustApply(t, s, oxbow.Add{Name: "a", Content: "one"})
	now = now.Add(time.Hour)
	mustApply(t, s, oxbow.Update{Name: "a", Content: "two"})
	e, err := s.Get(t.Context(), "a")
	if err != nil || !e.Created.Equal(noon) || !e.Updated.Equal(now) {
		t.Errorf("after an hour: created %v, updated %v, %v; want %v, %v", e.Created, e.Updated, err, noon, now)
	}
	now = now.Add(time.Hour)
	if err := vfs.WriteFile(m, cardPath("a"), []byte("name: a\n\nby hand\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	e, err = s.Get(t.Context(), "a")
	if err != nil || e.Content != "by hand" || !e.Created.Equal(noon) || !e.Updated.Equal(now) {
		t.Errorf("after an edit: %+v, %v; want created %v, updated %v", e, err, noon, now)
	}
}

// TestLockOfSomewhereElse checks a store whose option LockPath specifies a lock in another directory. The store must
// use this lock, and must not create a second lock file in the tree.
func TestLockOfSomewhereElse(t *testing.T) {
	m := vfs.NewMem()
	s := openOn(t, m, Options{LockPath: "place/.lock", LockWait: time.Millisecond})
	mustApply(t, s, oxbow.Add{Name: "a", Content: "x"})
	lock, err := m.OpenLock("place/.lock")
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if ok, err := lock.TryLock(); !ok || err != nil {
		t.Fatalf("TryLock() = %v, %v", ok, err)
	}
	if err := s.Apply(t.Context(), oxbow.Remove{Name: "a"}); !errors.Is(err, oxbow.ErrBusy) {
		t.Errorf("Apply() without the lock = %v", err)
	}
	if _, err := m.Stat(storeLockFile); err == nil {
		t.Error("there is a second lock file")
	}
}
