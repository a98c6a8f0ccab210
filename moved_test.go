// Tests of a store whose directory is moved while it is open.

package oxbow

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// TestDirectoryMoved tests an open memory whose directory is moved, for example because a backup takes its place. The
// memory must not continue in the moved directory, because other processes do not use it. Each call must fail with
// ErrVanished until the directory is back.
func TestDirectoryMoved(t *testing.T) {
	root := t.TempDir()
	dir, old := filepath.Join(root, "home"), filepath.Join(root, "old")
	open := func() *Memory {
		m, err := Open(filepath.Join(dir, "memory.oxbow"), nil)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	remember := func(m *Memory, name string) error {
		_, err := m.Remember(t.Context(), Entry{Name: name, Content: "the " + name})
		return err
	}
	empty, m := open(), open() // before there is a file
	if err := remember(m, "a"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir, old); err != nil {
		t.Skipf("an open directory cannot be moved here: %v", err)
	}
	vanished := func(when string) {
		for what, m := range map[string]*Memory{"read before": m, "not read": empty} {
			_, gerr := m.Get(t.Context(), "a")
			_, rerr := m.Recall(t.Context(), Query{Text: "a"})
			if err := remember(m, "b"); !errors.Is(err, ErrVanished) || !errors.Is(rerr, ErrVanished) ||
				!errors.Is(gerr, ErrVanished) {
				t.Errorf(
					"%s, a memory %s gets %v, answers %v, and takes a change %v; want ErrVanished",
					when,
					what,
					gerr,
					rerr,
					err,
				)
			}
		}
	}
	vanished("without a directory")
	other := open()
	if err := remember(other, "c"); err != nil {
		t.Fatal(err)
	}
	vanished("with another directory")
	checkAndClose(t, other)

	if err := errors.Join(os.RemoveAll(dir), os.Rename(old, dir)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(remember(m, "d"), remember(empty, "e")); err != nil {
		t.Errorf("with the directory back: %v", err)
	}
	checkAndClose(t, empty)
	checkAndClose(t, m)
}

// TestOlderCopyInTheSameFile tests an open memory whose file is overwritten with an older copy of itself, as the
// command cp does. Get and Remember must fail with ErrRolledBack. The memory must not append to the file, because the
// new change would be at a wrong offset and damage the file.
func TestOlderCopyInTheSameFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.oxbow")
	m, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	remember := func(content string) error {
		_, err := m.Remember(t.Context(), Entry{Name: "a", Content: content})
		return err
	}
	if err := remember("one"); err != nil {
		t.Fatal(err)
	}
	older, err := os.ReadFile(path)
	err = errors.Join(err, remember("two"), os.WriteFile(path, older, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	_, gerr := m.Get(t.Context(), "a")
	if err := remember("three"); !errors.Is(gerr, ErrRolledBack) || !errors.Is(err, ErrRolledBack) {
		t.Errorf("with an older copy in the same file, Get says %v and Remember %v; want ErrRolledBack", gerr, err)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, older) {
		t.Errorf("the copy that was put in its place was changed (%v)", err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

// TestHardLinkedMemory tests a memory whose files have a second name in another directory, made by hard links. Each
// directory must become a memory of its own, which contains the entry that was added before and the entries that were
// added to it. Neither memory may lose an acknowledged entry or report that its file was replaced by an older one.
func TestHardLinkedMemory(t *testing.T) {
	dirs := []string{t.TempDir(), t.TempDir()}
	open := func(dir string) *Memory {
		m, err := Open(filepath.Join(dir, "memory.oxbow"), nil)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	first := open(dirs[0])
	if _, err := first.Remember(t.Context(), Entry{Name: "both", Content: "of both"}); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dirs[0])
	if err != nil || len(files) == 0 {
		t.Fatalf("the home has %d files, %v", len(files), err)
	}
	for _, f := range files {
		if err := os.Link(filepath.Join(dirs[0], f.Name()), filepath.Join(dirs[1], f.Name())); err != nil {
			t.Skipf("no hard links here: %v", err)
		}
	}
	memories := []*Memory{first, open(dirs[1])}
	var wg sync.WaitGroup
	for which, m := range memories {
		wg.Go(func() {
			for i := range 20 {
				if _, err := m.Remember(
					t.Context(),
					Entry{Name: fmt.Sprint(which, " ", i), Content: "text"},
				); err != nil {
					t.Errorf("name %d: %v", which, err)
				}
			}
		})
	}
	wg.Wait()
	for which, m := range memories {
		for i := range 20 {
			if _, err := m.Get(t.Context(), fmt.Sprint(which, " ", i)); err != nil {
				t.Error(err)
			}
		}
		n := 0
		for _, err := range m.Entries(t.Context(), Filter{}) {
			n++
			if err != nil {
				t.Fatal(err)
			}
		}
		if n != 21 {
			t.Errorf("the memory at name %d has %d entries, want 21", which, n)
		}
		checkAndClose(t, m)
	}
}
