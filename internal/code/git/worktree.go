// This file answers, without starting git, what a hook needs to know of a working tree.

package git

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// maxHookIndex is the bytes of the largest index that is read while a client waits: it
// has about 100,000 files.
const maxHookIndex = 12 << 20

// Worktree is a working tree.
type Worktree struct{ repo Repo }

// WorktreeOf returns the working tree that holds a directory. It reports whether there is
// one.
func WorktreeOf(dir string) (*Worktree, bool) {
	w := &Worktree{}
	if err := w.repo.find(dir); err != nil {
		return nil, false
	}
	w.repo.sha256 = w.repo.usesSHA256()
	return w, true
}

// Root returns the root directory of the working tree.
func (w *Worktree) Root() string { return w.repo.root }

// Tracks returns which of some files the index lists. The names are relative to the root,
// with slashes. Letter case does not count. It returns an error if the index cannot be
// read in the time that a client waits.
func (w *Worktree) Tracks(names ...string) (map[string]bool, error) {
	index := filepath.Join(w.repo.dir, "index")
	if fi, err := os.Stat(index); err == nil && fi.Size() > maxHookIndex {
		return nil, fmt.Errorf("%s has %d bytes, which take too long to read", index, fi.Size())
	}
	wanted := make(map[string]string, len(names))
	for _, n := range names {
		wanted[strings.ToLower(n)] = n
	}
	tracked := map[string]bool{}
	err := w.repo.readIndex(index, true, func(e IndexEntry) {
		n, ok := wanted[e.Name]
		if !ok {
			n, ok = wanted[strings.ToLower(e.Name)]
		}
		if ok {
			tracked[n] = true
		}
	})
	return tracked, err
}

// OwnCommits returns the commits that git commit made in this working tree, as far as the
// reflog tells: those of the person and of the person's agents.
func (w *Worktree) OwnCommits() map[string]bool {
	own := map[string]bool{}
	for _, m := range w.repo.Reflog() {
		if m.Made {
			own[m.To] = true
		}
	}
	return own
}

// ConfigFile returns the path of the repository's config.
func (w *Worktree) ConfigFile() string { return filepath.Join(w.repo.common, "config") }
