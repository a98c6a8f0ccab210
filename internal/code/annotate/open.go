// This file opens the annotations in a directory of the operating system's file system.

package annotate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/code/git"
	"github.com/oxbow-memory/oxbow/vfs"
)

// OpenDir opens the store of the working tree that contains the directory. If the directory is in a git repository,
// the tree is the repository's tree. Otherwise it is the nearest parent directory that has annotations and belongs to
// the user, or else the directory itself. Unless the caller has set Options.History, OpenDir sets it to the
// repository. The store only opens files below the root of the tree. The caller must close the store.
func OpenDir(_ context.Context, dir string, o *Options) (*Store, error) {
	var opts Options
	if o != nil {
		opts = *o
	}
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("opening annotations: %w", err)
	}
	var bare error
	repo, err := git.FindRepo(root, nil)
	switch {
	case err == nil:
		root = repo.Root()
		if opts.History == nil {
			opts.History = repo
		}
	case !errors.Is(err, git.ErrNoRepository) && !errors.Is(err, git.ErrOtherOwner):
		return nil, fmt.Errorf("opening annotations: %w", err)
	case errors.Is(err, git.ErrBareRepository):
		bare = err
	default:
		root = findAnnotatedDir(root, opts.Dir)
	}
	work, err := vfs.Dir(root)
	if err != nil {
		return nil, fmt.Errorf("opening annotations: %w", err)
	}
	b, err := Open(work, &opts)
	if err != nil {
		return nil, errors.Join(err, work.Close())
	}
	b.root = root
	b.repo = repo
	b.noWorkingTreeError = bare
	b.closeDir = work.Close
	return b, nil
}

// findAnnotatedDir returns the nearest directory at or above dir that contains annotations. The annotations must be in
// its subdirectory sub, which is DefaultDir if sub is "". Directories of other users are ignored, as git ignores their
// repositories. If no directory contains annotations, the result is dir.
func findAnnotatedDir(dir, sub string) string {
	if sub == "" {
		sub = DefaultDir
	}
	for d := dir; ; d = filepath.Dir(d) {
		at := filepath.Join(d, filepath.FromSlash(sub))
		if isDirectory(at) && isInsideOxbowDir(d, at) {
			return d
		}
		if d == filepath.Dir(d) {
			return dir
		}
	}
}

func isInsideOxbowDir(parent, dir string) bool {
	return git.IsOwnedByUser(parent) && git.IsOwnedByUser(dir)
}

func isDirectory(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.IsDir()
}

// Root returns the path of the tree's root, or "" if the store was not opened with [OpenDir].
func (b *Store) Root() string { return b.root }

// ToTreePath converts a path of the operating system to a path relative to the tree's root. The path may be absolute,
// or relative to dir.
func (b *Store) ToTreePath(dir, name string) (string, error) {
	given := strings.ToValidUTF8(name, "\ufffd")
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	// Resolve symbolic links in the directory and in the root, so that the paths can be compared.
	at, err := filepath.EvalSymlinks(filepath.Dir(name))
	if err == nil {
		name = filepath.Join(at, filepath.Base(name))
	}
	root := b.root
	if r, err := filepath.EvalSymlinks(root); err == nil {
		root = r
	}
	rel, err := filepath.Rel(root, name)
	if err != nil {
		rel = name
	}
	rel = filepath.ToSlash(rel)
	isAbove := rel == ".." || strings.HasPrefix(rel, "../")
	if isAbove || filepath.IsAbs(rel) {
		return "", &oxbow.InvalidError{Field: "file", Value: given, Reason: "is not inside the working tree " + b.root}
	}
	return rel, CheckFile(rel)
}
