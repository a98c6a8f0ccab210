// This file reads what hooks need to know about a working tree. It does not run git.

package git

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// maxIndexBytesForHook is the maximum size, in bytes, of an index that is read while a client waits for a hook. An
// index of this size lists about 100,000 files.
const maxIndexBytesForHook = 12 << 20

// Worktree is a git working tree.
type Worktree struct{ gitRepo Repo }

// FindWorktree returns the working tree that contains a directory. It returns false if no working tree contains the
// directory.
func FindWorktree(dir string) (*Worktree, bool) {
	w := &Worktree{}
	if err := w.gitRepo.locateDirs(dir); err != nil {
		return nil, false
	}
	w.gitRepo.isSHA256 = w.gitRepo.usesSHA256()
	return w, true
}

// Root returns the root directory of the working tree.
func (w *Worktree) Root() string { return w.gitRepo.root }

// TrackedNames returns the given names that git tracks. The names are relative to the root and slash-separated. Letter
// case is ignored. TrackedNames fails if the index is larger than maxIndexBytesForHook.
func (w *Worktree) TrackedNames(names ...string) (map[string]bool, error) {
	index := filepath.Join(w.gitRepo.gitDir, "index")
	if fi, err := os.Stat(index); err == nil && fi.Size() > maxIndexBytesForHook {
		return nil, fmt.Errorf("%s has %d bytes, which take too long to read", index, fi.Size())
	}
	wanted := make(map[string]string, len(names))
	for _, n := range names {
		wanted[strings.ToLower(n)] = n
	}
	tracked := map[string]bool{}
	err := w.gitRepo.readIndexNames(index, func(e IndexEntry) {
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

// CommitsMadeInWorktree returns the commits that git commit created in this working tree, according to the reflog. The
// user or the user's agents made these commits.
func (w *Worktree) CommitsMadeInWorktree() map[string]bool {
	own := map[string]bool{}
	for _, m := range w.gitRepo.ReadReflogHeadMoves() {
		if m.IsMadeByGitCommit {
			own[m.NewCommit] = true
		}
	}
	return own
}

// ConfigFile returns the path of the repository's config.
func (w *Worktree) ConfigFile() string { return filepath.Join(w.gitRepo.commonDir, "config") }
