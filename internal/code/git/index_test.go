// This file tests that git's index is read correctly in each format that git writes.

package git

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTracked(t *testing.T) {
	for _, form := range [][]string{
		{"update-index", "--index-version", "2"},
		{"update-index", "--index-version", "4"},
		{"update-index", "--split-index"},
		{"sparse-checkout", "set", "--cone", "--sparse-index", "other"},
	} {
		t.Run(strings.Join(form, " "), func(t *testing.T) {
			g := newRepo(t)
			for _, name := range []string{"a.txt", ".oxbow/memory.oxbow", ".oxbow/notes/x.md", ".oxbowl/y",
				"other/z", "z.txt"} {
				g.write(name, name)
			}
			g.commit("all")
			g.git(form...)
			want := []string{"memory.oxbow", "notes/x.md"}
			if form[0] == "sparse-checkout" {
				want = []string{"."}
			}
			got, err := ListTrackedFiles(filepath.Join(g.dir, ".oxbow"))
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("Tracked() = %q, %v, want %q", got, err, want)
			}
			if got, err := ListTrackedFiles(filepath.Join(g.dir, "new", ".oxbow")); err != nil || got != nil {
				t.Errorf("Tracked(new) = %q, %v, want nothing", got, err)
			}
		})
	}
	if got, err := ListTrackedFiles(filepath.Join(t.TempDir(), ".oxbow")); err != nil || got != nil ||
		IsInWorktree(t.TempDir()) {
		t.Errorf("Tracked() outside of a working tree = %q, %v, want nothing", got, err)
	}
}

// TestTrackedBelowUnusualName tests a directory whose name gets longer if its letters are made lower-case, and a
// directory whose name gets shorter. The names of the tracked files must still be complete.
func TestTrackedBelowUnusualName(t *testing.T) {
	g := newRepo(t)
	for _, dir := range []string{"ȺȺȺȺ", "ẞẞẞẞ"} {
		g.write(dir+"/m", "a")
		g.write(dir+"/notes/long name.md", "b")
		g.commit(dir)
		got, err := ListTrackedFiles(filepath.Join(g.dir, dir))
		if want := []string{"m", "notes/long name.md"}; err != nil || !slices.Equal(got, want) {
			t.Errorf("ListTrackedFiles(%s) = %q, %v, want %q", dir, got, err, want)
		}
	}
}

func FuzzIndexEntry(f *testing.F) {
	f.Add([]byte(strings.Repeat("x", 62)+"name\x00\x00\x00\x00\x00\x00"), "na", uint32(2))
	f.Fuzz(func(t *testing.T, b []byte, before string, version uint32) {
		name, rest, err := parseEntryName(b, before, 2+version%3, 20)
		if err == nil && (len(rest) >= len(b) || len(name) > len(b)+len(before)) {
			t.Errorf("parseEntryName() = %d bytes of name, %d left of %d", len(name), len(rest), len(b))
		}
	})
}
