// This file finds the team files in a working tree.

// Package team stores decisions as Markdown files in a git repository, one file for each entry.
// People share these files on purpose and review them like code.
//
//	.oxbow/team/team.yaml     version, and the branch that is reviewed
//	.oxbow/team/NAME-ULID.md  an entry: front matter with its name and labels, and its content
//	.gitattributes            assigns the merge driver to these files
//
// The files in a clone come from other people and are not trusted. Links are not followed, files
// that are not entries are ignored, sizes are limited, and git is run by package
// internal/code/git. An entry is reviewed if its file is identical to the file on the reviewed
// branch, in the state that was last fetched from the remote. All other entries are local.
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

// Dir is the path of the directory with team files, relative to the directory of the project that shares them.
const Dir = ".oxbow/team"

// Tree represents the directory of team files in a working tree. It is safe for concurrent use.
type Tree struct {
	repo           *git.Repo
	path           string // path of the directory, as the operating system writes it
	pathInWorkTree string // path of the directory relative to the working tree, with slashes

	mu                      sync.Mutex // guards reviewedFilesByUpstream
	reviewedFilesByUpstream map[Upstream]map[string]string
}

// FindTree returns the team files that are nearest to a directory. The search covers the directory and its parents, up
// to the root of the git working tree. A symbolic link with the name of a team directory is ignored. FindTree returns
// nil if the search finds no team files, or if they are not in a git repository.
func FindTree(dir string) (*Tree, error) {
	current, err := realDir(dir)
	if err != nil {
		return nil, err
	}
	for ; ; current = filepath.Dir(current) {
		if hasTeamFiles(current) {
			return openTreeAt(current)
		}
		if _, err := os.Lstat(filepath.Join(current, ".git")); err == nil || filepath.Dir(current) == current {
			return nil, nil
		}
	}
}

// FindFilesDir returns the path of the directory with team files. It searches dir and then each parent of dir for such
// a subdirectory, and returns the first that it finds, whether or not git is used. It returns "" if no such directory
// exists.
func FindFilesDir(dir string) string {
	current, err := realDir(dir)
	for ; err == nil; current = filepath.Dir(current) {
		if hasTeamFiles(current) {
			return filepath.Join(current, filepath.FromSlash(Dir))
		}
		if filepath.Dir(current) == current {
			break
		}
	}
	return ""
}

// FindOrNewTree is like [FindTree], but also works in a working tree without team files. It then returns a Tree that
// can create team files at the root of the working tree. If the directory is not in a working tree, the error matches
// [git.ErrNoRepository].
func FindOrNewTree(dir string) (*Tree, error) {
	t, err := FindTree(dir)
	if err != nil || t != nil {
		return t, err
	}
	current, err := realDir(dir)
	if err != nil {
		return nil, err
	}
	repo, err := git.FindRepo(current, nil)
	if err != nil {
		return nil, err
	}
	return newTree(repo, repo.Root())
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

// hasTeamFiles reports whether a directory contains the subdirectory with team files.
func hasTeamFiles(root string) bool {
	for _, dir := range []string{".oxbow", filepath.FromSlash(Dir)} {
		if fi, err := os.Lstat(filepath.Join(root, dir)); err != nil || !fi.IsDir() {
			return false
		}
	}
	return true
}

func openTreeAt(start string) (*Tree, error) {
	repo, err := git.FindRepo(start, nil)
	if errors.Is(err, git.ErrNoRepository) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("finding team files: %w", err)
	}
	return newTree(repo, start)
}

func newTree(repo *git.Repo, start string) (*Tree, error) {
	dir := filepath.Join(start, filepath.FromSlash(Dir))
	rel, err := filepath.Rel(repo.Root(), dir)
	if err != nil {
		return nil, fmt.Errorf("finding team files: %w", err)
	}
	return &Tree{
		repo:                    repo,
		path:                    dir,
		pathInWorkTree:          filepath.ToSlash(rel),
		reviewedFilesByUpstream: map[Upstream]map[string]string{},
	}, nil
}

// Path returns the path of the directory with the team files.
func (t *Tree) Path() string { return t.path }

// Root returns the path of the working tree's root.
func (t *Tree) Root() string { return t.repo.Root() }

// RelPath returns the slash-separated path of a team file, relative to the working tree's root.
func (t *Tree) RelPath(file string) string { return path.Join(t.pathInWorkTree, file) }

// directoryExists reports whether the directory with team files exists. It returns an error if the directory must not
// be used, for example because the directory is a link.
func (t *Tree) directoryExists() (bool, error) {
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
