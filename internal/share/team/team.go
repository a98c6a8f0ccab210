// Finding the team files of a working tree.

// Package team keeps decisions as files that travel with a git repository: one
// Markdown file an entry, which people share on purpose and review as they review
// code.
//
//	.oxbow/team/team.yaml     version, and the branch that is reviewed
//	.oxbow/team/ULID.md       an entry, in the form of package mdtree, with its name
//	.gitattributes            leads these files to the merge driver
//
// What a clone brings is data from others: no link is followed, files that are no
// entries are left alone, sizes are bounded, and git is run as package internal/code/git
// does. An entry counts as reviewed when its file is, byte for byte, that of the
// reviewed branch as the remote last had it; every other is local.
package team

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"

	"github.com/oxbow-memory/oxbow/internal/code/git"
)

// Dir is where team files are, below a directory of a working tree.
const Dir = ".oxbow/team"

// Tree is the team files of a working tree. It is safe for concurrent use.
type Tree struct {
	repo *git.Repo
	path string // of the directory, for the operating system
	rel  string // of the directory in the working tree, by slashes

	mu       sync.Mutex // guards the following
	reviewed map[Upstream]map[string]string
}

// Find returns the team files nearest to a directory: in it or one above it, up to
// the top of its working tree of git. It returns nil where there are none. A
// directory of that name that is a link, or below one, does not count.
func Find(dir string) (*Tree, error) {
	at, err := realDir(dir)
	if err != nil {
		return nil, err
	}
	for ; ; at = filepath.Dir(at) {
		if isTeam(at) {
			return in(at)
		}
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil || filepath.Dir(at) == at {
			return nil, nil
		}
	}
}

// Near returns the directory of team files in a directory or above it, in git or not; ""
// for none.
func Near(dir string) string {
	at, err := realDir(dir)
	for ; err == nil; at = filepath.Dir(at) {
		if isTeam(at) {
			return filepath.Join(at, filepath.FromSlash(Dir))
		}
		if filepath.Dir(at) == at {
			break
		}
	}
	return ""
}

// At returns the team files nearest to a directory, as [Find] does, or where there are
// none those that may be made at the top of its working tree. Errors match [git.ErrNone]
// where it is in none.
func At(dir string) (*Tree, error) {
	t, err := Find(dir)
	if err != nil || t != nil {
		return t, err
	}
	at, err := realDir(dir)
	if err != nil {
		return nil, err
	}
	repo, err := git.Find(at, nil)
	if err != nil {
		return nil, err
	}
	return treeOf(repo, repo.Root())
}

func realDir(dir string) (string, error) {
	at, err := filepath.Abs(dir)
	if err == nil {
		at, err = filepath.EvalSymlinks(at)
	}
	if err != nil {
		return "", fmt.Errorf("finding team files: %w", err)
	}
	return at, nil
}

// isTeam reports whether a directory has team files below it.
func isTeam(at string) bool {
	for _, dir := range []string{".oxbow", filepath.FromSlash(Dir)} {
		if fi, err := os.Lstat(filepath.Join(at, dir)); err != nil || !fi.IsDir() {
			return false
		}
	}
	return true
}

func in(at string) (*Tree, error) {
	repo, err := git.Find(at, nil)
	if errors.Is(err, git.ErrNone) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("finding team files: %w", err)
	}
	return treeOf(repo, at)
}

func treeOf(repo *git.Repo, at string) (*Tree, error) {
	dir := filepath.Join(at, filepath.FromSlash(Dir))
	rel, err := filepath.Rel(repo.Root(), dir)
	if err != nil {
		return nil, fmt.Errorf("finding team files: %w", err)
	}
	return &Tree{repo: repo, path: dir, rel: filepath.ToSlash(rel), reviewed: map[Upstream]map[string]string{}}, nil
}

// Path returns the directory of the files.
func (t *Tree) Path() string { return t.path }

// Top returns the top of the working tree.
func (t *Tree) Top() string { return t.repo.Root() }

// Rel returns the path of a file of the directory below the top of the working tree, by
// slashes.
func (t *Tree) Rel(file string) string { return path.Join(t.rel, file) }

// exists reports whether the directory is there. The error is of one that may not be
// used, such as a link.
func (t *Tree) exists() (bool, error) {
	for _, dir := range []string{filepath.Dir(t.path), t.path} {
		fi, err := os.Lstat(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err == nil && !fi.IsDir() {
			err = fmt.Errorf("%s is not a directory of its own, and no link is followed here", dir)
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}
