// Opening the store of a directory of the operating system.

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

// OpenDir opens the store of the working tree that holds the directory: that of
// its git repository, or without one the nearest directory above it that has
// annotations and is the user's own, or else the directory itself.
// Options.History is set to the repository's, unless it is given. Files are
// opened below the root of the tree only. The caller closes the store.
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
	repo, err := git.Find(root, nil)
	switch {
	case err == nil:
		root = repo.Root()
		if opts.History == nil {
			opts.History = repo
		}
	case !errors.Is(err, git.ErrNone) && !errors.Is(err, git.ErrOwner):
		return nil, fmt.Errorf("opening annotations: %w", err)
	case errors.Is(err, git.ErrBare):
		bare = err
	default:
		root = annotated(root, opts.Dir)
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
	b.bare = bare
	b.closeDir = work.Close
	return b, nil
}

// annotated returns the nearest of the directory and those above it that holds
// annotations, and the directory itself when none does. What belongs to another
// user does not count, as with repositories.
func annotated(dir, sub string) string {
	if sub == "" {
		sub = DefaultDir
	}
	for d := dir; ; d = filepath.Dir(d) {
		at := filepath.Join(d, filepath.FromSlash(sub))
		if fi, err := os.Stat(at); err == nil && fi.IsDir() && git.Ours(d) && git.Ours(at) {
			return d
		}
		if d == filepath.Dir(d) {
			return dir
		}
	}
}

// Root returns the path of the tree's root, or "" when [OpenDir] did not open
// the store.
func (b *Store) Root() string { return b.root }

// File returns the path below the root of the tree, as records have it, of a
// path of the operating system that is absolute or relative to dir.
func (b *Store) File(dir, name string) (string, error) {
	given := strings.ToValidUTF8(name, "\ufffd")
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	// The tree may have been reached through a link.
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
	if rel == ".." || strings.HasPrefix(rel, "../") || filepath.IsAbs(rel) {
		return "", &oxbow.InvalidError{Field: "file", Value: given, Reason: "is not inside the working tree " + b.root}
	}
	return rel, CheckFile(rel)
}
