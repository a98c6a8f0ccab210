// Tests of a store whose directory is moved while it is open.

package oxbow

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A memory whose directory was moved, as when a backup is put in its place, does not
// go on in the old one, where no other process looks.
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
