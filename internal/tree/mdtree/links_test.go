// This file tests symbolic links within a tree.

package mdtree

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/oxbow-memory/oxbow"
)

// TestEditBehindALink edits files that lie outside the directory cards, while the directory contains symbolic links to
// them. The edits must become visible, even if the directory is watched for changes.
func TestEditBehindALink(t *testing.T) {
	for _, files := range []int{1, 2 * minFilesToWatchDir} {
		fsys, dir := tempTree(t)
		write := func(name, text string) {
			t.Helper()
			p := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		write("cards/first.md", "name: first\n\nx\n")
		for i := range files - 1 {
			write(fmt.Sprintf("cards/%d.md", i), fmt.Sprintf("name: %d\n\nx\n", i))
		}
		write("elsewhere/a.md", "name: a\n\none\n")
		if err := os.Symlink("../elsewhere/a.md", filepath.Join(dir, "cards", "link.md")); err != nil {
			t.Skip("no symbolic links here: ", err)
		}
		s := openOn(t, fsys, Options{})
		for i, want := range []string{"one", "three", "a fourth", "five"} {
			write("elsewhere/a.md", "name: a\n\n"+want+"\n")
			if got := entryContent(t, s, "a"); got != want {
				t.Errorf("%d files, edit %d: the entry is %q, want %q", files, i, got, want)
			}
		}
		// Create a link while the directory is watched.
		write("elsewhere/b.md", "name: b\n\none\n")
		if err := os.Symlink("../elsewhere/b.md", filepath.Join(dir, "cards", "second.md")); err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{"one", "three", "a fourth"} {
			write("elsewhere/b.md", "name: b\n\n"+want+"\n")
			if got := entryContent(t, s, "b"); got != want {
				t.Errorf("%d files, edit %d behind a new link: the entry is %q, want %q", files, i, got, want)
			}
		}
		if err := os.Remove(filepath.Join(dir, "elsewhere", "a.md")); err != nil {
			t.Fatal(err)
		}
		if e, err := s.Get(t.Context(), "a"); !errors.Is(err, oxbow.ErrNotFound) {
			t.Errorf("%d files: a link that leads nowhere is %+v, %v", files, e, err)
		}
	}
}
