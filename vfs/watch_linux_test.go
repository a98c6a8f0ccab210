// Tests that a watch on Linux reports all changes that were made before the call of Changed.

package vfs_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/oxbow-memory/oxbow/vfs"
)

func TestWatch(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "d"), 0o755); err != nil {
		t.Fatal(err)
	}
	fsys, err := vfs.Dir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	w, err := fsys.NewWatch()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	info, err := w.Add("d")
	if errors.Is(err, vfs.ErrUnsupported) {
		t.Skip("the temporary directory is on a file system that is not watched")
	}
	if err != nil {
		t.Fatal(err)
	}
	if named, err := fsys.Stat("d"); err != nil || !vfs.SameFile(named, info) {
		t.Errorf("Add(d) describes another directory: %v", err)
	}
	expect := func(step string, wantFiles, wantLost []string) {
		t.Helper()
		files, lost, err := w.Changed()
		slices.Sort(files)
		if err != nil || !slices.Equal(files, wantFiles) || !slices.Equal(lost, wantLost) {
			t.Errorf("%s: Changed() = %q, %q, %v; want %q, %q", step, files, lost, err, wantFiles, wantLost)
		}
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	p := func(n string) string { return filepath.Join(dir, n) }
	expect("nothing yet", nil, nil)
	do(os.WriteFile(p("d/a"), []byte("1"), 0o644))
	do(os.WriteFile(p("outside"), []byte("1"), 0o644))
	expect("a new file", []string{"d/a"}, nil)
	do(os.Symlink("../outside", p("d/l")))
	expect("a new link", []string{"d/l"}, []string{"d"})
	do(os.Remove(p("d/l")))
	expect("a link less", []string{"d/l"}, nil)
	do(os.WriteFile(p("d/a"), []byte("2"), 0o644)) // the file is overwritten, and its size does not change
	expect("a change in place", []string{"d/a"}, nil)
	do(os.Rename(p("d/a"), p("d/b")))
	expect("a rename", []string{"d/a", "d/b"}, nil)
	do(os.Rename(p("outside"), p("d/b")))
	expect("replaced from outside", []string{"d/b"}, nil)
	do(os.Remove(p("d/b")))
	expect("a removal", []string{"d/b"}, nil)
	do(os.Rename(p("d"), p("e")))
	expect("the directory moved", nil, []string{"d"})
	if _, err := w.Add("d"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Add() of a directory that is gone = %v", err)
	}
	if _, err := w.Add("../x"); err == nil {
		t.Error("Add() left the root")
	}
	do(w.Close())
	if _, _, err := w.Changed(); err == nil {
		t.Error("Changed() of a closed watch succeeded")
	}
}
